// SPDX-License-Identifier: Apache-2.0
#include "sigma_clip/pass_clip.hpp"

#include <algorithm>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <string>
#include <vector>

#include "core/host_list.hpp"
#include "core/ranks.hpp"
#include "core/upload.hpp"
#include "sigma_clip/clip_plan.hpp"
#include "sigma_clip/multi_pass.hpp"
#include "sigma_clip/ranks_bins.hpp"

namespace kastor::detail {

template <class Exec, class T>
PassClip<Exec, T>::PassClip(const Exec& space, const SigmaClipParams& params)
    : m_space(space), m_params(params), m_steps(space, params), m_selector(space) {}

template <class Exec, class T>
SigmaClipResult PassClip<Exec, T>::operator()(Image& image, const ClipLevel& level,
                                              std::int64_t memory,
                                              const CandidateTaker<Exec, T>* candidates) {
  const std::int64_t pixels = image.pixels();
  Attempt outcome = Attempt::hopeless;
  m_candidates_hold = false;
  if (pixels >= smallest_sampled) {
    outcome = Attempt::failed;
    for (int failures = 0; outcome == Attempt::failed && failures <= most_failures; ++failures)
      outcome = attempt(image, m_steps.request(pixels, failures, level), memory, candidates);
  }
  SigmaClipResult result;
  if (outcome == Attempt::decided) {
    result = m_steps.outcome().result;
    result.route = ClipRoute::bracketed;
    m_candidates_hold = candidates != nullptr && m_steps.outcome().candidates_hold != 0;
  } else {
    result = multi_pass_clip<Exec, T>(m_space, image, m_selector, m_params);
  }
  expect_finite_pixels(result);
  return result;
}

template <class Exec, class T>
typename PassClip<Exec, T>::Attempt PassClip<Exec, T>::attempt(
    Image& image, const ClipRequest& request, std::int64_t memory,
    const CandidateTaker<Exec, T>* candidates) {
  m_steps.begin();
  sample(image, request);
  if (core::host_copy(m_space, m_steps.parts().brackets, 1).front().usable == 0)
    return Attempt::hopeless;
  core::agree_on(image.ranks(), "room", [&] {
    const std::int64_t expected = expected_pixels(image);
    // Another route would be slower by far, and give other last digits. Two lists are needed.
    const std::int64_t bytes = 2 * expected * std::int64_t{sizeof(T)};
    if (bytes > memory)
      throw ResourceError("kastor: the clip keeps about " + std::to_string(expected) + " of " +
                          std::to_string(image.own_pixels()) + " pixels, which takes " +
                          std::to_string(bytes) + " bytes; the memory given has " +
                          std::to_string(memory) + " for them");
    m_steps.reserve(expected + (1 << 16));
  });
  do {
    read(image, candidates);
  } while (!have_room(image));
  m_steps.sort();
  replay(image, request);
  return m_steps.outcome().decided != 0 ? Attempt::decided : Attempt::failed;
}

template <class Exec, class T>
void PassClip<Exec, T>::sample(Image& image, const ClipRequest& request) {
  using Word = core::Key<T>;
  const typename ClipSteps<Exec, T>::Parts& parts = m_steps.parts();
  const std::int64_t pixels = image.pixels();
  m_steps.clear(parts.rough_values, parts.rough_values + rough_size);
  for_each_sample(image, rough_places(pixels, request.attempt), [&](const SampledRows<T>& some) {
    m_steps.add_rough(some, request, pixels, false);
  });
  // A place is 0 on all ranks but the one that has its pixel.
  core::sum_counts_over(image.ranks(), m_space, reinterpret_cast<Word*>(parts.rough_values),
                        rough_size);
  m_steps.add_rough({{}, pixels, true}, request, pixels, true);
  for_each_sample(image, sample_places(pixels, request.attempt),
                  [&](const SampledRows<T>& some) { m_steps.add_sample(some, request, pixels); });
  core::sum_counts_over(image.ranks(), m_space, parts.histogram, SampleBins::count);
  m_steps.make_brackets(request);
}

template <class Exec, class T>
template <class Add>
void PassClip<Exec, T>::for_each_sample(Image& image, const SamplePlaces& places, const Add& add) {
  const std::int64_t nx = image.shape().nx;
  // Single pixels by the hundred thousand would be read more slowly than all of them.
  if (!image.can_seek() || (places.run_bits == 0 && places.count > 2 * rough_size)) {
    image.for_each_band([&](const ConstImage<T, Exec>& band, std::int64_t row) {
      add(SampledRows<T>{rows_of<T, Exec>(band), row * nx});
    });
    return;
  }
  constexpr std::int64_t at_once = std::int64_t{1} << 20;
  const std::int64_t run = std::int64_t{1} << places.run_bits;
  const std::int64_t past = places.before(image.past_row() * nx);
  core::agree_on(image.ranks(), "sample", [&] {
    std::vector<T> list;
    for (std::int64_t i = places.before(image.first_row() * nx); i < past;) {
      const std::int64_t first = i;
      list.resize(static_cast<std::size_t>(std::min(at_once, past - first)));
      const std::int64_t end = first + static_cast<std::int64_t>(list.size());
      for (std::int64_t next = 0; i < end; i = next) {
        next = std::min(end, (i / run + 1) * run);
        image.read_pixels(places.pixel(i),
                          std::span(list).subspan(static_cast<std::size_t>(i - first),
                                                  static_cast<std::size_t>(next - i)));
      }
      const auto copy = core::upload(m_space, "kastor::sigma_clip::sample", list);
      const auto n = static_cast<std::int64_t>(list.size());
      add(SampledRows<T>{{copy.data(), 1, n, n}, first, true});
      m_space.fence("kastor::sigma_clip: the sample is counted");
    }
  });
}

template <class Exec, class T>
std::int64_t PassClip<Exec, T>::expected_pixels(Image& image) const {
  const auto& parts = m_steps.parts();
  const auto b = core::host_copy(m_space, parts.brackets, 1).front();
  const SampleBins bins = core::host_copy(m_space, parts.rough, 1).front().bins();
  const auto histogram = core::host_copy(m_space, parts.histogram, SampleBins::count);
  double all = 0, gathered = 0;
  for (int bin = 0; bin < SampleBins::count; ++bin) {
    const double low = bins.centre + SampleBins::low_of(bin) / bins.per_unit;
    const double high = bins.centre + SampleBins::low_of(bin + 1) / bins.per_unit;
    const double n = histogram[static_cast<std::size_t>(bin)];
    const bool has_inside =
        high > static_cast<double>(b.low_edge) && low < static_cast<double>(b.high_edge);
    const bool has_window =
        high >= static_cast<double>(b.window_low) && low <= static_cast<double>(b.window_high);
    all += n;
    if (!has_inside || has_window) gathered += n;
  }
  // A rank's rows may differ from the sample of the whole image.
  const double share = all > 0 ? 1.25 * gathered / all : 1;
  const auto own = static_cast<double>(image.own_pixels());
  return static_cast<std::int64_t>(std::min(own, share * own));
}

template <class Exec, class T>
void PassClip<Exec, T>::read(Image& image, const CandidateTaker<Exec, T>* candidates) {
  const auto& parts = m_steps.parts();
  m_steps.clear(parts.totals, parts.past_counters);
  if (candidates != nullptr) candidates->begin();
  std::int64_t tiles = 0;
  image.for_each_band([&](const ConstImage<T, Exec>& band, std::int64_t row) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    BitMask<Exec> mask;
    if (candidates != nullptr) {
      mask.ny = rows.ny;
      mask.nx = rows.nx;
      const std::int64_t words = rows.ny * mask.words_per_row();
      core::grow(m_mask, m_space, "kastor::sigma_clip::candidates", words);
      m_steps.clear(m_mask.data(), m_mask.data() + words);
      mask.words = decltype(mask.words)(m_mask.data(), static_cast<std::size_t>(mask.ny),
                                        static_cast<std::size_t>(mask.words_per_row()));
    }
    m_steps.read(rows, mask.words.data(), tiles);
    tiles += m_steps.tiles_of(rows);
    if (candidates != nullptr) candidates->take(band, row, mask);
  });
}

