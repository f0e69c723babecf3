// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_NAIVE_HPP
#define KASTOR_TESTS_NAIVE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/catalogue.hpp>
#include <kastor/label.hpp>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <utility>
#include <vector>

/// The references: slow and obvious, on the host, without a kernel.
namespace testing_support {

template <class Value>
struct HostGrid {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  std::vector<Value> values;

  HostGrid() = default;
  HostGrid(std::int64_t rows, std::int64_t columns, Value value = Value{})
      : ny(rows), nx(columns), values(static_cast<std::size_t>(rows * columns), value) {}

  [[nodiscard]] Value& operator()(std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>(y * nx + x)];
  }
  [[nodiscard]] const Value& operator()(std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>(y * nx + x)];
  }
};

template <class T>
using HostImage = HostGrid<T>;
using HostMask = HostGrid<std::uint8_t>;

// ---------------------------------------------------------------------------------- statistics

template <class T>
[[nodiscard]] std::vector<double> sorted_finite_pixels(const HostImage<T>& image) {
  std::vector<double> pixels;
  pixels.reserve(image.values.size());
  for (const T value : image.values) {
    if (std::isfinite(value)) pixels.push_back(static_cast<double>(value));
  }
  std::sort(pixels.begin(), pixels.end());
  return pixels;
}

/// Sums in long double, about the median: the reference itself must not lose digits to an offset.
[[nodiscard]] inline kastor::Statistics statistics_of_sorted(const std::vector<double>& pixels) {
  const std::size_t count = pixels.size();
  const double lower = pixels[(count - 1) / 2];
  const double upper = pixels[count / 2];
  const double median = lower == upper ? lower : (lower + upper) / 2;

  long double sum = 0;
  for (const double pixel : pixels) sum += static_cast<long double>(pixel) - median;
  const long double mean = median + sum / static_cast<long double>(count);
  long double squares = 0;
  for (const double pixel : pixels) squares += (pixel - mean) * (pixel - mean);

  kastor::Statistics result;
  result.mean = static_cast<double>(mean);
  result.median = median;
  result.std = static_cast<double>(std::sqrt(squares / static_cast<long double>(count)));
  result.min = pixels.front();
  result.max = pixels.back();
  result.count = static_cast<std::int64_t>(count);
  return result;
}

template <class T>
[[nodiscard]] kastor::Statistics statistics_naive(const HostImage<T>& image) {
  return statistics_of_sorted(sorted_finite_pixels(image));
}

/// Iterated kappa-sigma clipping of the sorted finite pixels; `route` is meaningless here.
[[nodiscard]] inline kastor::SigmaClipResult sigma_clip_naive(
    std::vector<double> survivors, std::int64_t pixels, const kastor::SigmaClipParams& params) {
  kastor::SigmaClipResult result;
  result.kappa = params.kappa;
  result.pixels = pixels;
  result.blank = pixels - static_cast<std::int64_t>(survivors.size());
  result.all = statistics_of_sorted(survivors);
  for (;;) {
    result.clipped = statistics_of_sorted(survivors);
    ++result.passes;
    // volatile: no fused multiply-add, whatever the compiler flags of the tests.
    const volatile double half_width = params.kappa * result.clipped.std;
    const double low = result.clipped.median - half_width;
    const double high = result.clipped.median + half_width;
    std::vector<double> next;
    for (const double pixel : survivors) {
      if (pixel > low && pixel < high) next.push_back(pixel);
    }
    result.converged = next.size() == survivors.size();
    result.degenerate = next.empty();
    if (result.converged || result.degenerate || result.passes == params.max_passes) return result;
    survivors = std::move(next);
  }
}

template <class T>
[[nodiscard]] kastor::SigmaClipResult sigma_clip_naive(const HostImage<T>& image,
                                                       const kastor::SigmaClipParams& params = {}) {
  return sigma_clip_naive(sorted_finite_pixels(image), image.ny * image.nx, params);
}

// ----------------------------------------------------------------------------------- threshold

