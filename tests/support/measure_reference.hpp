// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_MEASURE_REFERENCE_HPP
#define KASTOR_TESTS_MEASURE_REFERENCE_HPP

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/catalogue.hpp>
#include <limits>
#include <vector>

#include "naive.hpp"

/// The bits of measured components by their definition, with library functions alone.
namespace testing_support {

/// A sum of terms |t| < 2^bits, each rounded once to a multiple of 2^(bits - 62).
class RoundedSum {
 public:
  void add(double term, int bits) {
    m_units += static_cast<std::int64_t>(std::floor(std::ldexp(term, 62 - bits) + 0.5));
  }
  [[nodiscard]] double total(int bits) const {
    const bool negative = m_units < 0;
    const auto size = static_cast<Unsigned>(negative ? -m_units : m_units);
    const double sum = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(size >> 64)), 64) +
                       static_cast<double>(static_cast<std::uint64_t>(size));
    return std::ldexp(negative ? -sum : sum, bits - 62);
  }

 private:
  __extension__ typedef __int128 Signed;             // NOLINT(modernize-use-using): for nvcc
  __extension__ typedef unsigned __int128 Unsigned;  // NOLINT(modernize-use-using)
  Signed m_units = 0;
};

/// The smallest b with n < 2^b.
[[nodiscard]] inline int bits_of(std::int64_t n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
}

/// Component by component: extents and largest pixels first, then sums run by run, each run from
/// left to right.
template <class T>
[[nodiscard]] kastor::Catalogue rows_by_definition(const HostImage<T>& image,
                                                   const HostRuns& runs) {
  struct Component {
    kastor::Source row{};
    int longest_run = 0;
    T largest = 0;  ///< of the magnitudes
    RoundedSum flux, x_moment, y_moment;
    int exponent = 0, flux_bits = 0, x_bits = 0, y_bits = 0;
  };
  std::vector<Component> components(static_cast<std::size_t>(runs.components));
  for (std::size_t i = 0; i < runs.label.size(); ++i) {
    if (runs.label[i] == 0) continue;
    Component& c = components[runs.label[i] - 1];
    kastor::Source& row = c.row;
    const std::int32_t y = runs.row[i], begin = runs.begin[i], end = runs.end[i];
    if (row.n_pix == 0) {
      row = {runs.label[i], 0, 0, 0, static_cast<double>(image(y, begin)), begin, y, 0,
             begin,         0, y, 0};
    }
    row.x_min = std::min(row.x_min, begin);
    row.x_max = std::max(row.x_max, end - 1);
    row.y_max = y;
    row.n_pix += end - begin;
    c.longest_run = std::max(c.longest_run, end - begin);
    for (std::int32_t x = begin; x < end; ++x) {
      c.largest = std::max(c.largest, std::fabs(image(y, x)));
      if (static_cast<double>(image(y, x)) > row.flux_peak) {
        row.flux_peak = static_cast<double>(image(y, x));
        row.x_peak = x;
        row.y_peak = y;
      }
    }
  }
  for (Component& c : components) {
    if (c.largest != 0) std::frexp(c.largest, &c.exponent);
    c.flux_bits = bits_of(c.longest_run);
    c.x_bits = c.flux_bits + bits_of(c.row.x_max - c.row.x_min);
    c.y_bits = c.flux_bits + bits_of(c.row.y_max - c.row.y_min);
  }
  for (std::size_t i = 0; i < runs.label.size(); ++i) {
    if (runs.label[i] == 0) continue;
    Component& c = components[runs.label[i] - 1];
    const int first = sizeof(T) == sizeof(float) ? -c.exponent : -c.exponent / 2;
    const double scale = std::ldexp(1.0, first), rest = std::ldexp(1.0, -c.exponent - first);
    double flux = 0, moment = 0;
    for (std::int32_t x = runs.begin[i]; x < runs.end[i]; ++x) {
      const double v = static_cast<double>(image(runs.row[i], x)) * scale * rest;
      flux += v;
      moment += v * static_cast<double>(x - c.row.x_min);
    }
    c.flux.add(flux, c.flux_bits);
    c.x_moment.add(moment, c.x_bits);
    c.y_moment.add(flux * static_cast<double>(runs.row[i] - c.row.y_min), c.y_bits);
  }
  kastor::Catalogue rows;
  for (Component& c : components) {
    kastor::Source& row = c.row;
    const double flux = c.flux.total(c.flux_bits);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    row.x_cen = flux == 0 ? nan : row.x_min + c.x_moment.total(c.x_bits) / flux;
    row.y_cen = flux == 0 ? nan : row.y_min + c.y_moment.total(c.y_bits) / flux;
    row.flux_sum = std::ldexp(flux, c.exponent);
    row.flux_peak += 0.0;  // -0 counts as +0
    rows.push_back(row);
  }
  return rows;
}

}  // namespace testing_support

#endif
