// SPDX-License-Identifier: Apache-2.0
// An image in bands of a file, or on several ranks, gives the bits of the image in memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <kastor/source_finder.hpp>
#include <kastor/streamed_source_finder.hpp>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "array_source.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "find_skies.hpp"
#include "generators.hpp"
#include "new_instance.hpp"
#include "thread_ranks.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// Enough for all pixels of the images here.
constexpr std::int64_t ample = std::int64_t{1} << 30;

template <class C>
kastor::FindResult in_memory(const ts::HostImage<typename C::real>& host,
                             const kastor::FindParams& params) {
  using Exec = typename C::exec;
  return kastor::find_sources(Exec{}, ts::to_device<Exec>(host), params);
}

template <class C>
void is_the_same_in_bands(const ts::HostImage<typename C::real>& host,
                          const kastor::FindParams& params, const std::string& what) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto want = in_memory<C>(host, params);
  const std::string shape = what + ' ' + ts::shape_name(host.ny, host.nx);
  ts::ArraySource<T> source(host);
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{7}, host.ny}) {
    kastor::StreamedSourceFinder<Exec, T> find(Exec{}, params, {ample, rows});
    EXPECT_TRUE(ts::same_bits(find(source), want)) << shape << " in bands of " << rows;
  }
  // A large foreground is not kept, and read again.
  const std::int64_t scarce = host.ny * host.nx * std::int64_t{sizeof(T)};
  kastor::StreamedSourceFinder<Exec, T> find(Exec{}, params, {scarce, 7});
  try {
    EXPECT_TRUE(ts::same_bits(find(source), want)) << shape << " in little memory";
  } catch (const kastor::ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("the clip keeps about"), std::string::npos) << shape;
  }
}

/// What the ranks found, joined.
class Joined {
 public:
  void take(int rank, const kastor::FindResult& result) {
    const std::scoped_lock lock(m_mutex);
    const auto at = static_cast<std::size_t>(rank);
    if (m_results.size() <= at) m_results.resize(at + 1);
    m_results[at] = result;
  }
  [[nodiscard]] kastor::FindResult result() const {
    kastor::FindResult all = m_results.front();
    all.sources.clear();
    for (const auto& one : m_results) {
      EXPECT_TRUE(ts::same_bits(one.clip, m_results.front().clip));
      EXPECT_EQ(one.threshold, m_results.front().threshold);
      EXPECT_EQ(one.foreground_pixels, m_results.front().foreground_pixels);
      all.sources.insert(all.sources.end(), one.sources.begin(), one.sources.end());
    }
    return all;
  }

 private:
  std::mutex m_mutex;
  std::vector<kastor::FindResult> m_results;
};

/// The rows of an image that a rank has in memory: some ranks have none, some have two bands.
template <class Exec, class T>
std::vector<kastor::ConstImage<T, Exec>> rows_of_rank(const kastor::ConstImage<T, Exec>& image,
                                                      int rank, int size) {
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  const auto past_row = [&](std::int64_t r) {
    // Rank 1 has none of the rows.
    const std::int64_t share = r < 1 ? r : r - 1;
    return size == 1 ? ny * (r + 1) : ny * (share + 1) / (size > 1 ? size - 1 : 1);
  };
  const std::int64_t first = rank == 0 ? 0 : past_row(rank - 1);
  const auto own = kastor::ConstImage<T, Exec>(
      Kokkos::subview(image, std::make_pair(first, past_row(rank)), Kokkos::ALL));
  return ts::split_into_bands<Exec, T>(own, 1 + rank % 2);
}

template <class C>
void is_the_same_on_ranks(const ts::HostImage<typename C::real>& host,
                          const kastor::FindParams& params, const std::string& what,
                          std::initializer_list<int> sizes) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto want = in_memory<C>(host, params);
  const auto image = ts::to_device<Exec>(host);
  for (const int size : sizes) {
    Joined resident, streamed;
    ts::run_ranks(size, [&](kastor::Communicator& ranks) {
      const auto space = ts::new_instance<Exec>();
      const auto bands = rows_of_rank<Exec, T>(image, ranks.rank(), size);
      kastor::SourceFinder<Exec, T> find(space, params, ranks);
      resident.take(ranks.rank(), find(kastor::Bands<T, Exec>(bands)));
      ts::ArraySource<T> source(host);
      kastor::StreamedSourceFinder<Exec, T> stream(space, params, {ample, 5}, &ranks);
      streamed.take(ranks.rank(), stream(source));
    });
    EXPECT_TRUE(ts::same_bits(resident.result(), want)) << what << ", ranks: " << size;
    EXPECT_TRUE(ts::same_bits(streamed.result(), want)) << what << ", streamed, ranks: " << size;
  }
}

/// A mask as an image of small integers: peaks repeat.
template <class T>
ts::HostImage<T> image_of(const ts::HostMask& mask) {
  ts::Random random(17);
  ts::HostImage<T> image(mask.ny, mask.nx, T(0));
  for (std::int64_t y = 0; y < mask.ny; ++y)
    for (std::int64_t x = 0; x < mask.nx; ++x)
      image(y, x) = mask(y, x) != 0 ? static_cast<T>(3 + random.below(4)) : T(0);
  return image;
}

