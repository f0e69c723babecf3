// SPDX-License-Identifier: Apache-2.0

// What a group finds out about the pixels of a cell, in its scratch memory or read from the image.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "background/cell_passes.hpp"
#include "background/cell_pixels.hpp"
#include "background/cell_ranks.hpp"
#include "cells_on_device.hpp"
#include "core/fixed_point.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;
namespace kd = kastor::detail;

constexpr int room = 64;  // of lists

template <class T>
struct Question {
  T low, high;
  core::Interval<T> outer, inner;
  core::Grid grid;
};

/// Of one cell.
template <class T>
struct Answer {
  core::MinMaxCount<T> all, inside;
  kd::CountsBelow counts, taken;
  int listed;  ///< pixels from `low` on and below `high`
  T list[room];
  bool has_room_outside;
  int listed_outside;
  T outside[room];
  T smallest;
  kd::GridSums within, between;
};

/// A group asks everything of a cell, and for the pixels of all ranks.
template <class Exec, class T, bool staged>
struct AskCells {
  using Streamed = kd::StreamedPixels<Exec, T>;
  using Pixels = std::conditional_t<staged, kd::ScratchPixels<Exec, T>, Streamed>;
  struct Scratch {
    kd::PixelList<T, room> list;
    typename kd::RankFinder<Exec, Pixels>::Scratch ranks;
  };
  kd::CellImage<T> image;
  Question<T> question;
  Answer<T>* answers;
  kd::TwoPixels<T>* ranks;  ///< as many as pixels for each cell

  [[nodiscard]] int pixels() const { return static_cast<int>(image.cell.ny * image.cell.nx); }
  [[nodiscard]] core::GroupShape shape() const {
    const int scratch = kd::ScratchPixels<Exec, T>::room_for(pixels());
    return {image.cells(), static_cast<int>(sizeof(Scratch) + sizeof(T) * scratch)};
  }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    Scratch& scratch = *group.template scratch<Scratch>();
    T* const copy = group.template scratch<T>(
        kd::ScratchPixels<Exec, T>::room_for(static_cast<int>(image.cell.ny * image.cell.nx)));
    const kd::Cell cell = image[group.index()];
    const Streamed streamed(group, image, cell);
    Answer<T>& answer = answers[group.index()];
    if constexpr (staged) {
      const auto all = kd::stage(group, streamed, copy);
      const Pixels pixels(group, copy, static_cast<int>(cell.pixels()));
      group.barrier();
      ask(group, pixels, all, scratch, answer);
    } else {
      const auto all = kd::extent_of(group, streamed, core::Interval<T>{});
      ask(group, streamed, all, scratch, answer);
    }
  }

 private:
  KOKKOS_FUNCTION void ask(const core::Group<Exec>& group, const Pixels& pixels,
                           const core::MinMaxCount<T>& all, Scratch& scratch,
                           Answer<T>& answer) const {
    const Question<T>& q = question;
    const auto inside = kd::extent_of(group, pixels, q.inner);
    const auto counts = kd::count_below(group, pixels, q.low, q.high);
    const auto taken = kd::take_between(group, pixels, q.low, q.high, scratch.list);
    if (group.rank() == 0) {
      answer.all = all;
      answer.inside = inside;
      answer.counts = counts;
      answer.taken = taken;
      answer.listed = scratch.list.count;
      for (int i = 0; i < room && i < scratch.list.count; ++i)
        answer.list[i] = scratch.list.pixels[i];
    }
    const bool has_room = kd::take_outside(group, pixels, q.inner, scratch.list);
    if (group.rank() == 0) {
      answer.has_room_outside = has_room;
      answer.listed_outside = scratch.list.count;
      for (int i = 0; i < room && i < scratch.list.count; ++i)
        answer.outside[i] = scratch.list.pixels[i];
    }
    const T smallest = kd::smallest_from(group, pixels, q.low);
    const auto within = kd::sums_within(group, pixels, q.inner, q.grid);
    const auto between = kd::sums_between(group, pixels, q.outer, q.inner, q.grid);
    if (group.rank() == 0) {
      answer.smallest = smallest;
      answer.within = within;
      answer.between = between;
    }
    if (all.count == 0) return;
    kd::RankFinder<Exec, Pixels> pixel_of_rank(group, pixels, all, scratch.ranks);
    kd::TwoPixels<T>* const found = ranks + group.index() * image.cell.ny * image.cell.nx;
    // Near by first, then far off.
    for (std::int64_t i = 0; i < all.count; ++i) {
      const std::int64_t k = i % 3 == 0 ? (all.count * (i % 97)) / 97 : i;
      const auto two = pixel_of_rank(k, k + 1 < all.count);
      if (group.rank() == 0) found[k] = two;
    }
  }
};

