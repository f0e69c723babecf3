// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_BRACKET_SAMPLE_HPP
#define KASTOR_SIGMA_CLIP_BRACKET_SAMPLE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/group.hpp"
#include "sigma_clip/brackets.hpp"

namespace kastor::detail {

/// Turns the histogram of the sample into brackets. One group; each thread handles a block of
/// neighbouring bins. The counts are copied to scratch memory, since they are searched repeatedly.
template <class Exec, class T>
struct BracketSample {
  static constexpr int threads = 512;
  static constexpr int scratch_bytes = (SampleBins::count + 1) * sizeof(std::uint32_t);

  ClipRequest request;
  const RoughScale<T>* rough;
  const std::uint32_t* histogram;  ///< (SampleBins::count)
  std::int64_t *sum, *squares;  ///< (SampleBins::count + 1) prefix sums: over all bins before a bin
  Brackets<T>* brackets;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const count = group.template scratch<std::uint32_t>(SampleBins::count + 1);
    group.copy_list(histogram, count, SampleBins::count);
    if (group.rank() == 0) count[SampleBins::count] = 0;
    group.barrier();
    const int share = (SampleBins::count + group.size()) / group.size();
    const int first = group.rank() * share;
    const int past = first + share < SampleBins::count + 1 ? first + share : SampleBins::count + 1;
    SampleSums before;
    for (int b = first; b < past; ++b) before.add(count[b], b);
    before = {group.exclusive_scan(before.count), group.exclusive_scan(before.sum),
              group.exclusive_scan(before.squares)};
    for (int b = first; b < past; ++b) {
      const std::uint32_t here = count[b];
      count[b] = static_cast<std::uint32_t>(before.count);
      sum[b] = before.sum;
      squares[b] = before.squares;
      before.add(here, b);
    }
    group.barrier();
    if (group.rank() == 0) *brackets = bracket(*rough, {count, sum, squares}, request);
  }
};

}  // namespace kastor::detail

#endif
