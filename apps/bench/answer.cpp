// SPDX-License-Identifier: Apache-2.0
#include "bench/answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

namespace kastor::bench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Number>
bool same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0);
}

template <class Number>
double max_difference(const std::vector<Number>& a, const std::vector<Number>& b) {
  if (a.size() != b.size()) return infinity;
  if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return same_bits(a, b) ? 0 : 1;  // the pixels are 0 or 1
  } else {
    double difference = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(a[i]);
      const auto y = static_cast<double>(b[i]);
      if (std::isfinite(x) && std::isfinite(y)) {
        difference = std::max(difference, std::abs(x - y));
        magnitude = std::max({magnitude, std::abs(x), std::abs(y)});
      } else if (!(std::isnan(x) && std::isnan(y)) && x != y) {
        return infinity;
      }
    }
    return magnitude > 0 ? difference / magnitude : 0;
  }
}

std::optional<double> number_of(const Fact& fact) {
  if (const auto* real = std::get_if<double>(&fact)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&fact)) return static_cast<double>(*whole);
  return std::nullopt;
}

}  // namespace

Comparison compare(const Numbers& reference, const Numbers& other) {
  if (reference.index() != other.index()) return {false, infinity};
  return std::visit(
      [&other](const auto& a) {
        const auto& b = std::get<std::decay_t<decltype(a)>>(other);
        const bool identical = same_bits(a, b);
        return Comparison{identical, identical ? 0 : max_difference(a, b)};
      },
      reference);
}

Comparison compare(const Facts& reference, const Facts& other) {
  Comparison all{true, 0};
  for (const auto& [name, fact] : reference) {
    for (const auto& [other_name, other_fact] : other) {
      const auto a = number_of(fact);
      const auto b = number_of(other_fact);
      if (name != other_name || !a || !b) continue;
      const Comparison one = compare(Numbers(std::vector{*a}), Numbers(std::vector{*b}));
      all.identical = all.identical && one.identical;
      all.max_difference = std::max(all.max_difference, one.max_difference);
    }
  }
  return all;
}

}  // namespace kastor::bench
