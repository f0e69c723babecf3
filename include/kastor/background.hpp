// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_HPP
#define KASTOR_BACKGROUND_HPP

#include <cstdint>
#include <kastor/communicator.hpp>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/row_source.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/stream_params.hpp>
#include <kastor/threshold.hpp>
#include <memory>

namespace kastor {

/// How the level of the sky is estimated from the pixels that survive a clip. The noise is their
/// standard deviation.
enum class BackgroundEstimate {
  /// 2.5 median - 1.5 mean if |mean - median| < 0.3 std, else the median, as in SExtractor (Bertin
  /// and Arnouts 1996, A&AS 117, 393, section 3)
  mode,
  median  ///< the median
};

/// How the surface is interpolated between the nodes of the mesh.
enum class MeshInterpolation { bicubic, bilinear };

/// Parameters of `BackgroundEstimator`.
struct BackgroundParams {
  std::int64_t cell_height = 64;  ///< height of a cell [pixel, >= 1]
  std::int64_t cell_width = 64;   ///< width of a cell [pixel, >= 1]
  SigmaClipParams clip;           ///< the clip, which is applied to each cell separately
  BackgroundEstimate estimate = BackgroundEstimate::mode;
  /// A cell with a smaller fraction of good pixels is filled [0 to 1]
  double min_good_fraction = 0.5;
  int filter_height = 3;  ///< height of the median filter; 1: no filter along y [cells, odd]
  int filter_width = 3;   ///< width of the median filter; 1: no filter along x [cells, odd]
  MeshInterpolation interpolation = MeshInterpolation::bicubic;
  /// Whether cells that a source larger than a cell covers are masked, and the mesh is interpolated
  /// across them; else such a source is taken as sky
  bool mask_large_sources = false;
  /// Whether the noise is the standard deviation before the clip, if pixels are normally
  /// distributed: for a clip at 3, 1.0154 times that of the pixels that survive
  bool correct_clip = false;
};

/// Level and noise of the sky as surfaces over an image. Shares the nodes with the estimator, whose
/// next call overwrites them.
template <class Exec, Real T>
struct BackgroundMesh {
  std::int64_t ny = 0;      ///< rows of the image [pixel]
  std::int64_t nx = 0;      ///< columns of the image [pixel]
  MeshSurface<Exec> level;  ///< level of the sky [image unit]
  MeshSurface<Exec> rms;    ///< standard deviation of the noise [image unit]

  /// The background in the form that detection takes; shares the nodes.
  [[nodiscard]] Background<Exec, T> background() const {
    return {PixelMap<Exec, T>(level), PixelMap<Exec, T>(rms)};
  }
};

/// A background in a few numbers.
struct BackgroundSummary {
  double level = 0;         ///< median of the nodes' levels [image unit]
  double rms = 0;           ///< median of the nodes' rms [image unit]
  std::int64_t pixels = 0;  ///< pixels of the image
  std::int64_t good = 0;    ///< pixels that are finite and not excluded
  std::int64_t cells = 0;   ///< cells (nodes) of the mesh
  std::int64_t filled = 0;  ///< cells filled from others, because they have too few good pixels
  /// Cells that sources larger than a cell were found to cover; 0 if they are not looked for
  std::int64_t source_cells = 0;
  /// Whether these cells were masked: not if they are more than half of the cells not filled, or
  /// none
  bool masks_sources = false;
};

/// Maps of the level and the noise of the sky on a mesh, after SExtractor (Bertin and Arnouts 1996,
/// section 3).
///
/// The image is divided into cells, starting at pixel (0,0); the last cells of a row or column may
/// be smaller. The good pixels of a cell are those that are finite and not excluded. They are
/// clipped exactly as `SigmaClipper` does (SExtractor and SEP clip a histogram, after a cut at 2
/// std). If a cell has no good pixel, or a smaller fraction of them than `min_good_fraction`, it
/// takes the mean of its nearest good cells. Then a median filter is applied to the mesh; its
/// window shrinks symmetrically at the edges. The surface is a natural bicubic spline, or a
/// bilinear surface, through the nodes. Nodes lie at the centres of full cells, also where the
/// border of the image cuts a cell. (The second derivatives in SEP are not quite those of a spline,
/// and its rows are shifted by half a pixel: see the comments in its source.) A cell of equal
/// pixels has an rms of 0; it is not filled.
///
/// With `mask_large_sources`, a cell is compared with the sky around it: the cells up to 8 cells
/// away along either axis that are good and not masked yet, at least 8 of them. Let m be the median
/// of their levels, r that of their rms, and s the difference of m and their 16 % quantile. A cell
/// is masked if its level is above m by more than 3 r and more than 5 s, so that half of its pixels
/// are 3 r above the sky: a source covers it. A cell beside a masked one is masked if its level is
/// above m by more than 5 s, or its rms above r by five times the like scatter. This is done in 8
/// rounds, each with the masks of the round before; then the good cells beside masked ones are
/// masked too. A masked cell gets the value of a plane through the sky around it (least squares,
/// weights 1 / d^4, d the distance; cells up to 2 d + 2 away, d that of the nearest along the axis
/// where it is larger), but none outside of the range of their values. So a gradient, a slow
/// variation whose range is in s, and noise that rises mask nothing. If more than half of the good
/// cells would be masked, none is.
///
/// The bits are the same on every backend, for any number of threads and any split into bands; a
/// cell may extend over several bands. Medians are exact. Sums are integers on a grid that spans
/// the range of the cell's survivors, and each term is rounded once to 2^-44 of that range. For n
/// pixels, the relative error of the std is below max(4e-9, n x 3e-13). The error of the mean is
/// below 1e-10 std for n up to 2^18.
///
/// Owns its work space: repeated calls on images of one size allocate nothing. Use one object per
/// execution space instance; do not share it between threads.
template <class Exec, Real T>
class BackgroundEstimator {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit BackgroundEstimator(const Exec& space, const BackgroundParams& params = {});
  ~BackgroundEstimator();
  BackgroundEstimator(BackgroundEstimator&&) noexcept;
  BackgroundEstimator& operator=(BackgroundEstimator&&) noexcept;

