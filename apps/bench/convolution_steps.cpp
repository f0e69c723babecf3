// SPDX-License-Identifier: Apache-2.0
#include <kastor/convolve.hpp>
#include <kastor/simulate.hpp>

#include "bench/steps.hpp"
#include "bench/stopwatch.hpp"

namespace kastor::bench {
namespace {

std::int64_t pixels_of(const Images& images) { return images.size * images.size; }

double bytes_of(std::int64_t doubles) { return 8 * static_cast<double>(doubles); }

double largest_of(const Numbers& numbers) {
  double largest = 0;
  for (const double number : std::get<std::vector<double>>(numbers)) {
    largest = number > largest ? number : largest;
  }
  return largest;
}

template <class Exec>
Measured time_dirac(const Exec& space, const Images& images, const TimingRules& rules) {
  const auto image = make_image<double>(space, images.dirac.extent(0), images.dirac.extent(1));
  const auto host = host_twin(image);
  const auto job = [&] { simulate_diracs<Exec, double>(space, 16, image); };
  const Stopwatch<Exec> watch(space, rules);
  Measured measured;
  measured.timing = watch.time(job);
  measured.with_transfers =
      watch.time_with_transfers(no_transfer, job, [&] { Kokkos::deep_copy(space, host, image); });
  auto numbers = numbers_of(space, image);
  std::int64_t points = 0;
  for (const double number : numbers) points += number == 1 ? 1 : 0;
  measured.answer = {std::move(numbers), {{"points", points}}};
  measured.items = pixels_of(images);
  measured.bytes = bytes_of(pixels_of(images));
  return measured;
}

/// Times `job`, which computes `result` from `image`, and keeps the result.
template <class Exec, class DeviceImage, class Result, class Job>
Measured time_convolution(const Exec& space, const Images& images, const DeviceImage& image,
                          const Result& result, const TimingRules& rules, const Job& job) {
  const auto host = host_twin(result);
  const Stopwatch<Exec> watch(space, rules);
  Measured measured;
  measured.timing = watch.time(job);
  measured.with_transfers =
      watch.time_with_transfers([&] { Kokkos::deep_copy(space, image, images.dirac); }, job,
                                [&] { Kokkos::deep_copy(space, host, result); });
  measured.answer.numbers = numbers_of(space, result);
  measured.answer.facts = {{"max", largest_of(measured.answer.numbers)}};
  measured.items = pixels_of(images);
  measured.bytes = bytes_of(pixels_of(images) + static_cast<std::int64_t>(result.size()));
  return measured;
}

template <class Exec>
Measured time_convolve(const Exec& space, ConvolveMethod method, const Images& images,
                       const TimingRules& rules) {
  const auto image = cli::readable_on(space, images.dirac);
  ConvolveParams params;
  params.method = method;
  Convolver<Exec, double> convolver(space, lesson_kernel(), params);
  const ImageShape shape = convolver.result_shape({images.size, images.size});
  const auto result = make_image<double>(space, static_cast<std::size_t>(shape.ny),
                                         static_cast<std::size_t>(shape.nx));
  auto measured = time_convolution(space, images, image, result, rules,
                                   [&] { convolver(as_const_image<Exec>(image), result); });
  const bool direct = convolver.method() == ConvolveMethod::direct;
  measured.answer.facts.emplace_back("method", direct ? "direct" : "separable");
  return measured;
}

std::vector<double> diagonal_of(const ConvolutionKernel& kernel) {
  std::vector<double> taps;
  taps.reserve(static_cast<std::size_t>(kernel.nx));
  for (std::int64_t i = 0; i < kernel.nx; ++i) taps.push_back(kernel.at(i, i));
  return taps;
}

template <class Exec>
using Signal = Kokkos::View<double*, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec>
Measured time_convolve_1d(const Exec& space, const Images& images, const TimingRules& rules) {
  const auto image = cli::readable_on(space, images.dirac);
  const std::vector<double> diagonal = diagonal_of(lesson_kernel());
  const Signal<Exec> taps("kastor::app::taps", diagonal.size());
  Kokkos::deep_copy(
      taps, Kokkos::View<const double*, Kokkos::HostSpace>(diagonal.data(), diagonal.size()));
  const Signal<Exec> result(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::result"),
      image.size() + diagonal.size() - 1);
  return time_convolution(space, images, image, result, rules, [&] {
    convolve_signal_into<Exec, double>(space, ConstSignal<double, Exec>(image.data(), image.size()),
                                       ConstSignal<double, Exec>(taps.data(), taps.size()), result);
  });
}

Measured run_dirac(const std::string& backend, const Images& images, const TimingRules& rules) {
  return on_backend<Measured>(backend,
                              [&](const auto& space) { return time_dirac(space, images, rules); });
}

template <ConvolveMethod method>
Measured run_convolve(const std::string& backend, const Images& images, const TimingRules& rules) {
  return on_backend<Measured>(
      backend, [&](const auto& space) { return time_convolve(space, method, images, rules); });
}

Measured run_convolve_1d(const std::string& backend, const Images& images,
                         const TimingRules& rules) {
  return on_backend<Measured>(
      backend, [&](const auto& space) { return time_convolve_1d(space, images, rules); });
}

}  // namespace

std::vector<Step> convolution_steps() {
  return {{"dirac", "Dirac image, float64", run_dirac},
          {"convolve", "convolve2d, mode full, 15 x 15 taps, float64, method automatic",
           run_convolve<ConvolveMethod::automatic>},
          {"convolve_direct", "convolve2d, mode full, 15 x 15 taps, float64, method direct",
           run_convolve<ConvolveMethod::direct>},
          {"convolve_1d", "1-D convolution, mode full, 15 taps, float64, the flattened image",
           run_convolve_1d}};
}

}  // namespace kastor::bench
