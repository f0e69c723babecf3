// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_ANSWER_HPP
#define KASTOR_APPS_BENCH_ANSWER_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kastor::bench {

/// All results of a step, as one list on the host. A 64-bit word holds 64 pixels of a mask.
using Numbers = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int32_t>,
                             std::vector<std::uint8_t>, std::vector<std::uint64_t>>;

/// A named figure for the table.
using Fact = std::variant<double, std::int64_t, std::string>;
using Facts = std::vector<std::pair<std::string, Fact>>;

struct Answer {
  Numbers numbers;
  Facts facts;
};

struct Comparison {
  bool identical = false;     ///< bit by bit
  double max_difference = 0;  ///< divided by the largest magnitude in the list; infinite if one of
                              ///< two numbers is not finite, or if the counts differ
};

[[nodiscard]] Comparison compare(const Numbers& reference, const Numbers& other);

/// Compares the numbers that both have. Each figure is compared as a list of one number.
[[nodiscard]] Comparison compare(const Facts& reference, const Facts& other);

}  // namespace kastor::bench

#endif
