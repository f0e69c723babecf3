// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_ISLANDS_NAIVE_HPP
#define KASTOR_TESTS_ISLANDS_NAIVE_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/island.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/pixel_map.hpp>
#include <limits>
#include <vector>

#include "naive.hpp"

/// The reference of islands: every pixel by itself, flood fill, long double.
namespace testing_support {

// ---------------------------------------------------------------------------------------- maps

/// What a `kastor::MeshSurface` is at a pixel, written out.
struct HostMesh {
  std::int64_t cell_height = 1;
  std::int64_t cell_width = 1;
  bool positive = false;
  HostGrid<kastor::MeshNode> nodes;

  [[nodiscard]] double operator()(std::int64_t y, std::int64_t x) const {
    std::int64_t j = 0, i = 0;
    const double t = place(y, cell_height, nodes.ny, j);
    const double u = place(x, cell_width, nodes.nx, i);
    const kastor::MeshNode& a = nodes(j, i);
    const kastor::MeshNode& b = nodes(j, std::min(i + 1, nodes.nx - 1));
    const kastor::MeshNode& c = nodes(std::min(j + 1, nodes.ny - 1), i);
    const kastor::MeshNode& d = nodes(std::min(j + 1, nodes.ny - 1), std::min(i + 1, nodes.nx - 1));
    const double smooth = spline(
        u, spline(t, a.value, c.value, a.d2y, c.d2y), spline(t, b.value, d.value, b.d2y, d.d2y),
        spline(t, a.d2x, c.d2x, a.d2x2y, c.d2x2y), spline(t, b.d2x, d.d2x, b.d2x2y, d.d2x2y));
    if (!positive) return smooth;
    const double v = std::clamp(t, 0.0, 1.0);
    const double w = std::clamp(u, 0.0, 1.0);
    const double bilinear =
        (1 - w) * ((1 - v) * a.value + v * c.value) + w * ((1 - v) * b.value + v * d.value);
    return std::max(smooth, 0.5 * bilinear);
  }

 private:
  static double place(std::int64_t pixel, std::int64_t cell, std::int64_t count,
                      std::int64_t& first) {
    if (count < 2) return 0;
    const double at = (static_cast<double>(pixel) + 0.5) / static_cast<double>(cell) - 0.5;
    first = std::clamp(static_cast<std::int64_t>(std::floor(at)), std::int64_t{0}, count - 2);
    return at - static_cast<double>(first);
  }
  static double spline(double t, double a, double b, double d2a, double d2b) {
    const double s = 1 - t;
    return s * a + t * b + ((s * s * s - s) * d2a + (t * t * t - t) * d2b) * (1.0 / 6);
  }
};

/// A `kastor::PixelMap` on the host: an image, a mesh or a constant, whichever there is.
template <class T>
struct HostMap {
  double constant = 0;
  HostImage<T> image;
  HostMesh mesh;

  [[nodiscard]] double operator()(std::int64_t y, std::int64_t x) const {
    if (mesh.nodes.ny > 0) return mesh(y, x);
    return image.ny > 0 ? static_cast<double>(image(y, x)) : constant;
  }
};

template <class T>
struct HostBackground {
  HostMap<T> level;
  HostMap<T> rms;
};

// ----------------------------------------------------------------------------------- detection

struct NaiveIsland {
  kastor::Island island{};
  double absolute_flux = 0;        ///< sum of |deviation|
  double absolute_raw = 0;         ///< sum of |value|
  double absolute_background = 0;  ///< largest |level|
};

struct NaiveSide {
  HostMask foreground;
  HostLabels labels;  ///< dropped islands are 0
  kastor::IslandCounts counts;
  std::vector<NaiveIsland> islands;
};

/// The image that decides, if it is not the measured one.
template <class T>
struct HostDetection {
  const HostImage<T>& image;
  const HostBackground<T>& background;
};

/// Everything `kastor::IslandFinder` says about an image; `region` may be empty.
template <class T>
class NaiveIslands {
 public:
  NaiveSide positive;
  NaiveSide negative;
  HostMask usable;

