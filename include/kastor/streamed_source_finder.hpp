// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_STREAMED_SOURCE_FINDER_HPP
#define KASTOR_STREAMED_SOURCE_FINDER_HPP

#include <kastor/communicator.hpp>
#include <kastor/image.hpp>
#include <kastor/row_source.hpp>
#include <kastor/source_finder.hpp>
#include <kastor/stream_params.hpp>
#include <memory>

namespace kastor {

/// `SourceFinder` for an image that is read row by row, as from a file: clip, threshold, labels and
/// sources are the same bits as of the image in memory.
///
/// The sample of the clip is read first (from 2^30 pixels on alone, else by a pass over the image),
/// then the whole image, once: pixels that may be foreground are kept as runs. Only if a prediction
/// of the clip fails, the threshold is below what was kept, or the foreground takes more than a
/// quarter of the memory, the image is read again.
///
/// Several ranks may share the work: each reads its own rows, about as many as the others. Owns its
/// work space. Use one object per execution space instance; do not share it between threads.
template <class Exec, Real T>
class StreamedSourceFinder {
 public:
  /// \param ranks  all ranks that call; they must outlive the finder. Null: this process alone
  /// \throws Error if a parameter is out of its range.
  explicit StreamedSourceFinder(const Exec& space, const FindParams& params = {},
                                const StreamParams& stream = {}, Communicator* ranks = nullptr);
  ~StreamedSourceFinder();
  StreamedSourceFinder(StreamedSourceFinder&&) noexcept;
  StreamedSourceFinder& operator=(StreamedSourceFinder&&) noexcept;

  /// Fences the instance given at construction. With ranks: collective; every rank gets the clip,
  /// the threshold and the number of foreground pixels of the image, and the sources whose first
  /// pixel is in its rows, with their ids in the image. Their lists, by rank, are the catalogue.
  /// \throws Error if no pixel is finite, or rows cannot be read; ResourceError if not even one
  /// row fits into the memory given
  [[nodiscard]] FindResult operator()(RowSource<T>& image);
  /// The same without a copy of the rows.
  [[nodiscard]] FoundSources find(RowSource<T>& image);

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor

#endif
