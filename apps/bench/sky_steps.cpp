// SPDX-License-Identifier: Apache-2.0
#include <kastor/sigma_clip.hpp>
#include <kastor/statistics.hpp>

#include "bench/sky.hpp"

namespace kastor::bench {
namespace {

Answer answer_of(const Statistics& s) {
  return {std::vector<double>{s.mean, s.median, s.std, s.min, s.max, static_cast<double>(s.count)},
          {{"mean", s.mean}, {"median", s.median}, {"std", s.std}, {"max", s.max}}};
}

template <class S>
Measured time_statistics(const S& sky) {
  Statistics result;
  const auto job = [&] { result = statistics(sky.space, sky.image); };
  Measured measured;
  measured.timing = sky.watch.time(job);
  measured.with_transfers = sky.watch.time_with_transfers(sky.upload(), job, no_transfer);
  measured.answer = answer_of(result);
  measured.items = sky.pixels();
  measured.bytes = sky.image_bytes();
  return measured;
}

template <class S>
Measured time_sigma_clip(const S& sky) {
  SigmaClipper<typename S::exec, typename S::real> clip(sky.space);
  SigmaClipResult result;
  const auto job = [&] { result = clip(sky.pixels_view()); };
  Measured measured;
  measured.timing = sky.watch.time(job);
  measured.with_transfers = sky.watch.time_with_transfers(sky.upload(), job, no_transfer);
  measured.answer = answer_of(result.clipped);
  measured.answer.facts.emplace_back("passes", std::int64_t{result.passes});
  measured.items = sky.pixels();
  measured.bytes = sky.image_bytes();
  return measured;
}

template <class S>
Measured time_segmentation(const S& sky) {
  using Exec = typename S::exec;
  const auto mask = make_bit_mask(sky.space, sky.size, sky.size);
  const auto host = host_twin(mask.words);
  const auto job = [&] {
    threshold_into<Exec, typename S::real>(sky.space, sky.pixels_view(), sky.level, mask);
  };
  Measured measured;
  measured.timing = sky.watch.time(job);
  measured.with_transfers = sky.watch.time_with_transfers(
      sky.upload(), job, [&] { Kokkos::deep_copy(sky.space, host, mask.words); });
  measured.answer = {numbers_of(sky.space, mask.words),
                     {{"foreground_pixels", count_foreground(sky.space, mask)}}};
  measured.items = sky.pixels();
  measured.bytes = sky.image_bytes() + mask_bytes(mask);
  return measured;
}

Measured run_statistics(const std::string& backend, const Images& images,
                        const TimingRules& rules) {
  return on_sky(backend, images, rules, [](const auto& sky) { return time_statistics(sky); });
}

Measured run_sigma_clip(const std::string& backend, const Images& images,
                        const TimingRules& rules) {
  return on_sky(backend, images, rules, [](const auto& sky) { return time_sigma_clip(sky); });
}

Measured run_segmentation(const std::string& backend, const Images& images,
                          const TimingRules& rules) {
  return on_sky(backend, images, rules, [](const auto& sky) { return time_segmentation(sky); });
}

}  // namespace

std::vector<Step> sky_steps() {
  return {{"statistics", "statistics of all pixels: mean, median, std, min, max", run_statistics},
          {"sigma_clip", "kappa-sigma clipping, 3 std", run_sigma_clip},
          {"segmentation", "segmentation: pixel > 5 clipped std, as a bit mask", run_segmentation}};
}

}  // namespace kastor::bench