  NaiveIslands(const HostImage<T>& image, const HostBackground<T>& background,
               const kastor::IslandParams& params, const HostMask& region = {})
      : NaiveIslands({image, background}, image, background, params, region) {}

  NaiveIslands(const HostDetection<T>& detection, const HostImage<T>& image,
               const HostBackground<T>& background, const kastor::IslandParams& params,
               const HostMask& region = {})
      : usable(image.ny, image.nx),
        m_detection(detection),
        m_image(image),
        m_background(background),
        m_params(params) {
    const auto is_usable = [](const HostImage<T>& pixels, const HostBackground<T>& its,
                              std::int64_t y, std::int64_t x) {
      const double rms = its.rms(y, x);
      return std::isfinite(pixels(y, x)) && std::isfinite(its.level(y, x)) && std::isfinite(rms) &&
             rms > 0;
    };
    for (std::int64_t y = 0; y < image.ny; ++y) {
      for (std::int64_t x = 0; x < image.nx; ++x) {
        usable(y, x) = is_usable(image, background, y, x) &&
                       is_usable(detection.image, detection.background, y, x) &&
                       (region.ny == 0 || region(y, x) != 0);
      }
    }
    search(positive, +1);
    if (params.negative) search(negative, -1);
  }

 private:
  [[nodiscard]] double deviation(std::int64_t y, std::int64_t x, int sign) const {
    return deviation_in(m_image, m_background, y, x, sign);
  }
  [[nodiscard]] double found_deviation(std::int64_t y, std::int64_t x, int sign) const {
    return deviation_in(m_detection.image, m_detection.background, y, x, sign);
  }
  [[nodiscard]] static double deviation_in(const HostImage<T>& image,
                                           const HostBackground<T>& background, std::int64_t y,
                                           std::int64_t x, int sign) {
    const auto value = static_cast<double>(image(y, x));
    const double level = background.level(y, x);
    return sign > 0 ? value - level : level - value;
  }

