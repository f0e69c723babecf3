// SPDX-License-Identifier: Apache-2.0

// Bins of very many pixels, which a device's clip refines before its passes look in them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <kastor/detail/refined_bins.hpp>
#include <kastor/sigma_clip.hpp>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "emulated_clip.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

constexpr std::int64_t side_of_image = 1500;
/// Groups of bins are joined at the begin of their memory, or at its end.
constexpr ts::Division alone{3, 2048, ts::all_alone, 1, false, 0, 16384, 64};
constexpr ts::Division shared{3, 2048, 600, 1, false, 0, 16384, 64};
constexpr ts::Division in_bands{3, 2048, 600, 4, false, 0, 16384, 64};

enum class Sides { upper, lower, both };

template <class T>
[[nodiscard]] std::vector<int> bins_of(const kd::RefinedBins<T>& refined) {
  std::vector<int> bins;
  std::copy_if(std::begin(refined.bin), std::end(refined.bin), std::back_inserter(bins),
               [](std::int32_t bin) { return bin != kd::RefinedBins<T>::none; });
  return bins;
}

/// The passes of a clip, plainly.
struct PlainPasses {
  std::vector<double> high_limits, medians;
};
template <class T>
[[nodiscard]] PlainPasses plain_passes(const ts::HostImage<T>& image) {
  std::vector<double> left(image.values.begin(), image.values.end());
  std::sort(left.begin(), left.end());
  PlainPasses passes;
  for (;;) {
    double sum = 0, squares = 0;
    for (const double x : left) sum += x;
    const auto n = static_cast<double>(left.size());
    for (const double x : left) squares += (x - sum / n) * (x - sum / n);
    const double median = 0.5 * (left[(left.size() - 1) / 2] + left[left.size() / 2]);
    const double reach = 3 * std::sqrt(squares / n);
    passes.medians.push_back(median);
    passes.high_limits.push_back(median + reach);
    const auto end = std::lower_bound(left.begin(), left.end(), median + reach);
    const auto begin = std::upper_bound(left.begin(), end, median - reach);
    if (begin == left.begin() && end == left.end()) return passes;
    left.erase(end, left.end());
    left.erase(left.begin(), begin);
  }
}

/// Of the places where the passes look, how many are in bins that were refined.
template <class BinOf>
[[nodiscard]] std::int64_t count_in(const std::vector<int>& bins, const std::vector<double>& places,
                                    const BinOf& bin_of) {
  return std::count_if(places.begin(), places.end(), [&](double place) {
    return std::find(bins.begin(), bins.end(), bin_of(place)) != bins.end();
  });
}

template <class T>
[[nodiscard]] ts::HostImage<T> exponential_image(Sides sides) {
  auto image = ts::make_image<T>(ts::Pixels::exponential, side_of_image, side_of_image, 5);
  ts::Random random(6);
  for (T& pixel : image.values)
    if (sides == Sides::lower || (sides == Sides::both && random.below(2) == 0)) pixel = -pixel;
  return image;
}

template <class T>
class Exponential {
 public:
  explicit Exponential(const ts::Division& division, Sides sides = Sides::upper)
      : m_image(exponential_image<T>(sides)), m_clip(side_of_image, side_of_image, division) {}

  [[nodiscard]] kastor::SigmaClipResult run(const kastor::SigmaClipParams& params = {}) {
    auto got = m_clip.run(m_image, ts::request_of(params)).result;
    got.route = kastor::ClipRoute::bracketed;
    return got;
  }
  [[nodiscard]] const ts::HostImage<T>& image() const { return m_image; }
  [[nodiscard]] ts::EmulatedClip<T>& clip() { return m_clip; }
  [[nodiscard]] const kd::RefinedBins<T>& tails() { return *m_clip.parts().refined_tails; }
  [[nodiscard]] const kd::RefinedBins<T>& window() { return *m_clip.parts().refined_window; }
  [[nodiscard]] kd::GatheredBins<T> bins() {
    return kd::GatheredBins<T>(*m_clip.parts().prediction.brackets);
  }

