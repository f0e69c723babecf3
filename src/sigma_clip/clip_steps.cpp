// SPDX-License-Identifier: Apache-2.0
#include "sigma_clip/clip_steps.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <stdexcept>
#include <string>

#include "core/group.hpp"
#include "sigma_clip/bracket_sample.hpp"
#include "sigma_clip/sort.hpp"

namespace kastor::detail {

template <class Exec, class T>
ClipSteps<Exec, T>::ClipSteps(const Exec& space, const SigmaClipParams& params)
    : m_space(space),
      m_params(params),
      m_segments(std::int64_t{core::multiprocessor_count(space)} * groups_of_processor),
      m_memory("kastor::sigma_clip::work", space),
      m_outcome(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::sigma_clip::outcome")) {
  KASTOR_EXPECTS("kastor::SigmaClipper", params.kappa > 0 && std::isfinite(params.kappa),
                 "kappa is " + std::to_string(params.kappa) + "; expected a finite number above 0");
  KASTOR_EXPECTS("kastor::SigmaClipper", params.max_passes >= 0,
                 "max_passes is " + std::to_string(params.max_passes) + "; expected 0 or more");
  lay_out();
}

template <class Exec, class T>
ClipRequest ClipSteps<Exec, T>::request(std::int64_t pixels, int attempt,
                                        const ClipLevel& level) const {
  double widen = sample_widening(pixels);
  for (int i = 0; i < attempt; ++i) widen *= 3;
  return {m_params.kappa, m_params.max_passes, widen, attempt, level};
}

template <class Exec, class T>
void ClipSteps<Exec, T>::lay_out() {
  for (const bool measuring : {true, false}) {
    m_memory.begin(measuring);
    m_memory.add(m_parts.histogram, SampleBins::count);
    m_memory.add(m_parts.totals, 1);
    m_memory.add(m_parts.segment_counts, Segment<T>::lists * m_segments);
    m_memory.add(m_parts.bin_count, Bins::count);
    m_memory.add(m_parts.block, 2 * TailOctaves::blocks);
    m_memory.add(m_parts.octave, 2 * TailOctaves::count);
    m_memory.add(m_parts.past_counters, 0);
    m_memory.add(m_parts.rough_values, rough_size);
    m_memory.add(m_parts.rough, 1);
    m_memory.add(m_parts.sample_sum, SampleBins::count + 1);
    m_memory.add(m_parts.sample_squares, SampleBins::count + 1);
    m_memory.add(m_parts.brackets, 1);
    m_memory.add(m_parts.bin_begin, Bins::count + 1);
    m_memory.add(m_parts.tail, Bins::tails);
    m_memory.add(m_parts.outcome, 1);
  }
}

/// Clears whole words: on a CPU, a fill of bytes would go byte by byte.
template <class Exec, class T>
void ClipSteps<Exec, T>::clear(void* begin, void* past) const {
  using Word = std::uint64_t;
  auto* const first = static_cast<Word*>(begin);
  const Kokkos::View<Word*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      memory(first, static_cast<std::size_t>(static_cast<Word*>(past) - first));
  Kokkos::deep_copy(m_space, memory, Word{0});
}

template <class Exec, class T>
void ClipSteps<Exec, T>::begin() {
  clear(m_parts.histogram, m_parts.past_counters);
}

template <class Exec, class T>
void ClipSteps<Exec, T>::add_rough(const SampledRows<T>& band, const ClipRequest& request,
                                   std::int64_t pixels, bool describe) {
  using Rough = FindRoughScale<Exec, T>;
  core::for_each_group<Rough::threads>(
      "kastor::sigma_clip::rough_scale", m_space, {1, Rough::scratch_bytes},
      Rough{band, rough_places(pixels, request.attempt), describe, request.attempt > 0,
            m_parts.rough_values, m_parts.rough});
}

template <class Exec, class T>
void ClipSteps<Exec, T>::add_sample(const SampledRows<T>& band, const ClipRequest& request,
                                    std::int64_t pixels) {
  using Count = CountSample<Exec, T>;
  const SamplePlaces places = sample_places(pixels, request.attempt);
  const std::int64_t count = band.past(places) - band.first(places);
  core::for_each_group<Count::threads>(
      "kastor::sigma_clip::sample", m_space,
      {core::groups_for(m_space, count, Count::samples_of_group, 2), Count::scratch_bytes},
      Count{band, places, m_parts.rough, m_parts.histogram});
}

template <class Exec, class T>
void ClipSteps<Exec, T>::make_brackets(const ClipRequest& request) {
  using Bracketing = BracketSample<Exec, T>;
  core::for_each_group<Bracketing::threads>(
      "kastor::sigma_clip::brackets", m_space, {1, Bracketing::scratch_bytes},
      Bracketing{request, m_parts.rough, m_parts.histogram, m_parts.sample_sum,
                 m_parts.sample_squares, m_parts.brackets});
}

template <class Exec, class T>
void ClipSteps<Exec, T>::read(const Rows<T>& band, std::uint64_t* mask, std::int64_t tiles_before) {
  using Read = ReadImage<Exec, T>;
  core::for_each_group<Read::threads, groups_of_processor>(
      "kastor::sigma_clip::read", m_space, {m_segments, Read::scratch_bytes},
      Read{core::WordRows<T>(band), m_parts.brackets, segments(), m_parts.totals, mask,
           tiles_before % m_segments});
}

template <class Exec, class T>
std::int64_t ClipSteps<Exec, T>::tiles_of(const Rows<T>& band) {
  const std::int64_t words = ReadImage<Exec, T>::words_of_tile;
  return (core::WordRows<T>(band).words() + words - 1) / words;
}

template <class Exec, class T>
void ClipSteps<Exec, T>::sort() {
  sort_gathered<Exec, T>(m_space, m_parts.brackets, segments(), sorted());
}

template <class Exec, class T>
void ClipSteps<Exec, T>::replay(const ClipRequest& request, std::int64_t pixels) {
  using Replayed = ReplayClip<Exec, T>;
  core::for_each_group<Replayed::threads>(
      "kastor::sigma_clip::replay", m_space, {1, Replayed::scratch_bytes},
      Replayed{request, pixels, m_parts.brackets, m_parts.totals, segments(), sorted(),
               m_parts.outcome, m_outcome.data()});
}

template <class Exec, class T>
void ClipSteps<Exec, T>::reserve(std::int64_t pixels) {
  reserve_segments(pixels / m_segments + 64 * ReadImage<Exec, T>::words_of_tile / 4);
}

template <class Exec, class T>
void ClipSteps<Exec, T>::reserve_segments(std::int64_t capacity) {
  constexpr std::int64_t most = 0xffffffff;  // indices into the sorted list have 32 bits
  if (capacity > most / m_segments) throw std::length_error("kastor::sigma_clip");
  m_capacity = std::max(m_capacity, capacity);
  core::grow(m_gathered, m_space, "kastor::sigma_clip::gathered", m_capacity * m_segments);
  core::grow(m_sorted, m_space, "kastor::sigma_clip::sorted", m_capacity * m_segments);
}

template <class Exec, class T>
bool ClipSteps<Exec, T>::can_reserve(std::int64_t capacity) {
  try {
    reserve_segments(capacity);
    return true;
  } catch (const std::exception&) {
    m_capacity = 0;
    m_gathered = m_sorted = {};
    return false;
  }
}

}  // namespace kastor::detail

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::detail::ClipSteps<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
