// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <kastor/io/image_reader.hpp>
#include <thread>

#include "io/fits/piece.hpp"
#include "rows_as_read.hpp"
#include "typed.hpp"

namespace {

using namespace testing_support;
using kastor::io::FitsImage;
using kastor::io::ImageReader;
using kastor::io::ImageReaderParams;
using kastor::io::ImageRoute;
using kastor::io::LoadedImage;
using kastor::io::ReadOptions;

/// Bytes that look like nothing: every bit pattern of a pixel occurs, NaN of all kinds included.
std::string noise(std::size_t length) {
  std::string bytes(length, '\0');
  std::uint64_t state = 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

struct Stored {
  int bitpix;
  std::vector<long long> axes;
  std::vector<std::pair<std::string, std::string>> cards;
};

std::string write(const ScratchDirectory& scratch, const Stored& stored) {
  auto hdu = HandMadeHdu::image(stored.bitpix, stored.axes);
  for (const auto& [key, value] : stored.cards) hdu.card(key, value);
  auto length = static_cast<std::size_t>(std::abs(stored.bitpix) / 8);
  for (const auto n : stored.axes) length *= static_cast<std::size_t>(n);
  const std::string path = scratch.file("image.fits");
  write_bytes(path, hdu.bytes(noise(length)));
  return path;
}

std::string name_of(const Stored& stored) {
  std::string name = "BITPIX " + std::to_string(stored.bitpix);
  for (const auto n : stored.axes) name += " x " + std::to_string(n);
  for (const auto& [key, value] : stored.cards) name += " " + key + "=" + value;
  return name;
}

/// Every BITPIX and way of scaling; shapes of one pixel, of rows that fill no word, and of more
/// than one piece (2^19 bytes) for each of several threads.
std::vector<Stored> stored_images() {
  std::vector<Stored> list;
  for (const int bitpix : {8, 16, 32, 64, -32, -64}) {
    for (const auto& axes : {std::vector<long long>{1, 1}, {7, 3}, {1021, 769}, {3, 700001}})
      list.push_back({bitpix, axes, {}});
    list.push_back({bitpix, {1021, 77}, {{"BSCALE", "0.3"}, {"BZERO", "-17.5"}}});
    list.push_back({bitpix, {1021, 77}, {{"BZERO", "32768"}, {"BLANK", "77"}}});
  }
  list.push_back({64, {1021, 77}, {{"BZERO", "9223372036854775808"}, {"BLANK", "-5"}}});
  return list;
}

template <class View>
bool same_bits(const View& a, const View& b) {
  return a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1) &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(typename View::value_type)) == 0;
}

void expect_same(const FitsImage& image, const FitsImage& expected, const std::string& what) {
  EXPECT_EQ(image.datasum, expected.datasum) << what;
  ASSERT_EQ(image.pixels.index(), expected.pixels.index()) << what;
  std::visit(
      [&](const auto& pixels) {
        EXPECT_TRUE(same_bits(pixels, std::get<std::decay_t<decltype(pixels)>>(expected.pixels)))
            << what;
      },
      image.pixels);
}

ReadOptions with_threads(int threads) {
  ReadOptions options;
  options.threads = threads;
  return options;
}

TEST(FitsThreads, ChangeNoPixelAndNoDatasum) {
  const ScratchDirectory scratch;
  for (const auto& stored : stored_images()) {
    const std::string path = write(scratch, stored);
    const auto alone = testing_support::read_both_ways(path, with_threads(1));
    EXPECT_EQ(alone.datasum, cfitsio_datasum(path, 0)) << name_of(stored);
    for (const int threads : {0, 2, 5})
      expect_same(kastor::io::read_image(path, with_threads(threads)), alone, name_of(stored));
  }
}

TEST(FitsThreads, APlaneMayBeginWithinAWordOfTheDatasum) {
  const ScratchDirectory scratch;
  const std::string path = write(scratch, {8, {1021, 769, 3}, {}});
  for (const int plane : {0, 1, 2}) {
    for (const int threads : {1, 2, 5}) {
      auto options = with_threads(threads);
      options.plane = plane;
      EXPECT_EQ(testing_support::read_both_ways(path, options).datasum, cfitsio_datasum(path, 0))
          << plane;
    }
  }
}

