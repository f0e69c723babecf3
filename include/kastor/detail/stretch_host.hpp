// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_STRETCH_HOST_HPP
#define KASTOR_DETAIL_STRETCH_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// What a host asks of the pixels of a stretch: of runs of one component that follow one another in
/// a row. It goes through the row without a look at where one run ends and the next begins. Knows
/// nothing of Kokkos, see run_host.hpp.
namespace kastor::detail {

template <class T>
struct Stretch {
  const T* pixels;             ///< of the row
  const std::uint64_t* words;  ///< of the row's mask, in which the row has no other component here
  std::int64_t nx;
  const std::int32_t* begin;
  const std::int32_t* end;
  std::int64_t runs;  ///< 1 or more

  static constexpr std::int64_t beyond = 64;  ///< see SumsOfStretch
};

template <class T>
struct SumsOfStretch {
  std::int32_t n_pix, longest_run;
  T lowest, highest;  ///< of zeros of both signs any
  /// Of the pixels, and of each times its x, in any order; no sum on the way is larger than that of
  /// the pixels times `Stretch::beyond` and the last x. Float only.
  double flux, x_moment;
};

/// Of finite pixels.
template <class T>
[[nodiscard]] SumsOfStretch<T> sum_stretch_on_host(HostLevel level, const Stretch<T>& stretch);

}  // namespace kastor::detail

#endif
