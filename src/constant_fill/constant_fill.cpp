// SPDX-License-Identifier: Apache-2.0
#include <kastor/constant_fill.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <string>

#include "constant_fill/count_pixels.hpp"
#include "constant_fill/judge_samples.hpp"
#include "constant_fill/samples.hpp"
#include "core/host_list.hpp"
#include "core/launch.hpp"

namespace kastor {
namespace {

/// The samples of an image; none if hardly any of them repeats.
template <class Exec, class T>
std::vector<T> repeating_samples(const Exec& space, const detail::Rows<T>& rows,
                                 const detail::SampleGrid& grid) {
  core::HostList<Exec, T> list(space, "kastor::constant_fill::samples", grid.count());
  core::for_each("kastor::constant_fill::gather_samples", space, grid.count(),
                 detail::GatherSamples<T>{rows, grid, list.data()});
  const auto repeats = core::reduce("kastor::constant_fill::count_repeats", space, grid.count(),
                                    detail::CountRepeats<T>{grid, list.data()});
  if (repeats < detail::fewest_repeats) return {};
  return list.take(space);
}

template <class Exec>
void expect_shape(const BitMask<Exec>& mask, std::int64_t ny, std::int64_t nx) {
  KASTOR_EXPECTS("kastor::exclude_fill", mask.ny == ny && mask.nx == nx,
                 "the mask is " + std::to_string(mask.ny) + " x " + std::to_string(mask.nx) +
                     " pixels; expected " + std::to_string(ny) + " x " + std::to_string(nx) +
                     ", as the image");
}

}  // namespace

template <class Exec, Real T>
std::vector<FillValue> find_constant_fill_in(const Exec& space, const ConstImage<T, Exec>& image,
                                             const ConstantFillParams& params) {
  KASTOR_EXPECTS("kastor::find_constant_fill", params.seed >= 0,
                 "seed is " + std::to_string(params.seed) + "; expected 0 or more");
  const auto rows = detail::rows_of<T, Exec>(image);
  if (rows.ny == 0 || rows.nx == 0) return {};
  const detail::SampleGrid grid(rows.ny, rows.nx);
  const auto samples = repeating_samples(space, rows, grid);
  if (samples.empty()) return {};
  std::vector<FillValue> fill;
  const core::WordRows<T> words(rows);
  for (const auto& candidate : detail::judge_samples(samples, grid, params.seed)) {
    const detail::CountFillPixels<Exec, T> kernel{words, core::value_of<T>(candidate.numbers.low),
                                                  core::value_of<T>(candidate.numbers.high),
                                                  candidate.below, candidate.above};
    const auto count =
        core::reduce("kastor::constant_fill::count_pixels", space, words.words(), kernel);
    const bool is_piece =
        detail::in_one_piece(count.mixed, count.pairs, count.inside.count, count.finite, 16);
    const bool is_step = 8 * count.steps > 7 * count.mixed;
    if (!is_piece || is_step) continue;
    fill.push_back({static_cast<double>(core::without_sign_of_zero(count.inside.min)),
                    static_cast<double>(core::without_sign_of_zero(count.inside.max)),
                    count.inside.count});
  }
  return fill;
}

template <class Exec, Real T>
void exclude_fill_in(const Exec& space, const ConstImage<T, Exec>& image,
                     const std::vector<FillValue>& fill, const BitMask<Exec>& usable,
                     const BitMask<Exec>& excluded) {
  const core::WordRows<T> rows(detail::rows_of<T, Exec>(image));
  expect_shape(usable, rows.ny, rows.nx);
  expect_shape(excluded, rows.ny, rows.nx);
  if (rows.words() == 0) return;
  for (const auto& value : fill) {
    core::for_each(
        "kastor::constant_fill::exclude_pixels", space, rows.words(),
        detail::ExcludePixels<Exec, T>{rows, static_cast<T>(value.low), static_cast<T>(value.high),
                                       usable.words.data(), excluded.words.data()});
  }
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                           \
  template std::vector<kastor::FillValue> kastor::find_constant_fill_in<EXEC, T>(             \
      const EXEC&, const kastor::ConstImage<T, EXEC>&, const kastor::ConstantFillParams&);    \
  template void kastor::exclude_fill_in<EXEC, T>(                                             \
      const EXEC&, const kastor::ConstImage<T, EXEC>&, const std::vector<kastor::FillValue>&, \
      const kastor::BitMask<EXEC>&, const kastor::BitMask<EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
