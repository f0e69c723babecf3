// SPDX-License-Identifier: Apache-2.0
#include "bench/host_steps.hpp"

#include <chrono>
#include <kastor/convolution_kernel.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/version.hpp>

namespace kastor::bench {
namespace {

template <class Job>
Timing time(const TimingRules& rules, const Job& job) {
  return repeat(rules, [&] {
    const auto start = std::chrono::steady_clock::now();
    job();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
}

StepRows one_row(const char* name, const char* title, Timing timing, Facts facts) {
  Row row;
  row.kind = RowKind::host;
  row.who = "host";
  row.timing = std::move(timing);
  row.facts = std::move(facts);
  StepRows step;
  step.name = name;
  step.title = title;
  step.rows.push_back(std::move(row));
  return step;
}

/// The bytes in the file and in memory.
double bytes_of(const Images& images) {
  return std::visit(
      [](const auto& sky) {
        using T = typename std::decay_t<decltype(sky)>::value_type;
        return 2 * static_cast<double>(sky.size()) * static_cast<double>(sizeof(T));
      },
      images.sky);
}

template <class T>
Numbers pixels_of(const io::HostPixels<T>& pixels) {
  return std::vector<T>(pixels.data(), pixels.data() + pixels.size());
}

Numbers pixels_of(const std::variant<io::HostPixels<float>, io::HostPixels<double>>& pixels) {
  return std::visit([](const auto& view) { return pixels_of(view); }, pixels);
}

}  // namespace

StepRows time_kernel(const TimingRules& rules) {
  ConvolutionKernel kernel;
  auto timing = time(rules, [&] { kernel = lesson_kernel(); });
  double sum = 0;
  for (const double tap : kernel.taps) sum += tap;
  auto step = one_row("kernel", "Gaussian kernel, 15 x 15 taps", std::move(timing), {{"sum", sum}});
  step.items = kernel.ny * kernel.nx;
  step.bytes = 8 * static_cast<double>(step.items);
  return step;
}

StepRows time_fits_write(const Images& images, const std::string& path, const TimingRules& rules) {
  io::Provenance provenance;
  provenance.version = version();
  provenance.command_line = "kastor bench";
  auto timing = time(rules, [&] {
    std::visit([&](const auto& sky) { io::write_image(path, io::pixel_rows(sky), {}, provenance); },
               images.sky);
  });
  auto step = one_row("fits_write", "writing the sky as FITS", std::move(timing), {});
  step.items = images.size * images.size;
  step.bytes = bytes_of(images);
  return step;
}

StepRows time_fits_read(const Images& images, const std::string& path, const TimingRules& rules) {
  io::FitsImage image;
  auto timing = time(rules, [&] { image = io::read_image(path); });
  auto step = one_row("fits_read", "reading it back", std::move(timing), {});
  step.items = images.size * images.size;
  step.bytes = bytes_of(images);
  step.rows.front().compared = compare(pixels_of(images.sky), pixels_of(image.pixels));
  return step;
}

}  // namespace kastor::bench
