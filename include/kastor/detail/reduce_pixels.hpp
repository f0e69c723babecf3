// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REDUCE_PIXELS_HPP
#define KASTOR_DETAIL_REDUCE_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/work_shares.hpp>
#include <kastor/image.hpp>
#include <string>

/// The one place that decides how pixels are visited.
namespace kastor::detail {

/// Longest stretch of pixels that a functor is handed at once on a host.
inline constexpr std::int64_t host_segment = 8192;

/// Cuts rows into segments that lie in one row: short enough for a core's cache, long enough to
/// amortise a call.
template <class T>
struct Segments {
  Rows<T> rows;
  std::int64_t length = 0;
  std::int64_t per_row = 0;

  Segments(Rows<T> r, std::int64_t longest) : rows(r) {
    if (rows.pitch == rows.nx) rows = {r.data, 1, r.ny * r.nx, r.ny * r.nx};
    length = longest;
    per_row = (rows.nx + length - 1) / length;
  }
  [[nodiscard]] std::int64_t count() const { return rows.ny * per_row; }
  [[nodiscard]] KOKKOS_FUNCTION const T* begin(std::int64_t i) const {
    return rows.ny == 1 ? rows.data + i * length
                        : rows.data + (i / per_row) * rows.pitch + (i % per_row) * length;
  }
  /// Pixels of the band before it.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first_of(std::int64_t i) const {
    return rows.ny == 1 ? i * length : (i / per_row) * rows.nx + (i % per_row) * length;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t size(std::int64_t i) const {
    const std::int64_t x = (rows.ny == 1 ? i : i % per_row) * length;
    return rows.nx - x < length ? rows.nx - x : length;
  }
};

/// Joins `Functor::segment(pixels, n, value)` over all segments. `Functor::Value` must add up in
/// any order.
template <class T, class Functor>
struct SegmentReducer {
  using value_type = typename Functor::Value;
  Segments<T> segments;
  Functor functor;

  KOKKOS_FUNCTION void operator()(std::int64_t i, value_type& value) const {
    functor.segment(segments.begin(i), segments.size(i), value);
  }
  KOKKOS_FUNCTION void init(value_type& value) const { value = value_type{}; }
  KOKKOS_FUNCTION void join(value_type& into, const value_type& from) const { into += from; }
};

/// Host: a thread works through a segment. Device: a thread takes one pixel, neighbours take
/// neighbours.
template <class Exec, class T, class Functor>
[[nodiscard]] typename Functor::Value reduce_pixels(const std::string& label, const Exec& space,
                                                    const ConstImage<T, Exec>& band,
                                                    const Functor& functor) {
  const Segments<T> segments(rows_of<T, Exec>(band), is_host_space_v<Exec> ? host_segment : 1);
  if (segments.count() == 0) return {};
  return reduce_indices(label, space, segments.count(),
                        SegmentReducer<T, Functor>{segments, functor});
}

/// The same over all bands of an image.
template <class Exec, class T, class Functor>
[[nodiscard]] typename Functor::Value reduce_bands(const std::string& label, const Exec& space,
                                                   Bands<T, Exec> bands, const Functor& functor) {
  typename Functor::Value total{};
  for (const auto& band : bands) total += reduce_pixels<Exec, T>(label, space, band, functor);
  return total;
}

}  // namespace kastor::detail

#endif