struct NaiveSums {
  core::Int128 sum, squares;
  std::int64_t count = 0, below = 0;
};

template <class T>
class Naive {
 public:
  explicit Naive(std::vector<T> sorted) : m_sorted(std::move(sorted)) {}

  template <class Condition>
  [[nodiscard]] std::vector<T> where(const Condition& is_so) const {
    std::vector<T> some;
    std::copy_if(m_sorted.begin(), m_sorted.end(), std::back_inserter(some), is_so);
    return some;
  }
  [[nodiscard]] NaiveSums sums(const std::vector<T>& pixels, const core::Grid& grid) const {
    NaiveSums sums;
    for (const T x : pixels) {
      const double u = grid.map(static_cast<double>(x));
      sums.sum.add(core::unbias(core::to_grid_biased(u), 1));
      sums.squares.add(core::unbias(core::to_grid_biased(u * u), 1));
    }
    return sums;
  }
  [[nodiscard]] const std::vector<T>& sorted() const { return m_sorted; }

 private:
  std::vector<T> m_sorted;
};

template <class T>
void expect_extent(const core::MinMaxCount<T>& got, const std::vector<T>& sorted,
                   const std::string& what) {
  ASSERT_EQ(got.count, static_cast<std::int64_t>(sorted.size())) << what;
  if (sorted.empty()) return;
  EXPECT_EQ(got.min, sorted.front()) << what;
  EXPECT_EQ(got.max, sorted.back()) << what;
}

template <class T>
void expect_list(const T* list, int count, const std::vector<T>& want, const std::string& what) {
  const auto n = static_cast<int>(want.size());
  if (n > room) {
    EXPECT_GT(count, room) << what;
    return;
  }
  ASSERT_EQ(count, n) << what;
  std::vector<T> got(list, list + n);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, want) << what;
}

void expect_sums(const kd::GridSums& got, const NaiveSums& want, const std::string& what) {
  EXPECT_EQ(got.sum.low, want.sum.low) << what;
  EXPECT_EQ(got.sum.high, want.sum.high) << what;
  EXPECT_EQ(got.squares.low, want.squares.low) << what;
  EXPECT_EQ(got.squares.high, want.squares.high) << what;
}

template <class T>
void expect_answer(const Answer<T>& got, const Question<T>& q, const Naive<T>& cell,
                   const std::string& what) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  expect_extent(got.all, cell.sorted(), what + ", all");
  const auto inside = cell.where([&](T x) { return q.inner.contains(x); });
  expect_extent(got.inside, inside, what + ", inside");
  const auto below = [&](T bound) {
    return static_cast<std::int64_t>(cell.where([&](T x) { return x < bound; }).size());
  };
  EXPECT_EQ(got.counts.low, below(q.low)) << what;
  EXPECT_EQ(got.counts.high, below(q.high)) << what;
  EXPECT_EQ(got.taken.low, below(q.low)) << what;
  EXPECT_EQ(got.taken.high, below(q.high)) << what;
  expect_list(got.list, got.listed, cell.where([&](T x) { return x >= q.low && x < q.high; }),
              what);
  const auto outside = cell.where([&](T x) { return !q.inner.contains(x); });
  EXPECT_EQ(got.has_room_outside, outside.size() <= room) << what;
  expect_list(got.outside, got.listed_outside, outside, what + ", outside");
  const auto from = cell.where([&](T x) { return x >= q.low; });
  EXPECT_EQ(got.smallest, from.empty() ? infinity : from.front()) << what;
  expect_sums(got.within, cell.sums(inside, q.grid), what + ", within");
  const auto between = cell.where([&](T x) { return q.outer.contains(x) && !q.inner.contains(x); });
  expect_sums(got.between, cell.sums(between, q.grid), what + ", between");
  EXPECT_EQ(got.between.count, static_cast<std::int64_t>(between.size())) << what;
  EXPECT_EQ(got.between.below,
            std::count_if(between.begin(), between.end(), [&](T x) { return x <= q.inner.low; }))
      << what;
}

