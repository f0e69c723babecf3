// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REFINED_BINS_HPP
#define KASTOR_DETAIL_REFINED_BINS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/lanes.hpp>

/// Bins with very many pixels, in which the passes of a clip will probably look again and again.
namespace kastor::detail {

/// Some bins, and some slots of memory for each, all of one size.
template <class T>
struct RefinedBins {
  static constexpr int most = lanes;
  static constexpr int tail_slots = 3;  ///< of a bin of the tails; one of the window has one
  static constexpr std::int32_t none = -1;

  std::int32_t bin[most];
  T* slots;
  std::int64_t slot_size;  ///< pixels

  /// Copies others, or none if it is null. All of the crew must call it; the next barrier makes
  /// them known.
  template <class Crew>
  KOKKOS_FUNCTION void bring(const Crew& crew, const RefinedBins* others) {
    for (int i = crew.rank(); i < most; i += crew.size())
      bin[i] = others != nullptr ? others->bin[i] : none;
    if (crew.rank() != 0 || others == nullptr) return;
    slots = others->slots;
    slot_size = others->slot_size;
  }
  [[nodiscard]] KOKKOS_FUNCTION T* slot(int i) const { return slots + i * slot_size; }
  /// The place of a bin among these, -1 if it is none of them. Its first slot is the place times
  /// the slots of a bin. On CUDA all lanes of a warp must ask together.
  [[nodiscard]] KOKKOS_FUNCTION int place_of(std::int32_t b) const {
#ifdef __CUDA_ARCH__
    const std::uint32_t same = lanes_where(bin[this_lane()] == b);
    return same != 0 ? first_lane_of(same) : -1;
#else
    for (int i = 0; i < most; ++i)
      if (bin[i] == b) return i;
    return -1;
#endif
  }
};

/// A slot of a tail's bin: some of its pixels, by equal parts of its width, behind what they add up
/// to. That of a window's bin is just its pixels.
template <class T>
struct RefinedTailBin {
  static constexpr int parts = GatheredBins<T>::parts_of_bin;
  struct Part {
    /// Of those before the part; in the first slot also of all before the bin, in its octave.
    WideTailSums before;
    std::uint32_t begin, past;
  };
  Part part[parts];

  static constexpr std::int64_t pixels = (sizeof(Part[parts]) + sizeof(T) - 1) / sizeof(T);
  [[nodiscard]] KOKKOS_FUNCTION static RefinedTailBin& at(T* slot) {
    return *reinterpret_cast<RefinedTailBin*>(slot);
  }
  [[nodiscard]] KOKKOS_FUNCTION static T* pixels_at(T* slot) { return slot + pixels; }
};

}  // namespace kastor::detail

#endif
