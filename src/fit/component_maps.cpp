// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/component_maps.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "core/elementary.hpp"
#include "core/group.hpp"
#include "core/upload.hpp"
#include "core/writable_rows.hpp"

namespace kastor::detail {

inline constexpr int model_tile_side = 64;
/// Where e^(-square / 2) is below 2^-30.
inline constexpr double most_model_square = 60 * std::numbers::ln2;

/// A group of threads fills a tile.
template <class Exec, Real T>
struct FillModel {
  static constexpr int threads = 128;
  core::WritableRows<T> image;
  std::int64_t across;
  const std::int64_t* begin;
  const std::int32_t* which;
  const Gaussian* gaussians;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const std::int64_t tile = group.index();
    const std::int64_t y_first = tile / across * model_tile_side;
    const std::int64_t x_first = tile % across * model_tile_side;
    const auto height = static_cast<int>(smaller(model_tile_side, image.ny - y_first));
    const auto width = static_cast<int>(smaller(model_tile_side, image.nx - x_first));
    group.for_each_2d(height, width, [&](int dy, int dx) {
      const std::int64_t y = y_first + dy;
      const std::int64_t x = x_first + dx;
      image.data[y * image.pitch + x] =
          static_cast<T>(sum_at(tile, static_cast<double>(y), static_cast<double>(x)));
    });
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t smaller(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
  }
  [[nodiscard]] KOKKOS_FUNCTION double sum_at(std::int64_t tile, double y, double x) const {
    double sum = 0;
    for (std::int64_t i = begin[tile]; i < begin[tile + 1]; ++i) {
      const Gaussian& g = gaussians[which[i]];
      const double s = g.s(x, y);
      const double z = g.z(y);
      const double square = s * s + z * z;
      if (square < most_model_square) sum += g.peak * core::exp(-0.5 * square);
    }
    return sum;
  }
};

}  // namespace kastor::detail

namespace kastor {
namespace {

constexpr int tile_side = detail::model_tile_side;

/// The tiles that something reaches along one axis.
struct TileSpan {
  std::int64_t first, past;
};
[[nodiscard]] TileSpan tiles_of(double centre, double reach, std::int64_t pixels) {
  const double least = std::floor(centre - reach);
  const double most = std::ceil(centre + reach);
  if (!(most >= 0 && least < static_cast<double>(pixels))) return {0, 0};
  const auto first = static_cast<std::int64_t>(std::fmax(least, 0));
  const auto last = static_cast<std::int64_t>(std::fmin(most, static_cast<double>(pixels - 1)));
  return {first / tile_side, last / tile_side + 1};
}

/// For each tile of an image, row after row, the Gaussians that reach it, in the order of the list.
struct ReachedTiles {
  std::int64_t across = 0, down = 0;
  std::vector<std::int64_t> begin;  ///< (tiles + 1)
  std::vector<std::int32_t> which;

  ReachedTiles(std::span<const Gaussian> gaussians, std::int64_t ny, std::int64_t nx)
      : across((nx + tile_side - 1) / tile_side), down((ny + tile_side - 1) / tile_side) {
    begin.assign(static_cast<std::size_t>(across * down + 1), 0);
    for_each(gaussians, ny, nx, [&](std::size_t tile, std::size_t) { ++begin[tile + 1]; });
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    which.resize(static_cast<std::size_t>(begin.back()));
    std::vector<std::int64_t> next = begin;
    for_each(gaussians, ny, nx, [&](std::size_t tile, std::size_t i) {
      which[static_cast<std::size_t>(next[tile]++)] = static_cast<std::int32_t>(i);
    });
  }

 private:
  template <class Visit>
  void for_each(std::span<const Gaussian> gaussians, std::int64_t ny, std::int64_t nx,
                const Visit& visit) const {
    for (std::size_t i = 0; i < gaussians.size(); ++i) {
      const Gaussian& g = gaussians[i];
      const double reach = std::sqrt(detail::most_model_square);
      const TileSpan rows = tiles_of(g.y, reach / g.t, ny);
      const double slope = g.w / g.t;
      const TileSpan columns = tiles_of(g.x, reach / g.u * std::sqrt(1 + slope * slope), nx);
      for (std::int64_t y = rows.first; y < rows.past; ++y)
        for (std::int64_t x = columns.first; x < columns.past; ++x)
          visit(static_cast<std::size_t>(y * across + x), i);
    }
  }
};

void expect_gaussian(const Gaussian& g, std::size_t i) {
  const bool is_finite = std::isfinite(g.peak) && std::isfinite(g.x) && std::isfinite(g.y) &&
                         std::isfinite(g.u) && std::isfinite(g.w) && std::isfinite(g.t);
  KASTOR_EXPECTS("kastor::fill_model", is_finite && g.u > 0 && g.t > 0,
                 "Gaussian " + std::to_string(i) +
                     " has a number that is not finite, or a width that is not above 0");
}

}  // namespace

template <class Exec, Real T>
void fill_model(const Exec& space, std::span<const Gaussian> gaussians,
                const MutableImage<T, Exec>& image) {
  for (std::size_t i = 0; i < gaussians.size(); ++i) expect_gaussian(gaussians[i], i);
  KASTOR_EXPECTS(
      "kastor::fill_model",
      gaussians.size() < static_cast<std::size_t>(std::numeric_limits<int>::max()),
      "there are " + std::to_string(gaussians.size()) + " Gaussians; expected fewer than 2^31 - 1");
  const auto rows = core::writable_rows_of(image);
  if (rows.ny == 0 || rows.nx == 0) return;
  const ReachedTiles tiles(gaussians, rows.ny, rows.nx);
  const std::vector<Gaussian> list(gaussians.begin(), gaussians.end());
  const auto begin = core::upload(space, "kastor::fit::model_tiles", tiles.begin);
  const auto which = core::upload(space, "kastor::fit::model_lists", tiles.which);
  const auto all = core::upload(space, "kastor::fit::model_gaussians", list);
  using Fill = detail::FillModel<Exec, T>;
  core::for_each_group<Fill::threads>(
      "kastor::fit::fill_model", space, {tiles.across * tiles.down, 0},
      Fill{rows, tiles.across, begin.data(), which.data(), all.data()});
  space.fence("kastor::fit::fill_model");
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                         \
  template void kastor::fill_model<EXEC, T>(const EXEC&, std::span<const kastor::Gaussian>, \
                                            const kastor::MutableImage<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