template <class T>
[[nodiscard]] HostMask threshold_naive(const HostImage<T>& image, double level) {
  HostMask mask(image.ny, image.nx);
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    const T value = image.values[i];
    mask.values[i] = std::isfinite(value) && static_cast<double>(value) > level ? 1 : 0;
  }
  return mask;
}

[[nodiscard]] inline std::int64_t count_naive(const HostMask& mask) {
  return std::count(mask.values.begin(), mask.values.end(), std::uint8_t{1});
}

/// Bit x % 64 of word x / 64, row by row.
[[nodiscard]] inline HostGrid<std::uint64_t> pack_naive(const HostMask& mask) {
  HostGrid<std::uint64_t> words(mask.ny, (mask.nx + 63) / 64);
  for (std::int64_t y = 0; y < mask.ny; ++y) {
    for (std::int64_t x = 0; x < mask.nx; ++x) {
      if (mask(y, x) != 0) words(y, x / 64) |= std::uint64_t{1} << (x % 64);
    }
  }
  return words;
}

// -------------------------------------------------------------------------------------- labels

struct HostLabels {
  HostGrid<std::int64_t> image;  ///< 0: background
  std::int64_t components = 0;
};

/// Raster scan; every unlabelled foreground pixel floods its component. Hence labels in raster
/// order of each component's first pixel.
[[nodiscard]] inline HostLabels label_naive(const HostMask& mask,
                                            kastor::Connectivity connectivity) {
  HostLabels result{HostGrid<std::int64_t>(mask.ny, mask.nx), 0};
  std::vector<std::pair<std::int64_t, std::int64_t>> stack;
  for (std::int64_t y0 = 0; y0 < mask.ny; ++y0) {
    for (std::int64_t x0 = 0; x0 < mask.nx; ++x0) {
      if (mask(y0, x0) == 0 || result.image(y0, x0) != 0) continue;
      result.image(y0, x0) = ++result.components;
      stack.emplace_back(y0, x0);
      while (!stack.empty()) {
        const auto [y, x] = stack.back();
        stack.pop_back();
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            if (connectivity == kastor::Connectivity::four && dy != 0 && dx != 0) continue;
            const std::int64_t yn = y + dy;
            const std::int64_t xn = x + dx;
            if (yn < 0 || yn >= mask.ny || xn < 0 || xn >= mask.nx) continue;
            if (mask(yn, xn) == 0 || result.image(yn, xn) != 0) continue;
            result.image(yn, xn) = result.components;
            stack.emplace_back(yn, xn);
          }
        }
      }
    }
  }
  return result;
}

/// Components below `min_pixels` become background, the others are renumbered in their order.
[[nodiscard]] inline HostLabels drop_small_naive(const HostLabels& labels,
                                                 std::int64_t min_pixels) {
  std::vector<std::int64_t> size(static_cast<std::size_t>(labels.components) + 1, 0);
  for (const std::int64_t label : labels.image.values) ++size[static_cast<std::size_t>(label)];
  std::vector<std::int64_t> new_label(size.size(), 0);
  HostLabels result = labels;
  result.components = 0;
  for (std::size_t label = 1; label < size.size(); ++label) {
    if (size[label] >= min_pixels) new_label[label] = ++result.components;
  }
  for (std::int64_t& label : result.image.values) {
    label = new_label[static_cast<std::size_t>(label)];
  }
  return result;
}

/// Sets without a pixel of `seeds`, below min_pixels, or at the edge become background.
[[nodiscard]] inline HostLabels keep_naive(const HostLabels& labels, const HostMask& seeds,
                                           std::int64_t min_pixels, bool drop_at_edge) {
  const auto sets = static_cast<std::size_t>(labels.components) + 1;
  std::vector<std::int64_t> size(sets, 0);
  std::vector<bool> seeded(sets, false), edge(sets, false);
  const HostGrid<std::int64_t>& image = labels.image;
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) {
      const auto label = static_cast<std::size_t>(image(y, x));
      ++size[label];
      if (seeds(y, x) != 0) seeded[label] = true;
      if (y == 0 || x == 0 || y == image.ny - 1 || x == image.nx - 1) edge[label] = true;
    }
  }
  std::vector<std::int64_t> new_label(sets, 0);
  HostLabels result = labels;
  result.components = 0;
  for (std::size_t label = 1; label < sets; ++label) {
    if (seeded[label] && size[label] >= min_pixels && !(drop_at_edge && edge[label]))
      new_label[label] = ++result.components;
  }
  for (std::int64_t& label : result.image.values)
    label = new_label[static_cast<std::size_t>(label)];
  return result;
}

