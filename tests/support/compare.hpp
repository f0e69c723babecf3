// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_COMPARE_HPP
#define KASTOR_TESTS_COMPARE_HPP

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ios>
#include <kastor/catalogue.hpp>
#include <kastor/error.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/statistics.hpp>
#include <limits>
#include <string>

#include "naive.hpp"

namespace testing_support {

// --------------------------------------------------------------------------- bit for bit

/// Collects the fields that differ.
class FieldComparison {
 public:
  FieldComparison& field(const char* name, double a, double b) {
    if (std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b)) {
      m_differences << ' ' << name << ": " << std::hexfloat << a << " and " << b
                    << std::defaultfloat << ';';
      m_same = false;
    }
    return *this;
  }
  template <std::integral Number>
  FieldComparison& field(const char* name, Number a, Number b) {
    if (a != b) {
      m_differences << ' ' << name << ": " << a << " and " << b << ';';
      m_same = false;
    }
    return *this;
  }
  FieldComparison& fields(const std::string& name, const kastor::Statistics& a,
                          const kastor::Statistics& b) {
    static_assert(sizeof(kastor::Statistics) == 6 * sizeof(double),
                  "a new figure is compared here");
    field((name + ".mean").c_str(), a.mean, b.mean);
    field((name + ".median").c_str(), a.median, b.median);
    field((name + ".std").c_str(), a.std, b.std);
    field((name + ".min").c_str(), a.min, b.min);
    field((name + ".max").c_str(), a.max, b.max);
    return field((name + ".count").c_str(), a.count, b.count);
  }
  [[nodiscard]] ::testing::AssertionResult result() const {
    if (m_same) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "these fields differ:" << m_differences.GetString();
  }

 private:
  ::testing::Message m_differences;
  bool m_same = true;
};

[[nodiscard]] inline ::testing::AssertionResult same_bits(const kastor::Statistics& a,
                                                          const kastor::Statistics& b) {
  return FieldComparison().fields("statistics", a, b).result();
}

[[nodiscard]] inline ::testing::AssertionResult same_bits(const kastor::SigmaClipResult& a,
                                                          const kastor::SigmaClipResult& b) {
  return FieldComparison()
      .fields("all", a.all, b.all)
      .fields("clipped", a.clipped, b.clipped)
      .field("kappa", a.kappa, b.kappa)
      .field("pixels", a.pixels, b.pixels)
      .field("blank", a.blank, b.blank)
      .field("passes", std::int64_t{a.passes}, std::int64_t{b.passes})
      .field("converged", std::int64_t{a.converged}, std::int64_t{b.converged})
      .field("degenerate", std::int64_t{a.degenerate}, std::int64_t{b.degenerate})
      .field("route", static_cast<std::int64_t>(a.route), static_cast<std::int64_t>(b.route))
      .result();
}

/// All but the id, which counts the components before this one.
[[nodiscard]] inline ::testing::AssertionResult same_figures(const kastor::Source& a,
                                                             const kastor::Source& b) {
  return FieldComparison()
      .field("x_cen", a.x_cen, b.x_cen)
      .field("y_cen", a.y_cen, b.y_cen)
      .field("flux_sum", a.flux_sum, b.flux_sum)
      .field("flux_peak", a.flux_peak, b.flux_peak)
      .field("x_peak", a.x_peak, b.x_peak)
      .field("y_peak", a.y_peak, b.y_peak)
      .field("n_pix", a.n_pix, b.n_pix)
      .field("x_min", a.x_min, b.x_min)
      .field("x_max", a.x_max, b.x_max)
      .field("y_min", a.y_min, b.y_min)
      .field("y_max", a.y_max, b.y_max)
      .result();
}

[[nodiscard]] inline ::testing::AssertionResult same_bits(const kastor::Catalogue& a,
                                                          const kastor::Catalogue& b) {
  if (a.size() != b.size()) {
    return ::testing::AssertionFailure() << a.size() << " rows and " << b.size() << " rows";
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].id != b[i].id) {
      return ::testing::AssertionFailure()
             << "row " << i << ": ids " << a[i].id << " and " << b[i].id;
    }
    if (auto same = same_figures(a[i], b[i]); !same) return same << " in row " << i;
  }
  return ::testing::AssertionSuccess();
}