template <class T>
class StreamedSourceFinder : public ::testing::Test {};
TYPED_TEST_SUITE(StreamedSourceFinder, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(StreamedSourceFinder, GivesTheBitsOfTheImageInMemory) {
  const auto sky = ts::mosaic<ts::FirstExec, typename TypeParam::real>(300, 401, 1);
  for (const auto& [name, params] : ts::find_parameter_sets())
    is_the_same_in_bands<TypeParam>(sky, params, name);
}

TYPED_TEST(StreamedSourceFinder, GivesTheBitsOfEveryKindOfPixels) {
  using T = typename TypeParam::real;
  for (const std::int64_t ny : {90, 160}) {
    for (const ts::Pixels kind : ts::all_pixel_kinds)
      is_the_same_in_bands<TypeParam>(ts::make_image<T>(kind, ny, 131, 3), {}, ts::name_of(kind));
  }
  is_the_same_in_bands<TypeParam>(ts::HostImage<T>(1, 1, T(2)), {}, "one pixel");
}

TYPED_TEST(StreamedSourceFinder, GivesTheBitsOfEveryMask) {
  using T = typename TypeParam::real;
  for (const auto& [name, mask] : ts::torture_masks(41, 67)) {
    for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
      kastor::FindParams params;
      params.level = 1;
      params.label.connectivity = connectivity;
      is_the_same_in_bands<TypeParam>(image_of<T>(mask), params, name);
    }
  }
}

TYPED_TEST(StreamedSourceFinder, ReadsALargeSkyOnceAfterItsSample) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::ArraySource<T> source(ts::mosaic<ts::FirstExec, T>(600, 700, 3));
  kastor::StreamedSourceFinder<Exec, T> find(Exec{}, {}, {ample, 50});
  (void)find(source);
  EXPECT_EQ(source.rows_read, 2 * source.ny());
}

template <class T>
class SourceFinderOnRanks : public ::testing::Test {};
TYPED_TEST_SUITE(SourceFinderOnRanks, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(SourceFinderOnRanks, GivesTheBitsOfOneProcess) {
  const auto sky = ts::mosaic<ts::FirstExec, typename TypeParam::real>(300, 401, 1);
  for (auto [name, params] : ts::find_parameter_sets()) {
    is_the_same_on_ranks<TypeParam>(sky, params, name, {1, 5});
    params.label.drop_at_edge = true;
    is_the_same_on_ranks<TypeParam>(sky, params, name + ", not at the edge", {3});
  }
}

TYPED_TEST(SourceFinderOnRanks, GivesTheBitsOfEveryKindOfPixels) {
  using T = typename TypeParam::real;
  for (const ts::Pixels kind : ts::all_pixel_kinds)
    is_the_same_on_ranks<TypeParam>(ts::make_image<T>(kind, 160, 131, 3), {}, ts::name_of(kind),
                                    {2, 8});
}

TYPED_TEST(SourceFinderOnRanks, GivesTheBitsOfEveryMask) {
  using T = typename TypeParam::real;
  for (const auto& [name, mask] : ts::torture_masks(19, 37)) {
    for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
      kastor::FindParams params;
      params.level = 1;
      params.label.connectivity = connectivity;
      params.label.min_pixels = connectivity == kastor::Connectivity::four ? 1 : 5;
      is_the_same_on_ranks<TypeParam>(image_of<T>(mask), params, name, {2, 3, 8});
    }
  }
}

/// More equal pixels in a bin of the window than are sent to all ranks.
TYPED_TEST(SourceFinderOnRanks, SelectsAmongVeryManyEqualPixels) {
  using T = typename TypeParam::real;
  ts::HostImage<T> image(700, 900);
  ts::Random random(5);
  for (T& x : image.values) x = static_cast<T>(std::round(4 * random.gaussian()) / 64);
  is_the_same_on_ranks<TypeParam>(image, {}, "few values", {3});
}

TYPED_TEST(SourceFinderOnRanks, AllThrowIfOneCannotRead) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto sky = ts::mosaic<ts::FirstExec, T>(200, 150, 1);
  for (const std::int64_t row : {0, 120, 199}) {
    std::mutex mutex;
    int failures = 0;
    ts::run_ranks(4, [&](kastor::Communicator& ranks) {
      ts::ArraySource<T> source(sky);
      source.fails_from_row = row;
      kastor::StreamedSourceFinder<Exec, T> find(ts::new_instance<Exec>(), {}, {ample, 9}, &ranks);
      try {
        (void)find(source);
      } catch (const kastor::Error& error) {
        const std::scoped_lock lock(mutex);
        ++failures;
        EXPECT_NE(std::string(error.what()).find("cannot be read"), std::string::npos);
      }
    });
    EXPECT_EQ(failures, 4) << row;
  }
}

TYPED_TEST(SourceFinderOnRanks, RefusesRowsOfDifferentWidths) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  EXPECT_THROW(
      ts::run_ranks(2,
                    [&](kastor::Communicator& ranks) {
                      const auto image = ts::to_device<Exec>(
                          ts::make_image<T>(ts::Pixels::gaussian, 20, 30 + ranks.rank(), 1));
                      kastor::SourceFinder<Exec, T> find(ts::new_instance<Exec>(), {}, ranks);
                      (void)find(image);
                    }),
      kastor::Error);
}

}  // namespace
