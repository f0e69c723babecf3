// SPDX-License-Identifier: Apache-2.0
// The figures of the course behind Kastor, on its own image, where a user has it.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <kastor/io/fits_image.hpp>
#include <kastor/source_finder.hpp>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

/// Equal to a figure that was printed with so many significant digits.
void expect_printed(double value, double printed, int digits, const char* what) {
  const double last_digit =
      std::pow(10.0, std::floor(std::log10(std::fabs(printed))) - (digits - 1));
  EXPECT_NEAR(value, printed, 0.51 * last_digit) << what;
}

TEST(Lesson, FiguresOfTheCourseAreReproduced) {
  const char* const path = std::getenv("KASTOR_LESSON_IMAGE");
  if (path == nullptr) {
    GTEST_SKIP() << "set KASTOR_LESSON_IMAGE to a copy of GMRT_image_of_Galactic_Center.fits";
  }
  std::ifstream file(KASTOR_DATA_DIR "/lesson.json");
  const auto lesson = nlohmann::json::parse(file);
  const kastor::io::FitsImage image = kastor::io::read_image(path);
  const kastor::FindResult found = std::visit(
      [](const auto& pixels) { return kastor::find_sources(Host{}, pixels); }, image.pixels);

  const int digits = lesson["printed_digits"];
  const auto compare = [&](const kastor::Statistics& got, const nlohmann::json& want) {
    expect_printed(got.mean, want["mean"], digits, "mean");
    expect_printed(got.median, want["median"], digits, "median");
    expect_printed(got.std, want["std"], digits, "std");
    expect_printed(got.max, want["max"], digits, "max");
  };
  compare(found.clip.all, lesson["all"]);
  compare(found.clip.clipped, lesson["clipped"]);
  EXPECT_EQ(found.sources.size(), lesson["sources"].get<std::size_t>());
  std::vector<double> sums;
  for (const kastor::Source& source : found.sources) sums.push_back(source.flux_sum);
  std::sort(sums.begin(), sums.end());
  const std::vector<double> largest = lesson["ten_largest_sums"];
  ASSERT_GE(sums.size(), largest.size());
  for (std::size_t i = 0; i < largest.size(); ++i) {
    EXPECT_NEAR(sums[sums.size() - largest.size() + i], largest[i], 1e-6 * largest[i]);
  }
}

}  // namespace
