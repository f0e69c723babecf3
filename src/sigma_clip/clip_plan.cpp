// SPDX-License-Identifier: Apache-2.0
#include "sigma_clip/clip_plan.hpp"

#include <algorithm>
#include <kastor/detail/instantiations.hpp>
#include <string>

#include "core/image_passes.hpp"
#include "sigma_clip/multi_pass.hpp"

namespace kastor::detail {

template <class Exec, class T>
ClipPlan<Exec, T>::ClipPlan(const Exec& space, const SigmaClipParams& params)
    : m_space(space), m_params(params), m_steps(space, params), m_selector(space) {}

template <class Exec, class T>
void ClipPlan<Exec, T>::start(Bands<T, Exec> bands, const ClipLevel& level, std::uint64_t* mask) {
  const Shape shape = shape_of<T, Exec>("kastor::sigma_clip", bands);
  m_pixels = shape.ny * shape.nx;
  m_level = level;
  m_mask = mask;
  m_words = shape.ny * ((shape.nx + 63) / 64);
  m_steps.outcome() = ClipOutcome<T>{};
  m_started = m_pixels >= smallest_sampled;
  if (!m_started) return;
  m_steps.reserve(std::max<std::int64_t>(m_pixels / 32, std::min<std::int64_t>(m_pixels, 1 << 18)));
  enqueue(bands, 0);
}

template <class Exec, class T>
SigmaClipResult ClipPlan<Exec, T>::finish(Bands<T, Exec> bands) {
  if (m_started && !decided()) try_again(bands);
  SigmaClipResult result;
  if (m_started && decided()) {
    result = m_steps.outcome().result;
    result.route = ClipRoute::bracketed;
  } else {
    core::BandPasses<Exec, T> image("kastor::sigma_clip", bands);
    result = multi_pass_clip<Exec, T>(m_space, image, m_selector, m_params);
  }
  expect_finite_pixels(result);
  return result;
}

template <class Exec, class T>
template <class Visit>
void ClipPlan<Exec, T>::for_each_band(Bands<T, Exec> bands, const Visit& visit) const {
  std::int64_t before = 0;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    const std::int64_t pixels = rows.ny * rows.nx;
    if (pixels > 0) visit(rows, before, before + pixels == m_pixels);
    before += pixels;
  }
}

template <class Exec, class T>
void ClipPlan<Exec, T>::enqueue(Bands<T, Exec> bands, int attempt) {
  const ClipRequest request = m_steps.request(m_pixels, attempt, m_level);
  m_steps.begin();
  if (m_mask != nullptr) m_steps.clear(m_mask, m_mask + m_words);
  for_each_band(bands, [&](const Rows<T>& band, std::int64_t before, bool is_last) {
    m_steps.add_rough({band, before}, request, m_pixels, is_last);
  });
  for_each_band(bands, [&](const Rows<T>& band, std::int64_t before, bool) {
    m_steps.add_sample({band, before}, request, m_pixels);
  });
  m_steps.make_brackets(request);
  std::uint64_t* mask = m_mask;
  for_each_band(bands, [&](const Rows<T>& band, std::int64_t, bool) {
    m_steps.read(band, mask);
    if (mask != nullptr) mask += core::WordRows<T>(band).words();
  });
  m_steps.sort();
  m_steps.replay(request, m_pixels);
}

template <class Exec, class T>
void ClipPlan<Exec, T>::try_again(Bands<T, Exec> bands) {
  for (int failures = 0; !decided();) {
    const ClipOutcome<T> last = m_steps.outcome();
    if (last.usable == 0) return;
    if (last.longest_segment > m_steps.capacity()) {
      if (!m_steps.can_reserve(last.longest_segment + last.longest_segment / 8)) return;
    } else if (++failures > most_failures) {
      return;
    }
    enqueue(bands, failures);
    m_space.fence("kastor::sigma_clip::try_again");
  }
}

void expect_finite_pixels(const SigmaClipResult& result) {
  KASTOR_EXPECTS("kastor::sigma_clip", result.blank < result.pixels,
                 "all " + std::to_string(result.pixels) +
                     " pixels are blank; expected at least one finite pixel");
}

}  // namespace kastor::detail

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::detail::ClipPlan<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