  /// Enqueues only. The next call overwrites the nodes. They are NaN if no cell is good. `exclude`:
  /// empty, or of the shape of the image; pixels whose bit is set are not used.
  /// \throws Error if the image has no pixels, or `exclude` has another shape.
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(const ConstImage<T, Exec>& image,
                                                   const BitMask<Exec>& exclude = {});
  /// The same for an image in bands of whole rows.
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(Bands<T, Exec> bands,
                                                   const BitMask<Exec>& exclude = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(const V& image,
                                                   const BitMask<Exec>& exclude = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), exclude);
  }

  /// The same for an image that need not fit into memory: it is read once, by bands of whole rows
  /// of cells. The bits are those of the image in memory. `stream.memory` must hold one row of
  /// cells; the mesh, some 100 bytes a cell, comes on top. Fences.
  /// \throws ResourceError if it does not. \throws Error as above, or if a row cannot be read.
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(RowSource<T>& source,
                                                   const StreamParams& stream = {},
                                                   const BitMask<Exec>& exclude = {});

  /// The same by several processes: each reads and estimates some rows of cells of the same image,
  /// and all of them get the mesh of the whole image, and its summary. Collective.
  /// \throws Error also if another process has failed.
  [[nodiscard]] BackgroundMesh<Exec, T> operator()(RowSource<T>& source, Communicator& ranks,
                                                   const StreamParams& stream = {},
                                                   const BitMask<Exec>& exclude = {});

  /// Summary of the last call. Fences the instance given at construction.
  /// \throws Error if no cell has enough good pixels, or there was no call.
  [[nodiscard]] BackgroundSummary summary();

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract. Fences `space`.
/// \throws Error as the estimator does, and if no cell has enough good pixels.
template <class Exec, class V>
[[nodiscard]] BackgroundMesh<Exec, PixelOf<Exec, V>> estimate_background(
    const Exec& space, const V& image, const BackgroundParams& params = {},
    const BitMask<Exec>& exclude = {}) {
  BackgroundEstimator<Exec, PixelOf<Exec, V>> estimate(space, params);
  auto mesh = estimate(as_const_image<Exec>(image), exclude);
  static_cast<void>(estimate.summary());
  return mesh;
}

/// Writes rows `first_row` and following of a map to an image, each value rounded once to T.
/// Enqueues only. \throws Error if `first_row` is negative.
template <class Exec, Real T>
void fill_map(const Exec& space, const PixelMap<Exec, T>& map, const MutableImage<T, Exec>& image,
              std::int64_t first_row = 0);

/// The same for any View of T that keeps the layout contract.
template <class Exec, Real T, AnyView V>
requires(!std::same_as<V, MutableImage<T, Exec>>)  //
    void fill_map(const Exec& space, const PixelMap<Exec, T>& map, const V& image,
                  std::int64_t first_row = 0) {
  fill_map<Exec, T>(space, map, detail::as_mutable_image_of<T, Exec>(image), first_row);
}

}  // namespace kastor

#endif