template <class T>
void expect_ranks(const kd::TwoPixels<T>* got, const std::vector<T>& sorted,
                  const std::string& what) {
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    ASSERT_EQ(got[k].first, sorted[k]) << what << ", rank " << k;
    ASSERT_EQ(got[k].second, sorted[k + 1 < sorted.size() ? k + 1 : k]) << what << ", rank " << k;
  }
}

/// Bounds between pixels of the image, and some that are pixels.
template <class T>
Question<T> question_about(const ts::HostImage<T>& host) {
  std::vector<T> sorted;
  for (const T x : host.values)
    if (std::isfinite(x)) sorted.push_back(x);
  if (sorted.empty()) sorted.push_back(T(0));
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  Question<T> q{at(0.45), at(0.5), {at(0.02), at(0.98)}, {at(0.1), at(0.95)}, {}};
  q.grid = core::Grid(static_cast<double>(at(0.5)), static_cast<double>(sorted.front()),
                      static_cast<double>(sorted.back()));
  return q;
}

template <class Exec, class T, bool staged>
void answers_match_naive(const ts::CellsOnDevice<Exec, T>& cells, const Question<T>& question,
                         const std::string& what) {
  const Exec space;
  const auto count = static_cast<std::size_t>((*cells).cells());
  const auto pixels = static_cast<std::size_t>((*cells).cell.ny * (*cells).cell.nx);
  const ts::DeviceList<Exec, Answer<T>> answers("test::answers", count);
  const ts::DeviceList<Exec, kd::TwoPixels<T>> ranks("test::ranks", count * pixels);
  const AskCells<Exec, T, staged> ask{*cells, question, answers.data(), ranks.data()};
  core::for_each_group<64>("test::ask_cells", space, ask.shape(), ask);
  space.fence("test::ask_cells");
  const auto got = ts::to_vector(answers);
  const auto got_ranks = ts::to_vector(ranks);
  for (std::size_t i = 0; i < count; ++i) {
    const Naive<T> cell(cells.good_pixels(static_cast<std::int64_t>(i)));
    const std::string where =
        what + (staged ? ", staged" : ", streamed") + ", cell " + std::to_string(i);
    expect_answer(got[i], question, cell, where);
    expect_ranks(got_ranks.data() + i * pixels, cell.sorted(), where);
  }
}

template <class C>
void passes_match_naive() {
  using Exec = typename C::exec;
  using T = typename C::real;
  using Cells = ts::CellsOnDevice<Exec, T>;
  using Rows = typename Cells::Rows;
  const kd::Shape shapes[] = {{1, 1}, {64, 64}, {13, 37}, {30, 3}, {2, 130}, {1, 200}};
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    const auto host = ts::make_image<T>(kind, 70, 131, 11);
    ts::HostMask exclude(host.ny, host.nx);
    for (std::int64_t y = 0; y < host.ny; ++y)
      for (std::int64_t x = 0; x < host.nx; ++x) exclude(y, x) = (x * 7 + y * 3) % 11 == 0 ? 1 : 0;
    const Question<T> question = question_about(host);
    for (const kd::Shape& shape : shapes) {
      for (const Rows rows : {Rows::plain, Rows::cut_out, Rows::bands}) {
        const Cells cells(host, shape, rows, rows == Rows::cut_out ? exclude : ts::HostMask{});
        const std::string what = std::string(ts::name_of(kind)) + ", rows " +
                                 std::to_string(static_cast<int>(rows)) + ", cells " +
                                 ts::shape_name(shape.ny, shape.nx);
        answers_match_naive<Exec, T, true>(cells, question, what);
        answers_match_naive<Exec, T, false>(cells, question, what);
      }
    }
  }
}

template <class C>
class CellPasses : public ::testing::Test {};
TYPED_TEST_SUITE(CellPasses, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(CellPasses, MatchNaive) { passes_match_naive<TypeParam>(); }

}  // namespace
