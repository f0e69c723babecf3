// SPDX-License-Identifier: Apache-2.0
// The sums of a tail's pixels, whoever adds them up and however many a thread has.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <vector>

#include "generators.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

/// The words of the sums of a list's first pixels below a limit, by so many threads.
template <bool InPacks, class T>
[[nodiscard]] std::vector<std::uint64_t> sums_of(const T* pixels, std::int64_t n, int threads,
                                                 const kd::TailTerm<T>& term, T limit) {
  kd::TailSums sums;
  for (int rank = 0; rank < threads; ++rank)
    kd::add_tail<InPacks>(kd::Squad{rank, threads}, pixels, n, term, sums,
                          [&](T x) { return x < limit; });
  const kd::WideTailSums wide = kd::WideTailSums::of(sums);
  return {wide.word, wide.word + kd::WideTailSums::words};
}

template <class T>
void all_add_up_to_the_same() {
  // More than a thread adds up before it moves its sums.
  std::vector<T> pixels(70'003);
  ts::Random random(4);
  for (T& pixel : pixels) pixel = static_cast<T>(64 + 64 * random.uniform());
  const kd::TailTerm<T> term(1.0, 6);
  const T limit = 100;
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 1000, 70'000}) {
    for (std::size_t first = 0; first < 4; ++first) {
      const T* const from = pixels.data() + first;
      kd::TailSums one_by_one;
      for (std::int64_t i = 0; i < n; ++i) {
        kd::FewTailSums few;
        term.add(from[i], from[i] < limit, few);
        few.move_to(one_by_one);
      }
      const kd::WideTailSums wide = kd::WideTailSums::of(one_by_one);
      const std::vector<std::uint64_t> expected(wide.word, wide.word + kd::WideTailSums::words);
      for (const int threads : {1, 3, 256}) {
        EXPECT_EQ(sums_of<false>(from, n, threads, term, limit), expected)
            << n << " by " << threads;
        EXPECT_EQ(sums_of<true>(from, n, threads, term, limit), expected) << n << " by " << threads;
      }
    }
  }
}

TEST(TailSums, AreTheSameHoweverTheyAreAdded) {
  all_add_up_to_the_same<float>();
  all_add_up_to_the_same<double>();
}

}  // namespace
