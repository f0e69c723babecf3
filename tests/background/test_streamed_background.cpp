// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/communicator.hpp>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "array_source.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "host_nodes.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// One of several ranks, which are run one after another instead of at once: the first time until
/// all have said what they give, the second time to the end.
class RankByTurns : public kastor::Communicator {
 public:
  struct Stop {};

  RankByTurns(int rank, Pieces& given) : m_rank(rank), m_given(given) {}
  [[nodiscard]] int rank() const override { return m_rank; }
  [[nodiscard]] int size() const override { return static_cast<int>(m_given.size()); }
  void sum(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) word *= m_given.size();  // all give the same
  }
  [[nodiscard]] Pieces gather(std::span<const std::byte> mine) override {
    auto& piece = m_given[static_cast<std::size_t>(m_rank)];
    const bool is_first_turn = piece.empty();
    piece.assign(mine.begin(), mine.end());
    if (is_first_turn) throw Stop();
    return m_given;
  }
  void send(int, std::span<const std::byte>) override { throw kastor::Error("nothing is sent"); }
  [[nodiscard]] std::vector<std::byte> receive(int) override {
    throw kastor::Error("nothing is received");
  }

 private:
  int m_rank;
  Pieces& m_given;
};

/// Expects the same summaries.
void expect_same(const kastor::BackgroundSummary& a, const kastor::BackgroundSummary& b,
                 const std::string& what) {
  EXPECT_EQ(a.level, b.level) << what;
  EXPECT_EQ(a.rms, b.rms) << what;
  EXPECT_EQ(a.pixels, b.pixels) << what;
  EXPECT_EQ(a.good, b.good) << what;
  EXPECT_EQ(a.cells, b.cells) << what;
  EXPECT_EQ(a.filled, b.filled) << what;
  EXPECT_EQ(a.source_cells, b.source_cells) << what;
  EXPECT_EQ(a.masks_sources, b.masks_sources) << what;
}

/// Some ranks share the image; each has the mesh of all of it.
template <class C>
void is_the_same_by_ranks(const ts::HostImage<typename C::real>& host,
                          const kastor::BackgroundParams& params, const ts::HostNodes& want,
                          const kastor::BackgroundSummary& summary, const std::string& what,
                          const kastor::BitMask<typename C::exec>& mask) {
  using Exec = typename C::exec;
  using T = typename C::real;
  for (const std::size_t size : {1U, 2U, 3U, 5U}) {
    kastor::Communicator::Pieces given(size);
    std::int64_t read = 0;
    for (int turn = 0; turn < 2; ++turn) {
      for (std::size_t rank = 0; rank < size; ++rank) {
        RankByTurns ranks(static_cast<int>(rank), given);
        ts::ArraySource<T> source(host);
        kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, params);
        try {
          const auto mesh = estimate(source, ranks, kastor::StreamParams(), mask);
          EXPECT_TRUE(ts::same_bits(ts::nodes_of<Exec, T>(mesh), want))
              << what << ", rank " << rank;
          expect_same(estimate.summary(), summary, what);
          read += source.rows_read;
        } catch (const RankByTurns::Stop&) {
          EXPECT_EQ(turn, 0);
        }
      }
    }
    EXPECT_EQ(read, host.ny) << what << ", " << size << " ranks";
  }
}

/// The mesh of an image that is read by bands has the bits of that of the image in memory.
template <class C>
void is_the_same_by_bands(const ts::HostImage<typename C::real>& host,
                          const kastor::BackgroundParams& params, const std::string& name,
                          const ts::HostMask& exclude = {}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const std::string what = name + ' ' + ts::shape_name(host.ny, host.nx) + " in cells of " +
                           ts::shape_name(params.cell_height, params.cell_width);
  kastor::BitMask<Exec> mask;
  if (!exclude.values.empty()) mask = ts::to_device_mask<Exec>(exclude);
  kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, params);
  const auto want = ts::nodes_of<Exec, T>(estimate(ts::to_device<Exec>(host), mask));
  const auto of_all = estimate.summary();
  for (const std::int64_t rows : {1, 33, 64, 100, 1000}) {
    ts::ArraySource<T> source(host);
    kastor::StreamParams stream;
    stream.band_rows = rows;
    const auto mesh = estimate(source, stream, mask);
    EXPECT_TRUE(ts::same_bits(ts::nodes_of<Exec, T>(mesh), want)) << what << ", rows " << rows;
    EXPECT_EQ(mesh.ny, host.ny) << what;
    EXPECT_EQ(mesh.nx, host.nx) << what;
    EXPECT_EQ(source.rows_read, host.ny) << what;
    expect_same(estimate.summary(), of_all, what);
  }
  is_the_same_by_ranks<C>(host, params, want, of_all, what, mask);
}

[[nodiscard]] kastor::BackgroundParams in_cells(std::int64_t height, std::int64_t width) {
  kastor::BackgroundParams params;
  params.cell_height = height;
  params.cell_width = width;
  return params;
}

