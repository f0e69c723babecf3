// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SOURCE_FINDER_HPP
#define KASTOR_SOURCE_FINDER_HPP

#include <kastor/catalogue.hpp>
#include <kastor/communicator.hpp>
#include <kastor/image.hpp>
#include <kastor/label.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <optional>
#include <span>

namespace kastor {

/// What the threshold is measured from.
enum class ThresholdAbout { zero, median };

/// Parameters of `SourceFinder`: what counts as a source.
struct FindParams {
  SigmaClipParams clip;
  /// Foreground is strictly above this many clipped standard deviations [finite].
  double threshold = 5.0;
  ThresholdAbout about = ThresholdAbout::zero;
  /// Absolute threshold [image unit], may be negative; replaces the two above [finite].
  std::optional<double> level;
  LabelParams label;
};

/// The result of `SourceFinder`.
struct FindResult {
  SigmaClipResult clip;
  double threshold = 0;                ///< the threshold applied [image unit]
  std::int64_t foreground_pixels = 0;  ///< number of foreground pixels, dropped components included
  Catalogue sources;
};

/// The same without a copy: the rows remain where they were made.
struct FoundSources {
  SigmaClipResult clip;
  double threshold = 0;                ///< the threshold applied [image unit]
  std::int64_t foreground_pixels = 0;  ///< number of foreground pixels, dropped components included
  /// In host memory. They belong to the `SourceFinder` and are valid until its next call.
  std::span<const Source> sources;
};

/// The whole pipeline as one plan: clip, threshold, label, measure. The image may be given in
/// bands; any split gives the same bits. Owns its work space: repeated calls on images of one size
/// allocate nothing but the returned rows. Use one object per execution space instance; do not
/// share it between threads.
template <class Exec, Real T>
class SourceFinder {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit SourceFinder(const Exec& space, const FindParams& params = {});
  /// For an image whose rows several ranks have: each calls with its own, which are consecutive, in
  /// the order of the ranks; some may have none. Calls are collective. Every rank gets the clip,
  /// the threshold and the number of foreground pixels of the image, and the sources whose first
  /// pixel is in its rows; ids and positions are those in the image. So the lists of sources, by
  /// rank, are the catalogue of the image, with the same bits. `ranks` must outlive the finder.
  SourceFinder(const Exec& space, const FindParams& params, Communicator& ranks);
  ~SourceFinder();
  SourceFinder(SourceFinder&&) noexcept;
  SourceFinder& operator=(SourceFinder&&) noexcept;

  /// Fences the instance given at construction. \throws Error if no pixel is finite.
  [[nodiscard]] FindResult operator()(const ConstImage<T, Exec>& image);
  /// The same for an image in bands of whole rows.
  [[nodiscard]] FindResult operator()(Bands<T, Exec> bands);
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] FindResult operator()(const V& image) {
    return (*this)(detail::as_const_image_of<T, Exec>(image));
  }

  /// The same without a copy of the rows: for images of one size nothing is allocated at all,
  /// unless a list has to grow.
  [[nodiscard]] FoundSources find(const ConstImage<T, Exec>& image);
  /// The same for an image in bands of whole rows.
  [[nodiscard]] FoundSources find(Bands<T, Exec> bands);
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] FoundSources find(const V& image) {
    return find(detail::as_const_image_of<T, Exec>(image));
  }

  /// The labels of the last call; the next call overwrites them. \throws Error with several ranks
  [[nodiscard]] const RunLabels<Exec>& labels() const;
  /// The foreground mask of the last call; the next call overwrites it. \throws Error with several
  /// ranks
  [[nodiscard]] const BitMask<Exec>& mask() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] FindResult find_sources(const Exec& space, const V& image,
                                      const FindParams& params = {}) {
  return SourceFinder<Exec, PixelOf<Exec, V>>(space, params)(as_const_image<Exec>(image));
}

}  // namespace kastor

#endif