template <class Exec, class T>
bool PassClip<Exec, T>::have_room(Image& image) {
  const Segments<T> segments = m_steps.segments();
  const auto counts =
      core::host_copy(m_space, segments.counts, Segment<T>::lists * segments.segments);
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < counts.size(); i += Segment<T>::lists)
    longest = std::max(longest, std::int64_t{counts[i]} + counts[i + 1]);
  const bool has_room = longest <= m_steps.capacity();
  std::uint64_t full[] = {has_room ? 0U : 1U};
  core::sum_over(image.ranks(), full);
  if (full[0] == 0) return true;
  core::agree_on(image.ranks(), "more room", [&] {
    if (!has_room) m_steps.reserve_segments(longest + longest / 8);
  });
  return false;
}

template <class Exec, class T>
void PassClip<Exec, T>::replay(Image& image, const ClipRequest& request) {
  if (image.ranks() == nullptr) {
    m_steps.replay(request, image.pixels());
    m_space.fence("kastor::sigma_clip::replay");
    return;
  }
  RanksBins<Exec, T> bins(m_space, *image.ranks(), m_steps);
  RanksTails<Exec, T> tails(bins);
  RanksWindow<Exec, T> window(bins);
  const InsideSums inside = bins.totals().sums();
  Replay<T, RanksTails<Exec, T>, RanksWindow<Exec, T>> clip(bins.brackets(), inside, tails, window);
  ClipOutcome<T>& out = m_steps.outcome();
  out = {};
  out.usable = 1;
  out.result.pixels = image.pixels();
  out.result.kappa = request.kappa;
  out.decided = clip(request.kappa, request.max_passes, out.result) ? 1 : 0;
  conclude(request, bins.brackets(), out);
}

}  // namespace kastor::detail

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::detail::PassClip<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