/// A loop over many pixels is compiled to vector instructions, one over a single pixel is not.
TEST(FitsThreads, ManyPixelsAtOnceHaveTheBitsOfOneByOne) {
  using namespace kastor::io::detail;
  const auto check = [&]<class Raw, class T>(Raw, T) {
    for (const std::size_t count : {1u, 7u, 64u, 1000u, 4099u}) {
      const std::string bytes = noise(count * sizeof(Raw));
      const auto* in = reinterpret_cast<const std::byte*>(bytes.data());
      for (const Scaling& scaling :
           {Scaling{}, Scaling{0.3, -17.5, 77}, Scaling{1.0, 0x1p63, -5}}) {
        std::vector<T> all(count), single(count);
        const auto sum = decode_piece<Raw>(in, count, scaling, all.data());
        for (std::size_t i = 0; i < count; ++i)
          (void)decode_piece<Raw>(in + i * sizeof(Raw), 1, scaling, &single[i]);
        EXPECT_EQ(std::memcmp(all.data(), single.data(), count * sizeof(T)), 0) << count;
        std::uint64_t words = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i)
          words += std::to_integer<std::uint64_t>(in[i]) << (24 - 8 * (i % 4));
        EXPECT_EQ(sum, words);
        EXPECT_EQ(sum_piece(in, bytes.size()), words);
      }
    }
  };
  check(std::uint8_t{}, float{});
  check(std::int16_t{}, float{});
  check(float{}, float{});
  check(std::int32_t{}, double{});
  check(std::int64_t{}, double{});
  check(double{}, double{});
}

TEST(FitsThreads, PixelsAreUsedAgainUnlessSomebodyHoldsThem) {
  const ScratchDirectory scratch;
  const std::string path = write(scratch, {-32, {100, 50}, {}});
  FitsImage image;
  kastor::io::read_image(path, {}, image);
  const float* first = pixels_of<float>(image).data();
  kastor::io::read_image(path, {}, image);
  EXPECT_EQ(pixels_of<float>(image).data(), first);
  const auto held = pixels_of<float>(image);
  kastor::io::read_image(path, {}, image);
  EXPECT_NE(pixels_of<float>(image).data(), held.data());
  kastor::io::read_image(write(scratch, {-64, {100, 50}, {}}), {}, image);
  EXPECT_EQ(pixels_of<double>(image).extent(0), 50u);
}

// ------------------------------------------------------------------------------ any memory

template <class Exec>
class Reader : public testing::Test {};
TYPED_TEST_SUITE(Reader, testing_support::Execs, testing_support::CaseName);

/// The loaded image with its pixels on the host.
template <class Exec>
FitsImage on_host(const LoadedImage<Exec>& loaded) {
  FitsImage image = loaded.about;
  std::visit(
      [&](const auto& pixels) {
        image.pixels = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, pixels);
      },
      loaded.pixels);
  return image;
}

template <class Exec>
void expect_as_on_host(ImageReader<Exec>& reader, const std::string& path,
                       const ReadOptions& options, LoadedImage<Exec>& loaded,
                       const std::string& what) {
  const auto expected = kastor::io::read_image(path, options);
  reader(path, options, loaded);
  expect_same(on_host(loaded), expected, what);
  EXPECT_EQ(loaded.about.header_cards, expected.header_cards);
  EXPECT_EQ(loaded.about.nx, expected.nx);
  EXPECT_EQ(loaded.about.path, path);
}

