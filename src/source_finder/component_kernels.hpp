// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SOURCE_FINDER_COMPONENT_KERNELS_HPP
#define KASTOR_SOURCE_FINDER_COMPONENT_KERNELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "measure/source_sums.hpp"
#include "source_finder/rank_borders.hpp"

/// Kernels over the components of a rank, which some ranks share.
namespace kastor::detail {

/// Begins the sums of each component.
template <class T>
struct BeginComponents {
  const std::int32_t* row;
  const std::uint32_t* first_run;
  SourceTotals<T>* totals;
  std::int32_t* top_row;
  std::uint8_t* is_elsewhere;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    totals[i] = SourceTotals<T>();
    top_row[i] = row[first_run[i]];
    is_elsewhere[i] = 0;
  }
};

/// Copies what a rank tells of the components at its borders.
template <class T>
struct ReadBorderParts {
  const std::uint32_t* labels;
  const std::int32_t *begin, *row;
  const std::uint32_t* first_run;
  const SourceTotals<T>* totals;
  BorderPart<T>* parts;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t label = labels[i], run = first_run[label - 1];
    parts[i].label = label;
    parts[i].x = begin[run];
    parts[i].y = row[run];
    parts[i].extents = totals[label - 1].extents;
  }
};

/// Gives parts the extents of the whole components.
template <class T>
struct TakeJoined {
  const JoinedPart<T>* joined;
  int rank;
  SourceTotals<T>* totals;
  std::int32_t* top_row;
  std::uint8_t* is_elsewhere;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t component = joined[i].label - 1;
    totals[component].extents = joined[i].extents;
    top_row[component] = joined[i].top_row;
    is_elsewhere[component] = joined[i].owner == rank && joined[i].of == joined[i].label ? 0 : 1;
  }
};

/// Copies the sums of parts.
template <class T>
struct ReadSums {
  const JoinedPart<T>* joined;
  const SourceTotals<T>* totals;
  PartSums* sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    sums[i].owner = joined[i].owner;
    sums[i].of = joined[i].of;
    sums[i].sums = totals[joined[i].label - 1].sums;
  }
};

/// Adds the sums of parts to those of their components.
template <class T>
struct AddSums {
  const PartSums* sums;
  SourceTotals<T>* totals;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    sums[i].sums.add_to(totals[sums[i].of - 1].sums);
  }
};

/// A scan over the components of a rank: chooses those that become sources of it.
template <class T>
struct ChooseComponents {
  using value_type = std::int64_t;
  const SourceTotals<T>* totals;
  const std::int32_t* top_row;
  const std::uint8_t* is_elsewhere;
  std::uint64_t min_pixels;
  bool drop_at_edge;
  std::int64_t ny, nx;  ///< of the image
  std::int64_t components;
  std::uint32_t* chosen;
  std::int64_t* count;  ///< in memory that the host reads

  KOKKOS_FUNCTION void operator()(std::int64_t i, value_type& before, bool is_final) const {
    const bool is_chosen = is_elsewhere[i] == 0 && keeps(totals[i].extents, top_row[i]);
    if (is_final && is_chosen) chosen[before] = static_cast<std::uint32_t>(i);
    before += is_chosen ? 1 : 0;
    if (is_final && i == components - 1) *count = before;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION bool keeps(const SourceExtents<T>& e, std::int32_t y_min) const {
    if (drop_at_edge && (e.x_min == 0 || y_min == 0 || e.x_max == nx - 1 || e.y_max == ny - 1))
      return false;
    return e.n_pix >= min_pixels;
  }
};

}  // namespace kastor::detail

#endif