/// The lists of `kastor::RunLabels`, on the host.
struct HostRuns {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  std::int64_t runs = 0;
  std::int64_t components = 0;
  std::int64_t foreground_pixels = 0;
  std::vector<std::int32_t> begin, end, row;
  std::vector<std::uint32_t> label, first_run;
};

/// `labels` belongs to `mask`, small components dropped or not.
[[nodiscard]] inline HostRuns runs_naive(const HostMask& mask, const HostLabels& labels) {
  HostRuns runs;
  runs.ny = mask.ny;
  runs.nx = mask.nx;
  runs.components = labels.components;
  runs.foreground_pixels = count_naive(mask);
  for (std::int64_t y = 0; y < mask.ny; ++y) {
    for (std::int64_t x = 0; x < mask.nx; ++x) {
      if (mask(y, x) == 0 || (x > 0 && mask(y, x - 1) != 0)) continue;
      std::int64_t end = x + 1;
      while (end < mask.nx && mask(y, end) != 0) ++end;
      const auto label = static_cast<std::uint32_t>(labels.image(y, x));
      if (label == runs.first_run.size() + 1) {
        runs.first_run.push_back(static_cast<std::uint32_t>(runs.runs));
      }
      runs.begin.push_back(static_cast<std::int32_t>(x));
      runs.end.push_back(static_cast<std::int32_t>(end));
      runs.row.push_back(static_cast<std::int32_t>(y));
      runs.label.push_back(label);
      ++runs.runs;
    }
  }
  return runs;
}

// -------------------------------------------------------------------------------- measurements

struct NaiveSource {
  kastor::Source source{};
  double absolute_sum = 0;  ///< sum of the magnitudes of its pixels: the scale of rounding errors
};

template <class T>
[[nodiscard]] std::vector<NaiveSource> measure_naive(const HostImage<T>& image,
                                                     const HostLabels& labels) {
  struct Sums {
    long double flux = 0, flux_x = 0, flux_y = 0, absolute = 0;
  };
  std::vector<NaiveSource> result(static_cast<std::size_t>(labels.components));
  std::vector<Sums> sums(result.size());
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) {
      const std::int64_t label = labels.image(y, x);
      if (label == 0) continue;
      const auto index = static_cast<std::size_t>(label - 1);
      kastor::Source& source = result[index].source;
      const auto value = static_cast<double>(image(y, x));
      const auto at_x = static_cast<std::int32_t>(x);
      const auto at_y = static_cast<std::int32_t>(y);
      if (source.n_pix == 0) {
        source = kastor::Source{label, 0, 0, 0, value, at_x, at_y, 0, at_x, at_x, at_y, at_y};
      }
      if (value > source.flux_peak) {
        source.flux_peak = value;
        source.x_peak = at_x;
        source.y_peak = at_y;
      }
      ++source.n_pix;
      source.x_min = std::min(source.x_min, at_x);
      source.x_max = std::max(source.x_max, at_x);
      source.y_max = at_y;
      sums[index].flux += value;
      sums[index].flux_x += static_cast<long double>(value) * static_cast<long double>(x);
      sums[index].flux_y += static_cast<long double>(value) * static_cast<long double>(y);
      sums[index].absolute += std::fabs(value);
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i].source.flux_sum = static_cast<double>(sums[i].flux);
    const bool has_centre = sums[i].flux != 0;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    result[i].source.x_cen = has_centre ? static_cast<double>(sums[i].flux_x / sums[i].flux) : nan;
    result[i].source.y_cen = has_centre ? static_cast<double>(sums[i].flux_y / sums[i].flux) : nan;
    result[i].absolute_sum = static_cast<double>(sums[i].absolute);
  }
  return result;
}

}  // namespace testing_support

#endif