/// Buffers from much smaller than an image to larger; one image after the other through the same.
TYPED_TEST(Reader, GivesTheBitsOfTheHostOnEveryRoute) {
  using Exec = TypeParam;
  const ScratchDirectory scratch;
  for (const auto& [route, buffers, bytes] : {std::tuple{ImageRoute::automatic, 4, 16 << 20},
                                              {ImageRoute::host, 4, 16 << 20},
                                              {ImageRoute::buffers, 3, 1 << 18},
                                              {ImageRoute::buffers, 1, 100'000},
                                              {ImageRoute::buffers, 2, 16 << 20}}) {
    ImageReader<Exec> reader(Exec{}, {route, buffers, bytes});
    LoadedImage<Exec> loaded;
    for (const auto& stored : stored_images())
      expect_as_on_host(reader, write(scratch, stored), {}, loaded, name_of(stored));
  }
}

TYPED_TEST(Reader, BuffersMayBeSmallerThanARow) {
  using Exec = TypeParam;
  const ScratchDirectory scratch;
  ImageReader<Exec> reader(Exec{}, {ImageRoute::buffers, 2, 17});
  LoadedImage<Exec> loaded;
  for (const int bitpix : {8, 16, 32, 64, -32, -64}) {
    for (const int threads : {1, 2, 5}) {
      expect_as_on_host(reader, write(scratch, {bitpix, {7, 11}, {}}), with_threads(threads),
                        loaded, std::to_string(bitpix));
    }
  }
}

TYPED_TEST(Reader, TakesAPlaneOfACube) {
  using Exec = TypeParam;
  const ScratchDirectory scratch;
  ImageReader<Exec> reader(Exec{}, {ImageRoute::buffers, 2, 1000});
  LoadedImage<Exec> loaded;
  for (const int bitpix : {8, -32}) {
    const std::string path = write(scratch, {bitpix, {101, 77, 3}, {}});
    for (const int plane : {0, 1, 2}) {
      ReadOptions options;
      options.plane = plane;
      expect_as_on_host(reader, path, options, loaded, std::to_string(plane));
      EXPECT_EQ(loaded.about.datasum, cfitsio_datasum(path, 0));
    }
  }
}

TYPED_TEST(Reader, ReadsPackedAndCompressedFiles) {
  using Exec = TypeParam;
  const ScratchDirectory scratch;
  ImageReader<Exec> reader(Exec{}, {ImageRoute::buffers, 2, 1000});
  LoadedImage<Exec> loaded;
  const std::string path = write(scratch, {-32, {101, 77}, {}});
  ASSERT_EQ(std::system(("gzip " + path).c_str()), 0);
  expect_as_on_host(reader, path + ".gz", {}, loaded, "gzip");
  const std::string tiles = scratch.file("tiles.fits");
  {
    FitsMaker maker(tiles);
    fits_set_compression_type(maker.get(), RICE_1, &maker.status());
    maker.image<short>(SHORT_IMG, {200, 100}, TSHORT, std::vector<short>(20000, 7));
  }
  expect_as_on_host(reader, tiles, {}, loaded, "tiles");
}

TYPED_TEST(Reader, UsesMemoryAgainUnlessSomebodyHoldsIt) {
  using Exec = TypeParam;
  const ScratchDirectory scratch;
  const std::string path = write(scratch, {-32, {100, 50}, {}});
  for (const auto route : {ImageRoute::automatic, ImageRoute::buffers, ImageRoute::host}) {
    ImageReader<Exec> reader(Exec{}, {route, 2, 1000});
    LoadedImage<Exec> loaded;
    const auto pixels = [&] { return std::get<kastor::Image<float, Exec>>(loaded.pixels); };
    reader(path, {}, loaded);
    const float* first = pixels().data();
    reader(path, {}, loaded);
    EXPECT_EQ(pixels().data(), first);
    const auto held = pixels();
    reader(path, {}, loaded);
    EXPECT_NE(pixels().data(), held.data());
  }
}

TYPED_TEST(Reader, SaysOfBadFilesWhatTheHostSays) {
  using Exec = TypeParam;
  const ScratchDirectory scratch;
  ImageReader<Exec> reader(Exec{}, {ImageRoute::buffers, 2, 1000});
  const std::string path = write(scratch, {-32, {100, 100}, {}});
  std::filesystem::resize_file(path, 2880 + 39999);
  const auto says = [&] { return error_of([&] { (void)reader(path); }); };
  EXPECT_EQ(says(), read_error(path));
  EXPECT_SAYS(says(), "data truncated: header says 40000 bytes");
  std::filesystem::remove(path);
  EXPECT_EQ(says(), read_error(path));
  // And goes on with the next file.
  LoadedImage<Exec> loaded;
  expect_as_on_host(reader, write(scratch, {-32, {100, 100}, {}}), {}, loaded, "after failures");
}

/// A file that shrinks and grows while it is read: each reading is whole or refused in one of the
/// two sentences.
TYPED_TEST(Reader, RefusesAFileThatIsCutWhileItIsRead) {
  using Exec = TypeParam;
  const ScratchDirectory scratch;
  const std::string path = write(scratch, {-32, {1021, 2050}, {}});
  const auto size = std::filesystem::file_size(path);
  std::atomic<bool> stop{false};
  std::thread cutter([&] {
    for (int i = 0; !stop; ++i) std::filesystem::resize_file(path, i % 2 == 0 ? size / 2 : size);
  });
  for (const auto route : {ImageRoute::buffers, ImageRoute::host}) {
    ImageReader<Exec> reader(Exec{}, {route, 2, 1 << 16});
    LoadedImage<Exec> loaded;
    for (int i = 0; i < 50; ++i) {
      try {
        reader(path, with_threads(i % 4), loaded);
      } catch (const kastor::Error& error) {
        EXPECT_SAYS(error.what(), "data truncated");
      }
    }
  }
  stop = true;
  cutter.join();
}

TYPED_TEST(Reader, RefusesParametersOutOfTheirRange) {
  using Exec = TypeParam;
  const auto says = [](const ImageReaderParams& params) {
    return error_of([&] { const ImageReader<Exec> reader(Exec{}, params); });
  };
  EXPECT_SAYS(says({ImageRoute::buffers, 0, 1000}), "buffers is 0; expected 1 or more");
  EXPECT_SAYS(says({ImageRoute::buffers, 1, 15}), "buffer_bytes is 15; expected 16");
}

}  // namespace
