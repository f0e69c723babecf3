// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <numeric>

#include "io/fits/tiles/gzip.hpp"
#include "tile_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::detail::decode_gzip;
using kastor::io::detail::unshuffle;
using testing::HasSubstr;
using testing::Optional;

/// \param window  with 16 more than 15 a gzip member, with 15 what zlib calls its own form
Bytes deflated(Bytes data, int window = 15 + 16) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, data.size()) + 32);
  data.push_back(0);  // no null pointer
  stream.next_in = data.data();
  stream.avail_in = static_cast<uInt>(data.size() - 1);
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bytes gunzipped(const Bytes& data, std::size_t room) {
  Bytes out(room);
  out.resize(decode_gzip(data, out));
  return out;
}

Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  std::mt19937 random(1);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 7 * 40);
  return bytes;
}

TEST(GzipTile, DecodesMembers) {
  for (const std::size_t count : {0U, 1U, 4U, 1000U, 100003U}) {
    const Bytes bytes = some_bytes(count);
    Bytes data = deflated(bytes);
    EXPECT_EQ(gunzipped(data, count), bytes) << count;
    EXPECT_EQ(gunzipped(data, 4 * count + 1), bytes) << "a tile of narrower values";
    data.insert(data.end(), {1, 2, 3});
    EXPECT_EQ(gunzipped(data, count), bytes) << "what follows is ignored";
  }
}

TEST(GzipTile, DataThatEndTooEarlyAreRefused) {
  const Bytes data = deflated(some_bytes(1000));
  for (std::size_t size = 0; size < data.size(); ++size) {
    const Bytes part(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THAT(refusal_of([&] { gunzipped(part, 1000); }), Optional(HasSubstr("data end")));
  }
  EXPECT_EQ(refusal_of([&] { gunzipped({}, 1000); }), "the gzip data end after 0 of 1000 bytes");
}

TEST(GzipTile, MoreThanTheTileIsRefusedAtOnce) {
  const Bytes data = deflated(Bytes(50'000'000));
  EXPECT_EQ(refusal_of([&] { gunzipped(data, 1000); }),
            "the gzip data are of more than 1000 bytes");
  EXPECT_EQ(refusal_of([&] { gunzipped(data, 0); }), "the gzip data are of more than 0 bytes");
}

TEST(GzipTile, WrongDataAreRefused) {
  const Bytes bytes = some_bytes(1000);
  Bytes data = deflated(bytes);
  data[data.size() - 8] ^= 1;
  EXPECT_THAT(refusal_of([&] { gunzipped(data, 1000); }),
              Optional(HasSubstr("incorrect data check")));
  data = deflated(bytes, 15);
  EXPECT_THAT(refusal_of([&] { gunzipped(data, 1000); }), Optional(HasSubstr("incorrect header")));
  EXPECT_GT(decode_damaged(deflated(bytes), 2, 4000, [](const Bytes& d) { gunzipped(d, 1000); }),
            3500);
}

TEST(GzipTile, UnshufflesValues) {
  for (const int width : {1, 2, 4, 8}) {
    for (const std::size_t count : {0U, 1U, 2U, 101U}) {
      Bytes bytes(count * static_cast<std::size_t>(width));
      std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
      Bytes shuffled;
      for (std::size_t k = 0; k < static_cast<std::size_t>(width); ++k)
        for (std::size_t i = 0; i < count; ++i)
          shuffled.push_back(bytes[i * static_cast<std::size_t>(width) + k]);
      Bytes out(bytes.size());
      unshuffle(shuffled, width, out);
      EXPECT_EQ(out, bytes) << width << " x " << count;
    }
  }
}

TEST(GzipTile, SizesThatDoNotFitAreRefused) {
  struct Case {
    std::size_t from;
    int width;
    std::size_t to;
  };
  for (const auto& [from, width, to] :
       {Case{8, 3, 8}, {8, 0, 8}, {8, -4, 8}, {8, 16, 8}, {8, 4, 12}, {12, 4, 8}, {10, 4, 10}}) {
    Bytes out(to);
    EXPECT_THAT(refusal_of([&, n = from, w = width] { unshuffle(Bytes(n), w, out); }),
                Optional(HasSubstr("expected as many")));
  }
}

/// Both together, as CFITSIO writes them.
TEST(GzipTile, DecodesWhatCfitsioEncodes) {
  for (const int type : {GZIP_1, GZIP_2}) {
    for (const auto& [bitpix, width, low, high] : {std::tuple{BYTE_IMG, 1, 0LL, 255LL},
                                                   {SHORT_IMG, 2, -32768LL, 32767LL},
                                                   {LONG_IMG, 4, -2147483648LL, 2147483647LL}}) {
      const auto values = integers_of_all_kinds(15, low, high, 3)[1];
      PackedImage image = packed_integers(type, bitpix, {5, 3}, {5, 3}, values);
      Bytes bytes = gunzipped(image.tile(1), 60);
      ASSERT_EQ(bytes.size(), 15U * static_cast<unsigned>(width));
      const Bytes stored = bytes;
      if (type == GZIP_2) unshuffle(stored, width, bytes);
      for (std::size_t i = 0; i < 15; ++i) {
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(width); ++k)
          bits = bits << 8 | bytes[i * static_cast<std::size_t>(width) + k];
        EXPECT_EQ(bits, static_cast<std::uint32_t>(values[i]) & (0xffffffffU >> (32 - 8 * width)));
      }
    }
  }
}

}  // namespace