  void search(NaiveSide& side, int sign) const {
    const std::int64_t ny = m_image.ny;
    const std::int64_t nx = m_image.nx;
    side.foreground = HostMask(ny, nx);
    HostMask seeds(ny, nx);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        if (usable(y, x) == 0) continue;
        const double rms = m_detection.background.rms(y, x);
        side.foreground(y, x) = found_deviation(y, x, sign) > m_params.flood * rms;
        seeds(y, x) = found_deviation(y, x, sign) > m_params.seed * rms;
      }
    }
    side.counts.foreground_pixels = count_naive(side.foreground);
    const HostLabels all = label_naive(side.foreground, m_params.connectivity);
    side.labels = keep_naive(all, seeds, m_params.min_pixels, m_params.drop_at_edge);
    side.counts.islands = side.labels.components;
    side.counts.dropped = all.components - side.labels.components;
    measure(side, sign);
  }

  struct Pixel {
    std::int64_t y, x;
  };

  void measure(NaiveSide& side, int sign) const {
    std::vector<std::vector<Pixel>> pixels(static_cast<std::size_t>(side.labels.components));
    for (std::int64_t y = 0; y < m_image.ny; ++y) {
      for (std::int64_t x = 0; x < m_image.nx; ++x) {
        const std::int64_t label = side.labels.image(y, x);
        if (label > 0) pixels[static_cast<std::size_t>(label - 1)].push_back({y, x});
      }
    }
    for (const auto& list : pixels) side.islands.push_back(measured(list, sign));
  }

  [[nodiscard]] NaiveIsland measured(const std::vector<Pixel>& pixels, int sign) const {
    NaiveIsland result;
    kastor::Island& island = result.island;
    long double flux = 0, raw = 0, level = 0, squared_rms = 0, flux_x = 0, flux_y = 0;
    double peak = -std::numeric_limits<double>::infinity();
    island.x_min = island.y_min = std::numeric_limits<std::int32_t>::max();
    island.x_max = island.y_max = -1;
    island.flags = sign < 0 ? kastor::island_negative : 0U;
    for (const auto& [y, x] : pixels) {
      const auto value = static_cast<double>(m_image(y, x));
      const auto at_x = static_cast<std::int32_t>(x);
      const auto at_y = static_cast<std::int32_t>(y);
      const double d = deviation(y, x, sign);
      const double rms = m_background.rms(y, x);
      if (d > peak) {
        peak = d;
        island.x_peak = at_x;
        island.y_peak = at_y;
      }
      ++island.n_pix;
      island.x_min = std::min(island.x_min, at_x);
      island.x_max = std::max(island.x_max, at_x);
      island.y_min = std::min(island.y_min, at_y);
      island.y_max = std::max(island.y_max, at_y);
      island.snr_peak =
          std::max(island.snr_peak, found_deviation(y, x, sign) / m_detection.background.rms(y, x));
      island.flags |= flags_of(y, x);
      flux += d;
      raw += value;
      level += m_background.level(y, x);
      squared_rms += static_cast<long double>(rms) * rms;
      // From the first pixel, so that a line along an axis has a variance of exactly 0.
      flux_x += static_cast<long double>(d) * static_cast<long double>(x - pixels[0].x);
      flux_y += static_cast<long double>(d) * static_cast<long double>(y - pixels[0].y);
      result.absolute_flux += std::fabs(d);
      result.absolute_raw += std::fabs(value);
      result.absolute_background =
          std::max(result.absolute_background, std::fabs(m_background.level(y, x)));
    }
    const auto n = static_cast<long double>(island.n_pix);
    const long double x_cen = flux_x / flux + static_cast<long double>(pixels[0].x);
    const long double y_cen = flux_y / flux + static_cast<long double>(pixels[0].y);
    long double xx = 0, xy = 0, yy = 0;
    for (const auto& [y, x] : pixels) {
      const long double d = deviation(y, x, sign);
      const long double dx = static_cast<long double>(x) - x_cen;
      const long double dy = static_cast<long double>(y) - y_cen;
      xx += d * dx * dx;
      xy += d * dx * dy;
      yy += d * dy * dy;
    }
    xx /= flux;
    xy /= flux;
    yy /= flux;
    xx = std::max(xx, 0.0L);
    yy = std::max(yy, 0.0L);
    if (!(xx * yy - xy * xy > 1e-12L * xx * yy)) island.flags |= kastor::island_no_shape;
    island.flux_peak = sign * peak;
    island.flux_sum = static_cast<double>(sign * flux);
    island.raw_sum = static_cast<double>(raw);
    island.x_cen = static_cast<double>(x_cen);
    island.y_cen = static_cast<double>(y_cen);
    island.var_xx = static_cast<double>(xx);
    island.var_xy = static_cast<double>(xy);
    island.var_yy = static_cast<double>(yy);
    if (!(flux > 0 && x_cen >= island.x_min && x_cen <= island.x_max && y_cen >= island.y_min &&
          y_cen <= island.y_max)) {
      island.flags |= kastor::island_no_centre | kastor::island_no_shape;
      island.x_cen = island.y_cen = island.var_xx = island.var_xy = island.var_yy =
          std::numeric_limits<double>::quiet_NaN();
    }
    island.background = static_cast<double>(level / n);
    island.rms = static_cast<double>(std::sqrt(squared_rms / n));
    island.rms_at_peak = m_background.rms(island.y_peak, island.x_peak);
    island.background_at_peak = m_background.level(island.y_peak, island.x_peak);
    return result;
  }

  [[nodiscard]] std::uint32_t flags_of(std::int64_t y, std::int64_t x) const {
    std::uint32_t flags = 0;
    for (std::int64_t j = y - 1; j <= y + 1; ++j) {
      for (std::int64_t i = x - 1; i <= x + 1; ++i) {
        if (j < 0 || i < 0 || j >= m_image.ny || i >= m_image.nx) {
          flags |= kastor::island_at_edge;
        } else if (usable(j, i) == 0) {
          flags |= kastor::island_near_blank;
        }
      }
    }
    return flags;
  }

  HostDetection<T> m_detection;
  const HostImage<T>& m_image;
  const HostBackground<T>& m_background;
  kastor::IslandParams m_params;
};

}  // namespace testing_support

#endif
