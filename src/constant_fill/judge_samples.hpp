// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONSTANT_FILL_JUDGE_SAMPLES_HPP
#define KASTOR_CONSTANT_FILL_JUDGE_SAMPLES_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "constant_fill/samples.hpp"

/// Which constants the samples show. On the host: of most images no sample repeats, and there is
/// nothing to do.
namespace kastor::detail {

inline constexpr std::int64_t fewest_repeats = 8;
inline constexpr std::int64_t fewest_fill = 12;  ///< samples of a constant
inline constexpr std::int64_t fewest_rest = 32;  ///< samples of none

/// The ordered keys from `low` to `high` are one constant.
template <class T>
struct Constant {
  core::Key<T> low, high;

  /// A little more than the numbers seen: the others have more neighbours.
  [[nodiscard]] Constant widened() const {
    constexpr core::Key<T> margin = fill_gap / 2;
    const auto finite = [](core::Key<T> key) { return core::is_finite(core::value_of<T>(key)); };
    const core::Key<T> below = low - margin;
    const core::Key<T> above = high + margin;
    return {finite(below) ? below : low, finite(above) ? above : high};
  }
};

/// A constant in one piece, and its neighbours among the values of the samples: the next levels of
/// an image of few values. Where there is none, the constant's own bound.
template <class T>
struct Candidate {
  Constant<T> numbers;
  T below, above;
};

/// What the samples say of a constant. A pair is two neighbouring finite samples; it is mixed if
/// one of them has the constant.
template <class T>
struct SampleCount {
  core::Key<T> lowest = std::numeric_limits<core::Key<T>>::max();
  core::Key<T> highest = 0;
  std::int64_t inside = 0;
  std::int64_t near = 0;  ///< samples just beside the constant
  std::int64_t mixed = 0;
};

/// Whether there are at most 1/part as many mixed pairs as if the n_inside pixels of a constant
/// were scattered at random among all.
[[nodiscard]] inline bool in_one_piece(std::int64_t mixed, std::int64_t pairs, std::int64_t inside,
                                       std::int64_t all, int part) {
  const double p = static_cast<double>(inside) / static_cast<double>(all);
  return part * static_cast<double>(mixed) <= 2 * p * (1 - p) * static_cast<double>(pairs);
}

/// Numbers of which many samples repeat their neighbour. A continuum of numbers is none of them: it
/// is a sky whose noise is as small as the last digits.
template <class T>
[[nodiscard]] std::vector<Constant<T>> repeated_constants(const std::vector<T>& samples,
                                                          const SampleGrid& grid) {
  std::vector<core::Key<T>> keys;
  for (std::int64_t i = 0; i < grid.count(); ++i) {
    if (repeats(samples.data(), grid, i))
      keys.push_back(core::key_of(samples[static_cast<std::size_t>(i)]));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Constant<T>> constants;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    for (end = begin + 1; end < keys.size() && keys[end] - keys[end - 1] <= fill_gap;) ++end;
    const Constant<T> constant{keys[begin], keys[end - 1]};
    if (static_cast<std::int64_t>(end - begin) >= fewest_repeats &&
        constant.high - constant.low <= 2 * fill_gap) {
      constants.push_back(constant.widened());
    }
  }
  return constants;
}

/// The index of the constant that has this key, or whose neighbourhood has it; none otherwise.
template <class T>
[[nodiscard]] std::optional<std::size_t> constant_near(const std::vector<Constant<T>>& constants,
                                                       core::Key<T> key) {
  constexpr core::Key<T> around = 8 * fill_gap;
  const auto after = std::upper_bound(
      constants.begin(), constants.end(), key,
      [](core::Key<T> k, const Constant<T>& constant) { return k < constant.low; });
  const auto index = static_cast<std::size_t>(after - constants.begin());
  if (index > 0) {
    const core::Key<T> high = constants[index - 1].high;
    if (key <= high || key - high <= around) return index - 1;
  }
  if (index < constants.size() && constants[index].low - key <= around) return index;
  return std::nullopt;
}

template <class T>
struct Membership {
  static constexpr int blank = -2, other = -1;
  std::vector<int> of_sample;          ///< a constant's index, `other` or `blank`
  std::vector<SampleCount<T>> counts;  ///< of each constant
  std::int64_t finite = 0;
  std::int64_t pairs = 0;

  Membership(const std::vector<Constant<T>>& constants, const std::vector<T>& samples,
             const SampleGrid& grid)
      : of_sample(samples.size(), blank), counts(constants.size()) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!core::is_finite(samples[i])) continue;
      ++finite;
      of_sample[i] = other;
      const auto key = core::key_of(samples[i]);
      const auto index = constant_near(constants, key);
      if (!index) continue;
      SampleCount<T>& count = counts[*index];
      if (key < constants[*index].low || key > constants[*index].high) {
        ++count.near;
        continue;
      }
      ++count.inside;
      count.lowest = std::min(count.lowest, key);
      count.highest = std::max(count.highest, key);
      of_sample[i] = static_cast<int>(*index);
    }
    const auto nx = static_cast<std::size_t>(grid.x.count);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if ((i + 1) % nx != 0) add_pair(of_sample[i], of_sample[i + 1]);
      if (i + nx < samples.size()) add_pair(of_sample[i], of_sample[i + nx]);
    }
  }

 private:
  void add_pair(int a, int b) {
    if (a == blank || b == blank) return;
    ++pairs;
    if (a == b) return;
    if (a >= 0) ++counts[static_cast<std::size_t>(a)].mixed;
    if (b >= 0) ++counts[static_cast<std::size_t>(b)].mixed;
  }
};

