// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/streamed_source_finder.hpp>

#include "core/row_reader.hpp"
#include "core/stream_passes.hpp"
#include "source_finder/pass_finder.hpp"

namespace kastor {

template <class Exec, Real T>
struct StreamedSourceFinder<Exec, T>::Plan {
  Plan(const Exec& s, const FindParams& params, const StreamParams& p, Communicator* r)
      : space(s), stream(p), ranks(r), buffers(s), find(s, params) {}

  [[nodiscard]] FoundSources run(RowSource<T>& source) {
    core::StreamPasses<Exec, T> image(space, buffers, source, stream, ranks);
    return find(image, stream.memory * 3 / 4);
  }

  Exec space;
  StreamParams stream;
  Communicator* ranks;
  core::BandBuffers<Exec, T> buffers;
  detail::PassFinder<Exec, T> find;
};

template <class Exec, Real T>
StreamedSourceFinder<Exec, T>::StreamedSourceFinder(const Exec& space, const FindParams& params,
                                                    const StreamParams& stream,
                                                    Communicator* ranks) {
  core::expect_stream("kastor::StreamedSourceFinder", stream);
  const bool is_alone = ranks == nullptr || ranks->size() < 2;
  m_plan = std::make_unique<Plan>(space, params, stream, is_alone ? nullptr : ranks);
}
template <class Exec, Real T>
StreamedSourceFinder<Exec, T>::~StreamedSourceFinder() = default;
template <class Exec, Real T>
StreamedSourceFinder<Exec, T>::StreamedSourceFinder(StreamedSourceFinder&&) noexcept = default;
template <class Exec, Real T>
StreamedSourceFinder<Exec, T>& StreamedSourceFinder<Exec, T>::operator=(
    StreamedSourceFinder&&) noexcept = default;

template <class Exec, Real T>
FoundSources StreamedSourceFinder<Exec, T>::find(RowSource<T>& image) {
  return m_plan->run(image);
}
template <class Exec, Real T>
FindResult StreamedSourceFinder<Exec, T>::operator()(RowSource<T>& image) {
  const FoundSources found = find(image);
  return {found.clip, found.threshold, found.foreground_pixels,
          Catalogue(found.sources.begin(), found.sources.end())};
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::StreamedSourceFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
