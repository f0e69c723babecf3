// SPDX-License-Identifier: Apache-2.0

// Ranks among the pixels of one bin of a device's window, found by a team of a host's threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/window_selector.hpp>
#include <limits>
#include <string>
#include <vector>

#include "emulated_team.hpp"
#include "generators.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

/// Asks for some ranks, one after the other.
template <class T>
struct FindRanks {
  using Space = kd::WindowSelectorSpace<T>;
  using Member = ts::EmulatedMember;
  static constexpr int threads = Space::threads;
  static constexpr int scratch_bytes = sizeof(Space) + sizeof(typename Space::Sharing) + 32;

  kd::GatheredBins<T> bins;
  kd::PagedWindow<T> window;
  const std::vector<std::int64_t>* ranks;
  T* found;

  KOKKOS_FUNCTION void operator()(const Member& team) const { KOKKOS_IF_ON_HOST((find(team);)) }
  void find(const Member& team) const {
    using Crew = kd::TeamCrew<Member>;
    const Crew crew(team);
    auto* const space = kd::scratch_of<Space>(team);
    auto* const sharing = kd::scratch_of<typename Space::Sharing>(team);
    kd::WindowSelector<T, Crew> selector(crew, bins, window, nullptr, *space, *sharing);
    for (std::size_t i = 0; i < ranks->size(); ++i) {
      const T pixel = selector((*ranks)[i]);
      if (crew.rank() == 0) found[i] = pixel;
    }
  }
};

/// All pixels lie in the bin from -1/2 to 1/2.
constexpr int bin = kd::GatheredBins<float>::window / 2;

template <class T>
kd::GatheredBins<T> bins_about_zero() {
  kd::GatheredBins<T> bins{};
  bins.low = -bin - 0.5;
  bins.per_unit = 1;
  return bins;
}

/// What the sort leaves of such pixels, divided among a few pages.
template <class T>
class OneBin {
 public:
  static constexpr std::int32_t page_size = 8192;

  explicit OneBin(const std::vector<T>& pixels, std::uint32_t pages)
      : m_count(pages),
        m_pixels(std::size_t{pages} * page_size),
        m_begin_in_page(std::size_t{pages} * Pages::row),
        m_begin(kd::GatheredBins<T>::window + 1),
        m_copied(kd::PagedWindow<T>::room) {
    std::vector<std::size_t> in_page(pages);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const std::size_t page = i % pages;
      m_pixels[page * page_size + in_page[page]++] = pixels[i];
    }
    for (std::size_t page = 0; page < pages; ++page) {
      std::uint16_t* const begin = m_begin_in_page.data() + page * Pages::row;
      std::fill(begin + bin + 1, begin + Pages::row, static_cast<std::uint16_t>(in_page[page]));
    }
    std::fill(m_begin.begin() + bin + 1, m_begin.end(), pixels.size());
  }
  [[nodiscard]] kd::PagedWindow<T> window(std::int64_t most_copied) {
    return {{m_pixels.data(), m_begin_in_page.data(), &m_count, page_size},
            m_begin.data(),
            m_copied.data(),
            most_copied};
  }

 private:
  using Pages = kd::SortedPages<T>;
  std::uint32_t m_count;
  std::vector<T> m_pixels;
  std::vector<std::uint16_t> m_begin_in_page;
  std::vector<std::uint64_t> m_begin;
  std::vector<T> m_copied;
};