 private:
  ts::HostImage<T> m_image;
  ts::EmulatedClip<T> m_clip;
};

template <class T>
void hold_what_the_bins_have(const ts::Division& division, Sides sides = Sides::upper,
                             double kappa = 3) {
  using Exec = ts::FirstExec;
  const kastor::SigmaClipParams params{kappa, 0};
  Exponential<T> exponential(division, sides);
  const auto got = exponential.run(params);
  EXPECT_TRUE(exponential.clip().memory_is_whole());
  const auto of_tails = bins_of(exponential.tails());
  const auto on_side = [&](bool upper) {
    return std::count_if(of_tails.begin(), of_tails.end(),
                         [&](int bin) { return (bin >= kd::TailOctaves::bins) == upper; });
  };
  EXPECT_EQ(on_side(true) > 0, sides != Sides::lower);
  EXPECT_EQ(on_side(false) > 0, sides != Sides::upper);
  EXPECT_FALSE(bins_of(exponential.window()).empty());
  if (division.most_alone != ts::all_alone) {
    EXPECT_GT(exponential.clip().heaviest_group(), division.most_alone);
  }
  EXPECT_TRUE(ts::same_bits(
      got, kastor::sigma_clip(Exec{}, ts::to_device<Exec>(exponential.image()), params)));

  const auto bins = exponential.bins();
  const auto& brackets = *exponential.clip().parts().prediction.brackets;
  std::vector<std::vector<T>> in_tail(2 * kd::TailOctaves::bins), in_window(bins.window);
  for (const T x : exponential.image().values) {
    if (brackets.in_window(x)) {
      in_window[static_cast<std::size_t>(bins.in_window(x))].push_back(x);
    } else if (!(brackets.low_edge < x && x < brackets.high_edge)) {
      in_tail[static_cast<std::size_t>(bins.in_tails(x))].push_back(x);
    }
  }

  for (int i = 0; i < kd::RefinedBins<T>::most; ++i) {
    const int bin = exponential.window().bin[i];
    if (bin == kd::RefinedBins<T>::none) continue;
    auto& want = in_window[static_cast<std::size_t>(bin)];
    const T* const slot = exponential.window().slot(i);
    std::vector<T> listed(slot, slot + want.size());
    std::sort(listed.begin(), listed.end());
    std::sort(want.begin(), want.end());
    EXPECT_EQ(listed, want) << bin;
  }
  for (int i = 0; i < kd::RefinedBins<T>::most; ++i) {
    const int bin = exponential.tails().bin[i];
    if (bin == kd::RefinedBins<T>::none) continue;
    const int in_side = bin % kd::TailOctaves::bins;
    const int octave = kd::TailOctaves::octave_of(in_side);
    const kd::TailTerm<T> term(bins.centre, bins.exponent_of(octave));
    kd::FewTailSums few;
    for (int b = bin - in_side + kd::TailOctaves::first_bin_of(octave); b < bin; ++b)
      for (const T x : in_tail[static_cast<std::size_t>(b)]) term.add(x, true, few);
    kd::TailSums before;
    few.move_to(before);
    // Each slot has a share of the pixels, the first what is before the bin as well.
    std::size_t pixels_of_bin = 0;
    for (int k = 0; k < kd::RefinedBins<T>::tail_slots; ++k) {
      T* const slot = exponential.tails().slot(i * kd::RefinedBins<T>::tail_slots + k);
      const auto& refined = kd::RefinedTailBin<T>::at(slot);
      const T* const pixels = kd::RefinedTailBin<T>::pixels_at(slot);
      std::uint32_t next = 0;
      for (int p = 0; p < kd::RefinedTailBin<T>::parts; ++p) {
        const auto& part = refined.part[p];
        EXPECT_EQ(part.begin, next);
        const kd::TailSums sums = part.before.sums();
        EXPECT_EQ(sums.count, before.count) << bin << ", part " << p;
        EXPECT_EQ(sums.sum.low, before.sum.low) << bin << ", part " << p;
        EXPECT_EQ(sums.squares.low, before.squares.low) << bin << ", part " << p;
        for (std::uint32_t at = part.begin; at < part.past; ++at) {
          EXPECT_EQ(bins.in_tails(pixels[at]), bin);
          EXPECT_EQ(bins.part_of_bin(pixels[at]), p);
          term.add(pixels[at], true, few);
        }
        few.move_to(before);
        next = part.past;
      }
      pixels_of_bin += next;
      before = {};
    }
    EXPECT_EQ(pixels_of_bin, in_tail[static_cast<std::size_t>(bin)].size());
  }
}

