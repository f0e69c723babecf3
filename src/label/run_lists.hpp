// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_RUN_LISTS_HPP
#define KASTOR_LABEL_RUN_LISTS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "core/portable.hpp"

namespace kastor::detail {

/// Makes a list at least `wanted` elements long and keeps its first `used`. If it grows, then by
/// half at least. Fences.
template <class View, class Exec>
void grow_kept(View& list, const Exec& space, const char* label, std::int64_t used,
               std::int64_t wanted) {
  const auto held = static_cast<std::int64_t>(list.extent(0));
  if (held >= wanted) return;
  const std::int64_t length = wanted > held + held / 2 ? wanted : held + held / 2;
  View longer(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label)),
              static_cast<std::size_t>(length));
  if (used > 0) {
    const auto kept = std::make_pair(std::int64_t{0}, used);
    Kokkos::deep_copy(space, Kokkos::subview(longer, kept), Kokkos::subview(list, kept));
  }
  space.fence("kastor::label: a list has grown");
  list = longer;
}

/// The runs of some rows of an image, in raster order, in the memory of `Exec`. Unlike `RunLabels`
/// they need no mask of the image.
template <class Exec>
struct RunLists {
  template <class V>
  using List = Kokkos::View<V*, typename Exec::memory_space>;

  std::int64_t runs = 0;
  std::int64_t pixels = 0;
  List<std::int32_t> begin, end;  ///< x of the first pixel, and of the last one + 1
  List<std::int32_t> row;         ///< y in the image
  List<std::int64_t> value_at;    ///< where the pixels of a run begin in a list of values
  List<std::uint32_t> parent;     ///< of the union-find; also room for it
  List<std::uint32_t> label, first_run;

  /// Makes room for so many runs in the lists that describe them.
  void reserve(const Exec& space, std::int64_t wanted) {
    grow_kept(begin, space, "kastor::label::run_begin", runs, wanted);
    grow_kept(end, space, "kastor::label::run_end", runs, wanted);
    grow_kept(row, space, "kastor::label::run_row", runs, wanted);
    grow_kept(value_at, space, "kastor::label::run_value_at", runs, wanted);
    grow_kept(parent, space, "kastor::label::run_parent", runs, wanted);
  }
  [[nodiscard]] std::int64_t capacity() const { return static_cast<std::int64_t>(begin.extent(0)); }
};

}  // namespace kastor::detail

#endif
