// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_STREAMED_ISLAND_FINDER_HPP
#define KASTOR_STREAMED_ISLAND_FINDER_HPP

#include <cstdint>
#include <functional>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/row_source.hpp>
#include <kastor/stream_params.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <span>
#include <vector>

namespace kastor {

/// A detection image (see `Detection`) that need not fit into memory either.
template <class Exec, Real T>
struct StreamedDetection {
  RowSource<T>* source = nullptr;  ///< its shape is that of the measured image; null: there is none
  Background<Exec, T> background;  ///< of this image
};

/// Neighbouring rows of an image in which islands were found. All Views and spans are valid until
/// the visitor returns.
template <class Exec, Real T>
struct IslandStrip {
  std::int64_t first_row = 0;      ///< row of the image that is row 0 of the strip
  std::int64_t ny = 0;             ///< rows of the image, of which the strip is a part [pixel]
  ConstImage<T, Exec> image;       ///< the rows of the strip
  Background<Exec, T> background;  ///< of these rows
  BitMask<Exec> region;            ///< of these rows; empty if all pixels are used
  /// Of these rows; without bands if there is no detection image
  Detection<Exec, T> detection;
  /// Everything found in the strip, with the rows of the image. What the border of the strip cuts
  /// is not entire. Ids are those of the labels, negative islands follow.
  FoundIslands found;
  RunLabels<Exec> above;  ///< labels of `found.above`; rows are those of the strip
  RunLabels<Exec> below;  ///< labels of `found.below`, numbered from 1
  /// Which islands of `found.above` this strip gives, from 0, in ascending order: they are entire,
  /// and no other strip gives them
  std::span<const std::int64_t> given_above;
  std::span<const std::int64_t> given_below;  ///< the same of `found.below`
};

/// What is to be done with each strip while it is in memory.
template <class Exec, Real T>
struct IslandVisitor {
  std::function<void(const IslandStrip<Exec, T>&)> visit;  ///< may be empty
  /// Rows above and below an island that its strip must have, as far as the image has them [>= 0]
  std::int64_t reach = 0;
};

/// The result of `StreamedIslandFinder`.
struct StreamedIslands {
  IslandResult result;  ///< as that of `IslandFinder`
  /// The place of each island, in the order of `result.islands`, among those that visitors were
  /// given, from 0: strip by strip, of each the positive islands and then the negative ones
  std::vector<std::int64_t> given;
};

/// Finds and measures the islands of an image that need not fit into memory: every bit of the
/// result is that of `IslandFinder` for the whole image.
///
/// The image is read in strips of whole rows. An island is measured in the first strip in which it
/// is entire. One that reaches the end of a strip is left, and the next strip begins above it. So
/// an island must fit into memory with its rows, and one that is taller than half of a strip takes
/// further reads. A row is read once, but for those where islands cross from strip to strip.
///
/// Several processes may share an image, each with rows of its own: they find the islands whose
/// first pixel is in their rows, and read on until these are entire. The lists of consecutive
/// ranges of rows, one after another, are that of the whole image, apart from the ids, which each
/// range counts from 1; so are the sums of the counts.
///
/// Owns its work space, which grows to the largest strip. Use one object per execution space
/// instance; do not share it between threads.
template <class Exec, Real T>
class StreamedIslandFinder {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit StreamedIslandFinder(const Exec& space, const IslandParams& params = {},
                                const StreamParams& stream = {});
  ~StreamedIslandFinder();
  StreamedIslandFinder(StreamedIslandFinder&&) noexcept;
  StreamedIslandFinder& operator=(StreamedIslandFinder&&) noexcept;

  /// `background` and `region` cover the whole image: maps that are images must be in memory,
  /// constants and surfaces take none. `region` as for `IslandFinder`. `rows`: only islands whose
  /// first pixel is there. Fences the instance given at construction. \throws ResourceError if an
  /// island is taller than a strip can be. \throws Error if a map or the region does not have the
  /// shape of the image, the rows are not of the image, or they cannot be read.
  [[nodiscard]] StreamedIslands operator()(RowSource<T>& source,
                                           const Background<Exec, T>& background,
                                           const RowRange& rows = {},
                                           const IslandVisitor<Exec, T>& visitor = {},
                                           const BitMask<Exec>& region = {});
  /// The islands of a detection image, measured in another one. \throws Error also if the detection
  /// image or its background has another shape, or there is none.
  [[nodiscard]] StreamedIslands operator()(const StreamedDetection<Exec, T>& detection,
                                           RowSource<T>& source,
                                           const Background<Exec, T>& background,
                                           const RowRange& rows = {},
                                           const IslandVisitor<Exec, T>& visitor = {},
                                           const BitMask<Exec>& region = {});

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor

#endif