template <class T>
void finds_ranks(const std::vector<T>& pixels, const std::vector<std::int64_t>& ranks,
                 const std::string& what) {
  std::vector<T> sorted = pixels;
  std::sort(sorted.begin(), sorted.end());
  for (const std::uint32_t pages : {1U, 3U, 60U}) {
    ASSERT_LE(pixels.size(), std::size_t{pages} * OneBin<T>::page_size);
    OneBin<T> of_pages(pixels, pages);
    for (const std::int64_t most_copied : {std::int64_t{0}, kd::PagedWindow<T>::room}) {
      std::vector<T> found(ranks.size());
      ts::EmulatedLauncher{}(
          "find_ranks", 1,
          FindRanks<T>{bins_about_zero<T>(), of_pages.window(most_copied), &ranks, found.data()});
      for (std::size_t i = 0; i < ranks.size(); ++i)
        ASSERT_EQ(found[i], sorted[static_cast<std::size_t>(ranks[i])])
            << what << ": rank " << ranks[i] << ", " << pages << " pages, " << most_copied;
    }
  }
}

/// Upwards, downwards, in any order, and all of those about one.
template <class T>
void finds_all_ranks(std::vector<T> pixels, const std::string& what, std::int64_t about = 0) {
  ts::Random random(3);
  for (std::size_t i = pixels.size() - 1; i > 0; --i)
    std::swap(pixels[i],
              pixels[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
  const auto count = static_cast<std::int64_t>(pixels.size());
  std::vector<std::int64_t> ranks;
  for (std::int64_t r = 0; r < count; r += 43) ranks.push_back(r);
  for (std::int64_t r = count - 1; r >= 0; r -= 61) ranks.push_back(r);
  for (int i = 0; i < 40; ++i) ranks.push_back(random.below(count));
  for (std::int64_t r = std::max<std::int64_t>(0, about - 20); r < std::min(count, about + 20); ++r)
    ranks.push_back(r);
  finds_ranks(pixels, ranks, what);
}

/// Beside zeros of both signs, so many that their part cannot be sorted, every multiple of the
/// smallest number up to some: a part of the keys then ends with -0, or one pixel before it.
template <class T>
void finds_what_is_beside_zeros() {
  constexpr T smallest = std::numeric_limits<T>::denorm_min();
  for (const int most : {100, 1024, 2047}) {
    for (const int only : {0, -1, 1}) {
      std::vector<T> pixels;
      for (int i = -most; i <= most; ++i) {
        if (i * only >= 0) pixels.push_back(static_cast<T>(i) * smallest);
      }
      const auto below = std::count_if(pixels.begin(), pixels.end(), [](T x) { return x < 0; });
      for (int i = 0; i < 700; ++i) pixels.push_back(i % 2 == 0 ? T{0} : -T{0});
      finds_all_ranks(pixels, std::to_string(most) + " beside zero, " + std::to_string(only),
                      below);
    }
  }
}
TEST(WindowSelector, FindsWhatIsBesideZerosOfFloat) { finds_what_is_beside_zeros<float>(); }
TEST(WindowSelector, FindsWhatIsBesideZerosOfDouble) { finds_what_is_beside_zeros<double>(); }

TEST(WindowSelector, FindsFewPixels) {
  for (const int count : {1, 2, 95, 96, 97, 128, 129}) {
    std::vector<float> pixels;
    for (int i = 0; i < count; ++i) pixels.push_back(static_cast<float>(i) / 300 - 0.2F);
    finds_all_ranks(pixels, std::to_string(count));
  }
}
TEST(WindowSelector, FindsEqualPixels) {
  for (const float value : {0.0F, -0.25F, 0.3F})
    finds_all_ranks(std::vector<float>(1500, value), std::to_string(value));
}
/// Values of any exponent, of which some are frequent: the range is parted several times.
TEST(WindowSelector, FindsPixelsOfAnyExponent) {
  ts::Random random(8);
  std::vector<double> pixels;
  for (int i = 0; i < 3000; ++i) {
    const auto exponent = static_cast<int>(random.below(1000));
    const double size = 0.4 * std::ldexp(1 + random.uniform(), -exponent - 1);
    pixels.push_back(random.below(2) == 0 ? size : -size);
    if (i % 10 == 0) pixels.insert(pixels.end(), 9, pixels[static_cast<std::size_t>(i) / 100]);
  }
  pixels.resize(4096);
  finds_all_ranks(pixels, "any exponent");
}

}  // namespace
