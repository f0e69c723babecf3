// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <kastor/noise_correlation.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "background/noise_area.hpp"
#include "background/noise_samples.hpp"
#include "core/launch.hpp"

namespace kastor {
namespace {

constexpr const char* k_function = "kastor::measure_noise_correlation";
// About so many samples [pixel].
constexpr double k_samples = 10240;
// Fewer pairs say too little.
constexpr std::int64_t k_fewest_pairs = 300;

void expect_same_shape(const char* what, std::int64_t ny, std::int64_t nx, std::int64_t image_ny,
                       std::int64_t image_nx) {
  KASTOR_EXPECTS(k_function, ny == image_ny && nx == image_nx,
                 std::string(what) + " has " + std::to_string(ny) + " x " + std::to_string(nx) +
                     " pixels; expected " + std::to_string(image_ny) + " x " +
                     std::to_string(image_nx) + ", as the image");
}

template <class Exec, class T>
void expect_map_shape(const char* what, const PixelMap<Exec, T>& map, std::int64_t ny,
                      std::int64_t nx) {
  if (map.kind() != PixelMap<Exec, T>::Kind::image) return;
  expect_same_shape(what, static_cast<std::int64_t>(map.image().extent(0)),
                    static_cast<std::int64_t>(map.image().extent(1)), ny, nx);
}

detail::NoiseGrid noise_grid(std::int64_t ny, std::int64_t nx) {
  const double pixels = static_cast<double>(ny) * static_cast<double>(nx);
  detail::NoiseGrid grid;
  grid.step = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(pixels / k_samples)));
  grid.first_y = std::min(grid.step / 2, (ny - 1) / 2);
  grid.first_x = std::min(grid.step / 2, (nx - 1) / 2);
  grid.ny = (ny - 1 - grid.first_y) / grid.step + 1;
  grid.nx = (nx - 1 - grid.first_x) / grid.step + 1;
  return grid;
}

/// Measures correlations on the samples of one image.
template <class Exec, class T>
class NoisePairs {
 public:
  NoisePairs(const Exec& space, const ConstImage<T, Exec>& image,
             const Background<Exec, T>& background, const BitMask<Exec>& usable)
      : m_space(space),
        m_rows(detail::rows_of<T, Exec>(image)),
        m_usable{usable.words.data(), usable.words_per_row()},
        m_grid(noise_grid(m_rows.ny, m_rows.nx)),
        m_samples(Kokkos::view_alloc(space, Kokkos::WithoutInitializing,
                                     "kastor::background::noise_samples"),
                  static_cast<std::size_t>(m_grid.count())) {
    core::for_each(
        "kastor::background::gather_noise", space, m_grid.count(),
        detail::GatherNoise<Exec, T>{m_rows, background, m_usable, m_grid, m_samples.data()});
  }

  /// Adds the correlations at more lags, four at a time. Fences.
  void measure(const std::vector<detail::NoiseLag>& lags) {
    constexpr std::size_t batch = detail::NoiseSums::lags;
    for (std::size_t first = 0; first < lags.size(); first += batch) {
      detail::SumNoisePairs<Exec, T> kernel{m_rows, m_usable, m_grid, m_samples.data(), {}};
      for (std::size_t k = 0; k < batch; ++k) kernel.lag[k] = lags[first + k];
      const auto sums =
          core::reduce("kastor::background::sum_noise_pairs", m_space, m_grid.count(), kernel);
      for (std::size_t k = 0; k < batch; ++k)
        m_found.push_back(detail::correlation_of(kernel.lag[k], sums.of[k]));
    }
  }
  [[nodiscard]] const std::vector<detail::LagCorrelation>& found() const { return m_found; }

 private:
  Exec m_space;
  detail::Rows<T> m_rows;
  detail::NoiseMask<Exec> m_usable;
  detail::NoiseGrid m_grid;
  Kokkos::View<detail::NoiseSample*, typename Exec::memory_space> m_samples;
  std::vector<detail::LagCorrelation> m_found;
};

}  // namespace

template <class Exec, Real T>
NoiseCorrelation measure_noise_correlation_in(const Exec& space, const ConstImage<T, Exec>& image,
                                              const Background<Exec, T>& background,
                                              const BitMask<Exec>& usable) {
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  const auto nx = static_cast<std::int64_t>(image.extent(1));
  KASTOR_EXPECTS(k_function, ny > 0 && nx > 0, "the image has no pixels; expected some");
  expect_map_shape("the level", background.level, ny, nx);
  expect_map_shape("the rms", background.rms, ny, nx);
  if (usable.words.size() != 0) expect_same_shape("usable", usable.ny, usable.nx, ny, nx);

  NoisePairs<Exec, T> pairs(space, image, background, usable);
  pairs.measure(detail::short_lags());
  NoiseCorrelation result;
  result.pairs = std::numeric_limits<std::int64_t>::max();
  for (const auto& each : pairs.found()) {
    result.pairs = std::min(result.pairs, each.pairs);
    if (each.lag.dy + each.lag.dx == 1 && each.lag.dy * each.lag.dx == 0)
      result.at_one += 0.5 * each.rho;
  }
  if (result.pairs < k_fewest_pairs || !std::isfinite(result.at_one)) {
    result.area = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  bool is_short = true;
  std::int32_t reach = 2;
  for (const auto& [near, far] : {std::pair(3, 4), {6, 8}, {12, 16}, {24, 32}, {48, 64}}) {
    if (!detail::reaches(pairs.found(), reach)) break;
    is_short = false;
    pairs.measure(detail::long_lags(near, far));
    reach = far;
  }
  result.area = is_short ? detail::area_by_sum(pairs.found()) : detail::area_by_fit(pairs.found());
  return result;
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                        \
  template kastor::NoiseCorrelation kastor::measure_noise_correlation_in<EXEC, T>(         \
      const EXEC&, const kastor::ConstImage<T, EXEC>&, const kastor::Background<EXEC, T>&, \
      const kastor::BitMask<EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE
