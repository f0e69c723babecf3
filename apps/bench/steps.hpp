// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_STEPS_HPP
#define KASTOR_APPS_BENCH_STEPS_HPP

#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/answer.hpp"
#include "bench/timing.hpp"

/// The steps of the course on GPU programming that Kastor grew out of, one after another on one
/// backend. The data are already in the memory of the backend. For a device, the steps are timed
/// also with the copies to and from it.
namespace kastor::bench {

/// The images in host memory, the same for every backend.
struct Images {
  std::int64_t size = 0;         ///< width and height [pixel]
  io::HostPixels<double> dirac;  ///< 1 at every 16th pixel of every 16th row
  std::variant<io::HostPixels<float>, io::HostPixels<double>> sky;
  double level = 0;  ///< 5 clipped standard deviations of the sky
};

/// One step on one backend.
struct Measured {
  Timing timing;
  std::optional<Timing> with_transfers;  ///< on devices only
  Answer answer;
  std::int64_t items = 0;  ///< pixels of the image, or candidates
  double bytes = 0;        ///< the input read once and the output written once
};

/// A step that every backend runs.
struct Step {
  const char* name;   ///< in the JSON, and for the peers
  const char* title;  ///< in the table
  Measured (*run)(const std::string& backend, const Images& images, const TimingRules& rules);
};

/// In the order of the course.
[[nodiscard]] const std::vector<Step>& steps();

/// Makes the images on the backend of that name.
[[nodiscard]] Images make_images(const std::string& backend, std::int64_t size, bool float64);

// One file each.
[[nodiscard]] std::vector<Step> convolution_steps();
[[nodiscard]] std::vector<Step> sky_steps();
[[nodiscard]] std::vector<Step> source_steps();
[[nodiscard]] std::vector<Step> prime_steps();

}  // namespace kastor::bench

#endif
