// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_HPP
#define KASTOR_BACKGROUND_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/threshold.hpp>
#include <memory>

namespace kastor {

/// What the survivors of a clip say of the level of the sky. The noise is their standard deviation.
enum class BackgroundEstimate {
  mode,   ///< 2.5 median - 1.5 mean where |mean - median| < 0.3 std, else the median: as SExtractor
          ///< (Bertin and Arnouts 1996, A&AS 117, 393, section 3)
  median  ///< the median
};

/// The surface through the nodes of the mesh.
enum class MeshInterpolation { bicubic, bilinear };

/// How `BackgroundEstimator` goes about it.
struct BackgroundParams {
  std::int64_t cell_height = 64;  ///< [pixel, >= 1]
  std::int64_t cell_width = 64;   ///< [pixel, >= 1]
  SigmaClipParams clip;           ///< of each cell alone
  BackgroundEstimate estimate = BackgroundEstimate::mode;
  double min_good_fraction = 0.5;  ///< a cell is used if so much of it is good  [0 to 1]
  int filter_height = 3;           ///< of the median filter; 1 = none  [cells, odd]
  int filter_width = 3;            ///< likewise
  MeshInterpolation interpolation = MeshInterpolation::bicubic;
};

/// Level and noise of the sky as surfaces over an image. Owns its nodes.
template <class Exec, Real T>
struct BackgroundMesh {
  std::int64_t ny = 0;      ///< of the image
  std::int64_t nx = 0;      ///< of the image
  MeshSurface<Exec> level;  ///< of the sky [image unit]
  MeshSurface<Exec> rms;    ///< standard deviation of the noise [image unit]

  /// As detection takes it; shares the nodes.
  [[nodiscard]] Background<Exec, T> background() const {
    return {PixelMap<Exec, T>(level), PixelMap<Exec, T>(rms)};
  }
};

/// A background in a few numbers.
struct BackgroundSummary {
  double level = 0;         ///< median of the nodes: one number for the whole image [image unit]
  double rms = 0;           ///< likewise
  std::int64_t pixels = 0;  ///< of the image
  std::int64_t good = 0;    ///< finite and not excluded
  std::int64_t cells = 0;   ///< nodes of the mesh
  std::int64_t filled = 0;  ///< of these, filled from others: too few good pixels of their own
};

/// Maps of the sky's level and noise on a mesh, after SExtractor (Bertin and Arnouts 1996, section
/// 3).
///
/// The image is divided into cells from pixel (0,0) on; the last of a row or column may be smaller.
/// The good pixels of a cell, finite ones that are not excluded, are clipped exactly as
/// `SigmaClipper` does (SExtractor and SEP: on a histogram, after a cut at 2 std). A cell with less
/// than `min_good_fraction` of its pixels good, or none, takes the mean of its nearest good cells.
/// A median filter goes over the mesh, with a window that shrinks symmetrically at the edges. The
/// surface is a natural bicubic spline through the nodes, which lie in the middle of a full cell; a
/// smaller cell's node is where that of a full one would be. (SEP's second derivatives
/// are not quite those of a spline, and its rows are half a pixel off: its source says so.) A cell
/// of equal pixels has an rms of 0: that is its noise, and no reason to fill it.
///
/// The same bits on every backend, thread count and split into bands; a cell may lie in several
/// bands. The sums are integers on a grid over the range of the cell's survivors, each term rounded
/// once to 2^-44 of it: of n pixels, the relative error of the std is below 4e-9 or n x 3e-13,
/// whichever is larger, that of the mean below 1e-10 std for n up to 2^18. Medians are exact.
///
/// Owns its work space: repeated calls on images of one size allocate nothing. One object per
/// instance, not shared between threads.
template <class Exec, Real T>
class BackgroundEstimator {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit BackgroundEstimator(const Exec& space, const BackgroundParams& params = {});
  ~BackgroundEstimator();
  BackgroundEstimator(BackgroundEstimator&&) noexcept;
  BackgroundEstimator& operator=(BackgroundEstimator&&) noexcept;

  /// Enqueues only. Nodes are overwritten by the next call; they are NaN if no cell is good.
  /// `exclude`: empty, or of the shape of the image; pixels whose bit is set are not used.
  /// \throws Error if the image has no pixels, or `exclude` has another shape.
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(const ConstImage<T, Exec>& image,
                                                   const BitMask<Exec>& exclude = {});
  /// The same of an image in bands of whole rows.
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(Bands<T, Exec> bands,
                                                   const BitMask<Exec>& exclude = {});
  /// For any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(const V& image,
                                                   const BitMask<Exec>& exclude = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), exclude);
  }

  /// Of the last call. Fences the instance given at construction.
  /// \throws Error if no cell has enough good pixels.
  [[nodiscard]] BackgroundSummary summary();

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract. Fences `space`. \throws Error also if
/// no cell has enough good pixels.
template <class Exec, class V>
[[nodiscard]] BackgroundMesh<Exec, PixelOf<Exec, V>> estimate_background(
    const Exec& space, const V& image, const BackgroundParams& params = {},
    const BitMask<Exec>& exclude = {}) {
  BackgroundEstimator<Exec, PixelOf<Exec, V>> estimate(space, params);
  auto mesh = estimate(as_const_image<Exec>(image), exclude);
  static_cast<void>(estimate.summary());
  return mesh;
}

/// Writes a map as an image, from row `first_row` of the map on; rounded once to T. Enqueues only.
/// \throws Error if `first_row` is negative.
template <class Exec, Real T>
void fill_map(const Exec& space, const PixelMap<Exec, T>& map, const MutableImage<T, Exec>& image,
              std::int64_t first_row = 0);

/// For any View of T that keeps the layout contract.
template <class Exec, Real T, AnyView V>
requires(!std::same_as<V, MutableImage<T, Exec>>)  //
    void fill_map(const Exec& space, const PixelMap<Exec, T>& map, const V& image,
                  std::int64_t first_row = 0) {
  fill_map<Exec, T>(space, map, detail::as_mutable_image_of<T, Exec>(image), first_row);
}

}  // namespace kastor

#endif