/// The samples that have no constant.
template <class T>
class Rest {
 public:
  explicit Rest(std::vector<T> samples) : m_sorted(std::move(samples)) {
    std::sort(m_sorted.begin(), m_sorted.end());
  }

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(m_sorted.size()); }

  /// The median and so many standard deviations of the samples that survive a clip at kappa 3.
  [[nodiscard]] double level_above(double deviations) const {
    std::size_t begin = 0, end = m_sorted.size();
    while (true) {
      const double centre = median(begin, end);
      double sum = 0, squares = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double d = static_cast<double>(m_sorted[i]) - centre;
        sum += d;
        squares += d * d;
      }
      const auto n = static_cast<double>(end - begin);
      const double std = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
      const auto former = end - begin;
      while (begin < end && static_cast<double>(m_sorted[begin]) <= centre - 3 * std) ++begin;
      while (begin < end && static_cast<double>(m_sorted[end - 1]) >= centre + 3 * std) --end;
      if (end == begin || end - begin == former) return centre + deviations * std;
    }
  }

  /// Whether the constant is where the rest begins: hardly any of it is below, and some is close
  /// above.
  [[nodiscard]] bool begins_at(T low, T high) const {
    const auto below = std::lower_bound(m_sorted.begin(), m_sorted.end(), low) - m_sorted.begin();
    if (64 * below >= count()) return false;
    const auto h = static_cast<double>(high);
    const double close = h + (median(0, m_sorted.size()) - h) / 8;
    const auto above = std::upper_bound(m_sorted.begin(), m_sorted.end(), high);
    const auto past = std::upper_bound(above, m_sorted.end(), close, [](double level, T x) {
      return level < static_cast<double>(x);
    });
    return 64 * (past - above) >= count();
  }

 private:
  [[nodiscard]] double median(std::size_t begin, std::size_t end) const {
    const auto n = end - begin;
    return core::midpoint(static_cast<double>(m_sorted[begin + (n - 1) / 2]),
                          static_cast<double>(m_sorted[begin + n / 2]));
  }

  std::vector<T> m_sorted;
};

template <class T>
[[nodiscard]] Candidate<T> candidate_of(const Constant<T>& seen, const std::vector<T>& samples) {
  // Several numbers may have more neighbours among the pixels than among the samples.
  const auto numbers = seen.low == seen.high ? seen : seen.widened();
  const T low = core::value_of<T>(numbers.low);
  const T high = core::value_of<T>(numbers.high);
  T below = -Kokkos::Experimental::infinity_v<T>;
  T above = Kokkos::Experimental::infinity_v<T>;
  for (const T x : samples) {  // NaN is neither below nor above
    if (x < low) below = std::max(below, x);
    if (x > high) above = std::min(above, x);
  }
  return {numbers, core::is_finite(below) ? below : low, core::is_finite(above) ? above : high};
}

/// The constants that are fill, as far as the samples tell.
template <class T>
[[nodiscard]] std::vector<Candidate<T>> judge_samples(const std::vector<T>& samples,
                                                      const SampleGrid& grid, double seed) {
  const auto constants = repeated_constants(samples, grid);
  if (constants.empty()) return {};
  const Membership<T> member(constants, samples, grid);
  std::vector<char> is_candidate(constants.size());
  for (std::size_t c = 0; c < constants.size(); ++c) {
    const SampleCount<T>& n = member.counts[c];
    is_candidate[c] = n.inside >= fewest_fill && 16 * n.near <= n.inside &&
                      in_one_piece(n.mixed, member.pairs, n.inside, member.finite, 3);
  }
  if (std::count(is_candidate.begin(), is_candidate.end(), 1) == 0) return {};
  std::vector<T> others;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const int of = member.of_sample[i];
    const bool rest =
        of == Membership<T>::other || (of >= 0 && is_candidate[static_cast<std::size_t>(of)] == 0);
    if (rest) others.push_back(samples[i]);
  }
  const Rest<T> rest(std::move(others));
  if (rest.count() < fewest_rest) return {};
  const double highest = rest.level_above(seed);
  std::vector<Candidate<T>> fill;
  for (std::size_t c = 0; c < constants.size(); ++c) {
    const Constant<T> seen{member.counts[c].lowest, member.counts[c].highest};
    const T low = core::value_of<T>(seen.low);
    const T high = core::value_of<T>(seen.high);
    if (is_candidate[c] != 0 && static_cast<double>(high) <= highest && !rest.begins_at(low, high))
      fill.push_back(candidate_of(seen, samples));
  }
  return fill;
}

}  // namespace kastor::detail

#endif
