// SPDX-License-Identifier: Apache-2.0
#include "cli/options/environment.hpp"

#include <cstdlib>
#include <kastor/error.hpp>
#include <limits>
#include <string>
#include <string_view>

#include "cli/options/numbers.hpp"
#include "cli/run/backends.hpp"

namespace kastor::cli {
namespace {

constexpr int any_number = std::numeric_limits<int>::max();

void check(const char* variable, std::string_view text, int low, int high) {
  const auto number = whole_number<int>(text);
  if (number && *number >= low && *number <= high) return;
  const std::string least = std::to_string(low);
  const std::string range = high == any_number
                                ? "an integer, " + least + " or more"
                                : "an integer from " + least + " to " + std::to_string(high);
  throw Error(std::string(variable) + " in the environment: found '" + std::string(text) +
              "'; expected " + range);
}

}  // namespace

void check_kokkos_environment(std::size_t devices) {
  if (const char* threads = std::getenv("KOKKOS_NUM_THREADS")) {
    check("KOKKOS_NUM_THREADS", threads, 1, most_threads);
  }
  const auto last_of = [](std::size_t count) {
    return count == 0 ? any_number : static_cast<int>(count) - 1;
  };
  if (const char* visible = std::getenv("KOKKOS_VISIBLE_DEVICES")) {
    const int last = last_of(devices);
    std::string_view rest = visible;
    std::size_t count = 0;
    for (std::size_t comma = 0; comma != std::string_view::npos; ++count) {
      comma = rest.find(',');
      check("KOKKOS_VISIBLE_DEVICES", rest.substr(0, comma), 0, last);
      if (comma != std::string_view::npos) rest.remove_prefix(comma + 1);
    }
    if (devices > 0) devices = count;
  }
  if (const char* device = std::getenv("KOKKOS_DEVICE_ID")) {
    check("KOKKOS_DEVICE_ID", device, 0, last_of(devices));
  }
}

}  // namespace kastor::cli
