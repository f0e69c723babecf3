// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_STRIP_RULES_HPP
#define KASTOR_ISLANDS_STRIP_RULES_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

/// Which strips of an image are searched one after another, and which islands each of them gives.
namespace kastor::detail {

/// A strip: rows [begin, end) of an image of ny rows, and what the strips before it have settled.
/// Connected foreground is a set; it becomes an island, or is dropped. All rows are those of the
/// image. A set of the image has the rows t to u; what a strip shows of it are one or more parts,
/// which the strip takes for sets, each with the rows `first` to `last`.
///
/// Strip k has the rows [b_k, e_k). It gives the sets with
///
///   (1) first >= f_k               those that begin above f_k were given before
///   (2) first < past               those that begin further below belong to others
///   (3) last + margin < e_k, or e_k = ny: the set is *complete*, else it is *open*
///   (4) last + margin >= e_{k-1}   it was not complete in the strip before
///
/// The next strip has f_{k+1} = the least `first` of the open sets with (1) and (2), or e_k if that
/// is less; b_{k+1} = f_{k+1} - margin, or 0 if that is negative; and e_{k+1} > e_k. In the first
/// strip f_0 = e_{-1} = own, the first of the own rows. There is a further strip while such an open
/// set is left or e_k < past. `margin` is at least 1. So b_k < f_k unless both are 0, and f_k never
/// falls.
///
/// Every set with own <= t < past is given once, and entire; no other set is given:
///
/// - Parts that do not hang together within the strip do so by pixels above b_k or below e_k - 1,
///   through rows b_k or e_k - 1. So if a set is cut, each of its parts has a pixel in one of these
///   rows: first = b_k, which fails (1), or last = e_k - 1, which fails (3).
/// - A set with t >= f_k is not cut above. If u < e_k, it is seen as it is. Else all of its parts
///   are open, and one of them has first = t.
/// - Let K be the first strip with u + margin < e_K or e_K = ny. Then t >= f_k for all k <= K: this
///   is so for the first strip, and if it is so for k < K, the set is either open there or t >=
///   e_k; so f_{k+1} <= t. Hence it is seen as it is in strip K, and given: (1) and (2) hold, (3)
///   by the choice of K, (4) since it was not complete in K - 1.
/// - It is not given again. Before K it is cut or fails (3). After K it is not cut below, and fails
///   (4) if t >= f_k; if t < f_k it is seen with first = t or b_k, which fails (1).
/// - There is a strip K: until then the set is open, or e_k <= t < past.
/// - A set with t < own is never given: if it is not cut, first = t < own <= f_k; if it is cut, see
///   above. Nor is one with t >= past, since it is not cut above.
///
/// So consecutive ranges of own rows together give each set of the image once: t lies in one of
/// them. Their islands one after another are in raster order, since the first pixel is in row t.
///
/// Rows t - margin to u + margin, as far as the image has them, are in the strip that gives the
/// set. Blank neighbours are looked for in the rows next to it; that is why margin >= 1.
struct StripRules {
  std::int64_t from;    ///< f_k
  std::int64_t past;    ///< row behind the own rows
  std::int64_t seen;    ///< e_{k-1}
  std::int64_t margin;  ///< rows around an island that are in its strip
  std::int64_t begin, end;
  std::int64_t ny;

  [[nodiscard]] KOKKOS_FUNCTION bool is_own(std::int64_t first) const {
    return first >= from && first < past;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_complete(std::int64_t last) const {
    return end == ny || last + margin < end;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool gives(std::int64_t first, std::int64_t last) const {
    return is_own(first) && is_complete(last) && last + margin >= seen;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool leaves_open(std::int64_t first, std::int64_t last) const {
    return is_own(first) && !is_complete(last);
  }
  /// Whether the foreground of a row counts here: each row of the own ones does once.
  [[nodiscard]] KOKKOS_FUNCTION bool counts(std::int64_t row) const {
    return row >= seen && row < end && row < past;
  }

  /// Before the first strip.
  [[nodiscard]] static StripRules before(std::int64_t own, std::int64_t past, std::int64_t margin,
                                         std::int64_t ny) {
    return {own, past, own, margin, own, own, ny};
  }
  /// Whether this strip has anything to search.
  [[nodiscard]] bool is_needed() const { return from < seen || seen < past; }
  /// The next strip. `open_from`: the first row of the topmost open set, or any row behind the
  /// strip. `rows`: how many are wanted; `most`: how many fit. It ends no further than this one if
  /// an open set is too tall for `most`.
  ///
  /// Where sets overlap more than half of the rows that are wanted, the strip becomes twice as high
  /// as they, so that the rows read for a tall set are a few times its own. Below the own rows only
  /// what is open counts, of which most is small.
  [[nodiscard]] StripRules after(std::int64_t open_from, std::int64_t rows,
                                 std::int64_t most) const {
    StripRules next = *this;
    next.seen = end;
    next.from = std::min(open_from, end);
    next.begin = std::max<std::int64_t>(0, next.from - margin);
    next.end = end + std::max<std::int64_t>(1, end - next.begin);
    if (end < past) next.end = std::min(std::max(next.end, next.begin + rows), past + margin);
    next.end = std::min({next.end, next.begin + most, ny});
    return next;
  }
};

}  // namespace kastor::detail

#endif