/// Pixel by pixel, all bits; prints the first mismatch.
template <class Value>
[[nodiscard]] ::testing::AssertionResult same_pixels(const HostGrid<Value>& got,
                                                     const HostGrid<Value>& want) {
  if (got.ny != want.ny || got.nx != want.nx) {
    return ::testing::AssertionFailure()
           << "shape " << got.ny << " x " << got.nx << ", expected " << want.ny << " x " << want.nx;
  }
  std::int64_t mismatches = 0;
  std::int64_t first_y = 0;
  std::int64_t first_x = 0;
  for (std::int64_t y = 0; y < got.ny; ++y) {
    for (std::int64_t x = 0; x < got.nx; ++x) {
      if constexpr (std::is_floating_point_v<Value>) {
        // The bits: -0 is not 0, and a NaN equals the same NaN.
        if (std::memcmp(&got(y, x), &want(y, x), sizeof(Value)) == 0) continue;
      } else {
        if (got(y, x) == want(y, x)) continue;
      }
      if (mismatches++ == 0) {
        first_y = y;
        first_x = x;
      }
    }
  }
  if (mismatches == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << mismatches << " of " << got.ny << " x " << got.nx
         << " pixels differ, first at (y, x) = (" << first_y << ", " << first_x
         << "): " << got(first_y, first_x) << ", expected " << want(first_y, first_x);
}

// ---------------------------------------------------------------- against the references

/// Counts and order statistics exactly, mean and std within 1e-12 std (a mean can be no better than
/// its own last bit).
inline void expect_matches_naive(const kastor::Statistics& got, const kastor::Statistics& want,
                                 const std::string& what) {
  constexpr double last_bit = std::numeric_limits<double>::epsilon();
  EXPECT_EQ(got.count, want.count) << what;
  EXPECT_EQ(got.median, want.median) << what;
  EXPECT_EQ(got.min, want.min) << what;
  EXPECT_EQ(got.max, want.max) << what;
  EXPECT_NEAR(got.mean, want.mean, 1e-12 * want.std + last_bit * std::fabs(want.mean)) << what;
  EXPECT_NEAR(got.std, want.std, 1e-12 * want.std) << what;
}

inline void expect_matches_naive(const kastor::SigmaClipResult& got,
                                 const kastor::SigmaClipResult& want, const std::string& what) {
  expect_matches_naive(got.all, want.all, what + ", all pixels");
  expect_matches_naive(got.clipped, want.clipped, what + ", clipped");
  EXPECT_EQ(got.kappa, want.kappa) << what;
  EXPECT_EQ(got.pixels, want.pixels) << what;
  EXPECT_EQ(got.blank, want.blank) << what;
  EXPECT_EQ(got.passes, want.passes) << what;
  EXPECT_EQ(got.converged, want.converged) << what;
  EXPECT_EQ(got.degenerate, want.degenerate) << what;
}

inline void expect_matches_naive(const HostRuns& got, const HostRuns& want,
                                 const std::string& what) {
  EXPECT_EQ(got.ny, want.ny) << what;
  EXPECT_EQ(got.nx, want.nx) << what;
  EXPECT_EQ(got.components, want.components) << what;
  EXPECT_EQ(got.foreground_pixels, want.foreground_pixels) << what;
  ASSERT_EQ(got.runs, want.runs) << what;
  for (std::size_t i = 0; i < want.begin.size(); ++i) {
    const bool same = got.row[i] == want.row[i] && got.begin[i] == want.begin[i] &&
                      got.end[i] == want.end[i] && got.label[i] == want.label[i];
    ASSERT_TRUE(same) << what << ": run " << i << " is row " << got.row[i] << " [" << got.begin[i]
                      << ", " << got.end[i] << ") label " << got.label[i] << ", expected row "
                      << want.row[i] << " [" << want.begin[i] << ", " << want.end[i] << ") label "
                      << want.label[i];
  }
  ASSERT_EQ(got.first_run, want.first_run) << what;
}

/// Counts, boxes and peaks exactly. Sums within 1e-12 of the sum of magnitudes; for pixels of one
/// sign that is a relative error. Centres as accurate as the two sums behind them.
inline void expect_matches_naive(const kastor::Catalogue& got, const std::vector<NaiveSource>& want,
                                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const kastor::Source& a = got[i];
    const kastor::Source& b = want[i].source;
    const std::string where = what + ", source " + std::to_string(b.id);
    EXPECT_EQ(a.id, b.id) << where;
    kastor::Source exact = a;
    EXPECT_EQ(a.flux_peak, b.flux_peak) << where;  // the two zeros are equal
    exact.flux_peak = b.flux_peak;
    exact.flux_sum = b.flux_sum;
    exact.x_cen = b.x_cen;
    exact.y_cen = b.y_cen;
    EXPECT_TRUE(same_figures(exact, b)) << where;
    EXPECT_NEAR(a.flux_sum, b.flux_sum, 1e-12 * want[i].absolute_sum) << where;
    EXPECT_EQ(std::isnan(a.x_cen), std::isnan(b.x_cen)) << where;
    EXPECT_EQ(std::isnan(a.y_cen), std::isnan(b.y_cen)) << where;
    if (!std::isnan(a.x_cen) && !std::isnan(b.x_cen)) {
      const double cancellation = want[i].absolute_sum / std::fabs(b.flux_sum);
      const auto largest_x = static_cast<double>(b.x_max + 1);
      const auto largest_y = static_cast<double>(b.y_max + 1);
      EXPECT_NEAR(a.x_cen, b.x_cen, 1e-12 * largest_x * (1 + cancellation)) << where;
      EXPECT_NEAR(a.y_cen, b.y_cen, 1e-12 * largest_y * (1 + cancellation)) << where;
    }
    if (::testing::Test::HasFailure()) return;  // the first bad source says enough
  }
}

// --------------------------------------------------------------------------------- errors

/// `call` throws `kastor::Error`, and its message contains all of `parts`.
template <class Call>
void expect_error(const Call& call, std::initializer_list<const char*> parts) {
  try {
    call();
    ADD_FAILURE() << "no kastor::Error was thrown";
  } catch (const kastor::Error& error) {
    const std::string message = error.what();
    for (const char* part : parts) {
      EXPECT_NE(message.find(part), std::string::npos)
          << "\"" << part << "\" is missing from: " << message;
    }
  }
}

}  // namespace testing_support

#endif