template <class C>
class StreamedBackground : public ::testing::Test {};
TYPED_TEST_SUITE(StreamedBackground, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(StreamedBackground, HasTheBitsOfTheImageInMemory) {
  using T = typename TypeParam::real;
  for (const ts::Pixels kind : {ts::Pixels::gaussian, ts::Pixels::contaminated,
                                ts::Pixels::narrow_integers, ts::Pixels::outliers}) {
    for (const auto& [height, width] : {std::pair<std::int64_t, std::int64_t>{32, 32}, {17, 50}})
      is_the_same_by_bands<TypeParam>(ts::make_image<T>(kind, 211, 163, 5), in_cells(height, width),
                                      ts::name_of(kind));
  }
}

TYPED_TEST(StreamedBackground, HasThemWhereCellsAreCutOrLarge) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : ts::awkward_shapes)
    is_the_same_by_bands<TypeParam>(ts::make_image<T>(ts::Pixels::gaussian, ny, nx, 8),
                                    in_cells(20, 30), "cut");
  // Too large for scratch memory.
  is_the_same_by_bands<TypeParam>(ts::make_image<T>(ts::Pixels::contaminated, 250, 300, 8),
                                  in_cells(120, 200), "large");
}

TYPED_TEST(StreamedBackground, HasThemWithAllOptions) {
  using T = typename TypeParam::real;
  auto params = in_cells(16, 24);
  params.correct_clip = true;
  params.mask_large_sources = true;
  params.interpolation = kastor::MeshInterpolation::bilinear;
  params.estimate = kastor::BackgroundEstimate::median;
  auto image = ts::make_image<T>(ts::Pixels::gaussian, 320, 480, 21);
  // A source that covers some cells, and blank cells around a corner.
  for (std::int64_t y = 100; y < 170; ++y)
    for (std::int64_t x = 200; x < 300; ++x) image(y, x) += T(60);
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < 60; ++x) image(y, x) = std::numeric_limits<T>::quiet_NaN();
  using Exec = typename TypeParam::exec;
  kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, params);
  (void)estimate(ts::to_device<Exec>(image));
  EXPECT_TRUE(estimate.summary().masks_sources);
  EXPECT_GT(estimate.summary().filled, 0);
  is_the_same_by_bands<TypeParam>(image, params, "all options");
  is_the_same_by_bands<TypeParam>(image, params, "excluded pixels",
                                  ts::random_mask(image.ny, image.nx, 0.3, 4));
}

TYPED_TEST(StreamedBackground, HoldsNoMoreThanItIsGiven) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::ArraySource<T> source(ts::make_image<T>(ts::Pixels::gaussian, 200, 100, 1));
  kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, in_cells(16, 16));
  kastor::StreamParams stream;
  stream.memory = 50 * 100 * static_cast<std::int64_t>(sizeof(T));
  (void)estimate(source, stream);
  EXPECT_EQ(source.most_rows, 48);
  stream.band_rows = 40;
  source.most_rows = 0;
  (void)estimate(source, stream);
  EXPECT_EQ(source.most_rows, 32);
  stream.memory = 16 * 100 * static_cast<std::int64_t>(sizeof(T)) - 1;
  EXPECT_THROW((void)estimate(source, stream), kastor::ResourceError);
  ts::expect_error([&] { (void)estimate(source, stream); }, {"a row of cells, 16 rows of 100"});
}

/// What fails on one rank fails on all.
TYPED_TEST(StreamedBackground, FailsOnEveryRank) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::ArraySource<T> source(ts::make_image<T>(ts::Pixels::gaussian, 20, 10, 1));
  kastor::BackgroundEstimator<Exec, T> estimate(Exec{});
  kastor::StreamParams stream;
  stream.memory = 1;
  kastor::Communicator::Pieces given{std::vector<std::byte>(1), std::vector<std::byte>(1)};
  RankByTurns ranks(1, given);
  EXPECT_THROW((void)estimate(source, ranks, stream), kastor::ResourceError);
}

TYPED_TEST(StreamedBackground, RefusesWhatMakesNoSense) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::ArraySource<T> source(ts::make_image<T>(ts::Pixels::gaussian, 20, 10, 1));
  kastor::BackgroundEstimator<Exec, T> estimate(Exec{});
  kastor::StreamParams stream;
  stream.memory = 0;
  ts::expect_error([&] { (void)estimate(source, stream); }, {"memory is 0 bytes"});
  stream = {};
  stream.band_rows = -1;
  ts::expect_error([&] { (void)estimate(source, stream); }, {"-1 rows"});
  const auto mask = ts::to_device_mask<Exec>(ts::HostMask(20, 11));
  ts::ArraySource<T> empty(ts::HostImage<T>(0, 10));
  ts::expect_error([&] { (void)estimate(empty); }, {"0 x 10", "at least one pixel"});
  ts::expect_error([&] { (void)estimate(source, kastor::StreamParams(), mask); },
                   {"20 x 11", "the same shape"});
}

}  // namespace