TEST(RefinedBins, HoldWhatTheBinsHave) {
  hold_what_the_bins_have<float>(alone);
  hold_what_the_bins_have<double>(alone);
}
TEST(RefinedBins, HoldWhatSharedGroupsHave) { hold_what_the_bins_have<float>(shared); }
TEST(RefinedBins, HoldWhatBandsHave) { hold_what_the_bins_have<double>(in_bands); }
TEST(RefinedBins, AreOfEitherSide) {
  hold_what_the_bins_have<float>(alone, Sides::lower);
  hold_what_the_bins_have<float>(shared, Sides::both, 2.1);
}

/// If they were others nothing would be wrong, but slow.
TEST(RefinedBins, AreThoseThatThePassesLookIn) {
  Exponential<float> exponential(alone);
  static_cast<void>(exponential.run());
  const PlainPasses passes = plain_passes(exponential.image());
  const auto all = static_cast<std::int64_t>(passes.medians.size());
  ASSERT_GE(all, 20);
  const auto bins = exponential.bins();
  const auto of_tails = bins_of(exponential.tails());
  const auto of_window = bins_of(exponential.window());
  // Far out bins have too few pixels.
  EXPECT_GE(count_in(of_tails, passes.high_limits,
                     [&](double x) { return bins.in_tails(static_cast<float>(x)); }),
            all * 8 / 10);
  EXPECT_GE(count_in(of_window, passes.medians,
                     [&](double x) { return bins.in_window(static_cast<float>(x)); }),
            all * 8 / 10);
}

TEST(RefinedBins, AreNoneOfFewPixels) {
  ts::Division division = alone;
  division.least_in_refined = 1 << 20;
  Exponential<float> exponential(division);
  static_cast<void>(exponential.run());
  EXPECT_TRUE(bins_of(exponential.tails()).empty());
  EXPECT_TRUE(bins_of(exponential.window()).empty());
}
/// In lists no longer than what is gathered only the pixels of the window leave room: of so small
/// an image too little.
TEST(RefinedBins, AreNoneWithoutRoom) {
  Exponential<float> roomy(alone);
  const auto want = roomy.run();
  ts::Division division = alone;
  division.capacity = roomy.clip().parts().read->longest_list;
  Exponential<float> narrow(division);
  EXPECT_TRUE(ts::same_bits(narrow.run(), want));
  EXPECT_TRUE(narrow.clip().memory_is_whole());
  EXPECT_FALSE(bins_of(roomy.tails()).empty());
  EXPECT_TRUE(bins_of(narrow.tails()).empty());
}
/// Those of the image before are no others'.
TEST(RefinedBins, AreForgotten) {
  using Exec = ts::FirstExec;
  Exponential<float> exponential(alone);
  static_cast<void>(exponential.run());
  EXPECT_FALSE(bins_of(exponential.tails()).empty());
  const auto run = [&](const ts::HostImage<float>& image) {
    auto got = exponential.clip().run(image, ts::request_of({})).result;
    got.route = kastor::ClipRoute::bracketed;
    EXPECT_TRUE(ts::same_bits(got, kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image), {})));
  };
  run(exponential_image<float>(Sides::lower));
  EXPECT_FALSE(bins_of(exponential.tails()).empty());
  run(ts::make_image<float>(ts::Pixels::gaussian, side_of_image, side_of_image, 6));
  EXPECT_TRUE(bins_of(exponential.tails()).empty());
  EXPECT_TRUE(bins_of(exponential.window()).empty());
}

}  // namespace
