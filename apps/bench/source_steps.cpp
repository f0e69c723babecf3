// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/label.hpp>
#include <kastor/measure.hpp>
#include <kastor/source_finder.hpp>

#include "bench/sky.hpp"

namespace kastor::bench {
namespace {

/// The bytes of the entries of a list.
template <class View>
double bytes_of(const View& view) {
  return static_cast<double>(view.size() * sizeof(typename View::value_type));
}

double bytes_of(const Catalogue& sources) {
  return static_cast<double>(sources.size() * sizeof(Source));
}

/// The used part of a list: the lists of a labeller never shrink.
template <class List>
auto first_of(const List& list, std::int64_t count) {
  return Kokkos::subview(list, Kokkos::make_pair(std::int64_t{0}, count));
}

Answer answer_of(const Catalogue& sources) {
  std::vector<double> numbers;
  double brightest = 0;
  for (const Source& s : sources) {
    for (const std::int64_t n : std::initializer_list<std::int64_t>{
             s.id, s.x_peak, s.y_peak, s.n_pix, s.x_min, s.x_max, s.y_min, s.y_max}) {
      numbers.push_back(static_cast<double>(n));
    }
    for (const double x : {s.x_cen, s.y_cen, s.flux_sum, s.flux_peak}) numbers.push_back(x);
    brightest = std::max(brightest, s.flux_sum);
  }
  return {std::move(numbers),
          {{"sources", static_cast<std::int64_t>(sources.size())},
           {"brightest_sum", brightest},
           {"catalogue_hash", io::catalogue_hash(sources)}}};
}

template <class S>
Measured time_label(const S& sky) {
  using Exec = typename S::exec;
  const auto mask = threshold(sky.space, sky.image, sky.level);
  const auto mask_on_host = host_twin(mask.words);
  Kokkos::deep_copy(sky.space, mask_on_host, mask.words);
  Labeller<Exec> label(sky.space);
  const RunLabels<Exec>& labels = label(mask);
  const auto list = first_of(labels.label, labels.runs);
  const auto list_on_host = host_twin(list);
  const auto job = [&] { (void)label(mask); };
  Measured measured;
  measured.timing = sky.watch.time(job);
  measured.with_transfers =
      sky.watch.time_with_transfers([&] { Kokkos::deep_copy(sky.space, mask.words, mask_on_host); },
                                    job, [&] { Kokkos::deep_copy(sky.space, list_on_host, list); });
  const auto numbers = numbers_of(sky.space, list);
  measured.answer = {std::vector<double>(numbers.begin(), numbers.end()),
                     {{"sources", labels.components}, {"runs", labels.runs}}};
  measured.items = sky.pixels();
  // A run has a begin, an end, a row and a label.
  measured.bytes = mask_bytes(mask) + 4 * bytes_of(list);
  return measured;
}

template <class S>
Measured time_label_image(const S& sky) {
  using Exec = typename S::exec;
  const auto mask = threshold(sky.space, sky.image, sky.level);
  const auto mask_on_host = host_twin(mask.words);
  Kokkos::deep_copy(sky.space, mask_on_host, mask.words);
  Labeller<Exec> label(sky.space);
  const auto image = make_image<std::int32_t>(sky.space, sky.image.extent(0), sky.image.extent(1));
  const auto image_on_host = host_twin(image);
  std::int64_t components = 0;
  const auto job = [&] {
    const auto& labels = label(mask);
    write_labels<Exec, std::int32_t>(sky.space, labels, image);
    components = labels.components;
  };
  Measured measured;
  measured.timing = sky.watch.time(job);
  measured.with_transfers = sky.watch.time_with_transfers(
      [&] { Kokkos::deep_copy(sky.space, mask.words, mask_on_host); }, job,
      [&] { Kokkos::deep_copy(sky.space, image_on_host, image); });
  measured.answer = {numbers_of(sky.space, image), {{"sources", components}}};
  measured.items = sky.pixels();
  measured.bytes = mask_bytes(mask) + bytes_of(image);
  return measured;
}

template <class S>
Measured time_measure(const S& sky) {
  using Exec = typename S::exec;
  const auto mask = threshold(sky.space, sky.image, sky.level);
  Labeller<Exec> label(sky.space);
  const RunLabels<Exec>& labels = label(mask);
  Measurer<Exec, typename S::real> measure(sky.space);
  Catalogue sources;
  const auto job = [&] { sources = to_host<Exec>(sky.space, measure(sky.pixels_view(), labels)); };
  Measured measured;
  measured.timing = sky.watch.time(job);
  measured.with_transfers = sky.watch.time_with_transfers(sky.upload(), job, no_transfer);
  measured.answer = answer_of(sources);
  measured.items = sky.pixels();
  measured.bytes = static_cast<double>(labels.foreground_pixels) *
                       static_cast<double>(sizeof(typename S::real)) +
                   bytes_of(sources);
  return measured;
}

template <class S>
Measured time_pipeline(const S& sky) {
  SourceFinder<typename S::exec, typename S::real> find(sky.space);
  FindResult result;
  const auto job = [&] { result = find(sky.pixels_view()); };
  Measured measured;
  measured.timing = sky.watch.time(job);
  measured.with_transfers = sky.watch.time_with_transfers(sky.upload(), job, no_transfer);
  measured.answer = answer_of(result.sources);
  measured.items = sky.pixels();
  measured.bytes = sky.image_bytes() + bytes_of(result.sources);
  return measured;
}

Measured run_label(const std::string& backend, const Images& images, const TimingRules& rules) {
  return on_sky(backend, images, rules, [](const auto& sky) { return time_label(sky); });
}

Measured run_label_image(const std::string& backend, const Images& images,
                         const TimingRules& rules) {
  return on_sky(backend, images, rules, [](const auto& sky) { return time_label_image(sky); });
}

Measured run_measure(const std::string& backend, const Images& images, const TimingRules& rules) {
  return on_sky(backend, images, rules, [](const auto& sky) { return time_measure(sky); });
}

Measured run_pipeline(const std::string& backend, const Images& images, const TimingRules& rules) {
  return on_sky(backend, images, rules, [](const auto& sky) { return time_pipeline(sky); });
}

}  // namespace

std::vector<Step> source_steps() {
  return {{"label", "labelling of the mask, as runs", run_label},
          {"label_image", "labelling of the mask, as an int32 image", run_label_image},
          {"measure", "measuring: sums, centres, peaks, bounding boxes", run_measure},
          {"pipeline", "whole pipeline: clip, segment, label, measure", run_pipeline}};
}

}  // namespace kastor::bench
