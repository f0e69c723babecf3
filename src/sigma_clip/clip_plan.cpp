// SPDX-License-Identifier: Apache-2.0
#include "sigma_clip/clip_plan.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <stdexcept>
#include <string>

#include "core/group.hpp"
#include "sigma_clip/bracket_sample.hpp"
#include "sigma_clip/multi_pass.hpp"
#include "sigma_clip/sample.hpp"
#include "sigma_clip/sort.hpp"

namespace kastor::detail {

template <class Exec, class T>
ClipPlan<Exec, T>::ClipPlan(const Exec& space, const SigmaClipParams& params)
    : m_space(space),
      m_params(params),
      m_segments(std::int64_t{core::multiprocessor_count(space)} * groups_of_processor),
      m_memory("kastor::sigma_clip::work", space),
      m_outcome(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::sigma_clip::outcome")),
      m_selector(space) {
  KASTOR_EXPECTS("kastor::SigmaClipper", params.kappa > 0 && std::isfinite(params.kappa),
                 "kappa is " + std::to_string(params.kappa) + "; expected a finite number above 0");
  KASTOR_EXPECTS("kastor::SigmaClipper", params.max_passes >= 0,
                 "max_passes is " + std::to_string(params.max_passes) + "; expected 0 or more");
  lay_out();
}

template <class Exec, class T>
void ClipPlan<Exec, T>::start(Bands<T, Exec> bands, const ClipLevel& level, std::uint64_t* mask) {
  const Shape shape = shape_of<T, Exec>("kastor::sigma_clip", bands);
  m_pixels = shape.ny * shape.nx;
  m_level = level;
  m_mask = mask;
  m_words = shape.ny * ((shape.nx + 63) / 64);
  m_outcome() = ClipOutcome<T>{};
  m_started = m_pixels >= smallest_sampled;
  if (!m_started) return;
  reserve(std::max<std::int64_t>(m_pixels / 32, std::min<std::int64_t>(m_pixels, 1 << 18)));
  enqueue(bands, 1.0);
}

template <class Exec, class T>
SigmaClipResult ClipPlan<Exec, T>::finish(Bands<T, Exec> bands) {
  if (m_started && !decided()) try_again(bands);
  SigmaClipResult result;
  if (m_started && decided()) {
    result = m_outcome().result;
    result.route = ClipRoute::bracketed;
  } else {
    result.kappa = m_params.kappa;
    result.pixels = m_pixels;
    multi_pass_clip<Exec, T>(m_space, bands, m_selector, m_params, result);
    result.route = ClipRoute::multi_pass;
  }
  KASTOR_EXPECTS("kastor::sigma_clip", result.blank < result.pixels,
                 "all " + std::to_string(result.pixels) +
                     " pixels are blank; expected at least one finite pixel");
  return result;
}

template <class Exec, class T>
void ClipPlan<Exec, T>::lay_out() {
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
void ClipPlan<Exec, T>::clear(void* begin, void* past) {
  using Word = std::uint64_t;
  auto* const first = static_cast<Word*>(begin);
  const Kokkos::View<Word*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      memory(first, static_cast<std::size_t>(static_cast<Word*>(past) - first));
  Kokkos::deep_copy(m_space, memory, Word{0});
}

template <class Exec, class T>
void ClipPlan<Exec, T>::reserve(std::int64_t pixels) {
  reserve_segments(pixels / m_segments + 64 * ReadImage<Exec, T>::words_of_tile / 4);
}

template <class Exec, class T>
void ClipPlan<Exec, T>::reserve_segments(std::int64_t capacity) {
  constexpr std::int64_t most = 0xffffffff;  // indices into the sorted list have 32 bits
  if (capacity > most / m_segments) throw std::length_error("kastor::sigma_clip");
  m_capacity = std::max(m_capacity, capacity);
  core::grow(m_gathered, m_space, "kastor::sigma_clip::gathered", m_capacity * m_segments);
  core::grow(m_sorted, m_space, "kastor::sigma_clip::sorted", m_capacity * m_segments);
}

template <class Exec, class T>
bool ClipPlan<Exec, T>::can_reserve(std::int64_t capacity) {
  try {
    reserve_segments(capacity);
    return true;
  } catch (const std::exception&) {
    m_capacity = 0;
    m_gathered = m_sorted = {};
    return false;
  }
}

template <class Exec, class T>
template <class Visit>
void ClipPlan<Exec, T>::for_each_band(Bands<T, Exec> bands, const Visit& visit) const {
  std::int64_t before = 0;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    const std::int64_t pixels = rows.ny * rows.nx;
    if (pixels > 0) visit(SampledRows<T>{rows, before}, before + pixels == m_pixels);
    before += pixels;
  }
}

template <class Exec, class T>
void ClipPlan<Exec, T>::enqueue(Bands<T, Exec> bands, double widen) {
  const ClipRequest request{m_params.kappa, m_params.max_passes, widen, m_level};
  clear(m_parts.histogram, m_parts.past_counters);
  if (m_mask != nullptr) clear(m_mask, m_mask + m_words);
  enqueue_sample(bands, request);
  enqueue_read(bands);
  const SortedBins<T> sorted{m_sorted.data(), m_parts.bin_count, m_parts.bin_begin,
                             m_parts.tail,    m_parts.block,     m_parts.octave};
  sort_gathered<Exec, T>(m_space, m_parts.brackets, segments(), sorted);
  using Replayed = ReplayClip<Exec, T>;
  core::for_each_group<Replayed::threads>(
      "kastor::sigma_clip::replay", m_space, {1, Replayed::scratch_bytes},
      Replayed{request, m_pixels, m_parts.brackets, m_parts.totals, segments(), sorted,
               m_parts.outcome, m_outcome.data()});
}

template <class Exec, class T>
void ClipPlan<Exec, T>::enqueue_sample(Bands<T, Exec> bands, const ClipRequest& request) {
  using Rough = FindRoughScale<Exec, T>;
  using Count = CountSample<Exec, T>;
  const Stride rough = rough_stride(m_pixels, request.attempt());
  for_each_band(bands, [&](const SampledRows<T>& band, bool is_last) {
    core::for_each_group<Rough::threads>(
        "kastor::sigma_clip::rough_scale", m_space, {1, Rough::scratch_bytes},
        Rough{band, rough, is_last, request.attempt() > 0, m_parts.rough_values, m_parts.rough});
  });
  const Stride sample = sample_stride(m_pixels, request.attempt());
  for_each_band(bands, [&](const SampledRows<T>& band, bool) {
    const std::int64_t count = band.past_samples(sample) - band.first_sample(sample.stride);
    core::for_each_group<Count::threads>(
        "kastor::sigma_clip::sample", m_space,
        {core::groups_for(m_space, count, Count::samples_of_group, 2), Count::scratch_bytes},
        Count{band, sample, m_parts.rough, m_parts.histogram});
  });
  using Bracketing = BracketSample<Exec, T>;
  core::for_each_group<Bracketing::threads>(
      "kastor::sigma_clip::brackets", m_space, {1, Bracketing::scratch_bytes},
      Bracketing{request, m_parts.rough, m_parts.histogram, m_parts.sample_sum,
                 m_parts.sample_squares, m_parts.brackets});
}

template <class Exec, class T>
void ClipPlan<Exec, T>::enqueue_read(Bands<T, Exec> bands) {
  std::uint64_t* mask = m_mask;
  for_each_band(bands, [&](const SampledRows<T>& band, bool) {
    using Read = ReadImage<Exec, T>;
    const core::WordRows<T> rows(band.rows);
    core::for_each_group<Read::threads, groups_of_processor>(
        "kastor::sigma_clip::read", m_space, {m_segments, Read::scratch_bytes},
        Read{rows, m_parts.brackets, segments(), m_parts.totals, mask});
    if (mask != nullptr) mask += rows.words();
  });
}

template <class Exec, class T>
void ClipPlan<Exec, T>::try_again(Bands<T, Exec> bands) {
  double widen = 1;
  for (int failed = 0; !decided();) {
    const ClipOutcome<T> last = m_outcome();
    if (last.usable == 0) return;
    if (last.longest_segment > m_capacity) {
      if (!can_reserve(last.longest_segment + last.longest_segment / 8)) return;
    } else {
      if (++failed > 3) return;
      widen *= 3;
    }
    enqueue(bands, widen);
    m_space.fence("kastor::sigma_clip::try_again");
  }
}

}  // namespace kastor::detail

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::detail::ClipPlan<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
