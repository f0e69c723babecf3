// SPDX-License-Identifier: Apache-2.0
#include <bzlib.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <kastor/io/fits_image.hpp>
#include <random>

#include "rows_as_read.hpp"

namespace {

using namespace testing_support;
using kastor::io::list_hdus;
using testing_support::read_both_ways;

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<unsigned>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string bzipped(const std::string& bytes) {
  std::string packed(bytes.size() + bytes.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(packed.size());
  BZ2_bzBuffToBuffCompress(packed.data(), &size, const_cast<char*>(bytes.data()),
                           static_cast<unsigned>(bytes.size()), 9, 0, 0);
  packed.resize(size);
  return packed;
}

std::string as_it_is(const std::string& bytes) { return bytes; }

/// An image of noise, plain (method 0) or tile-compressed.
std::string noisy_fits(int method, int bitpix) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  {
    FitsMaker maker(path);
    if (method != 0) fits_set_compression_type(maker.get(), method, &maker.status());
    std::vector<float> values(40 * 30);
    std::mt19937 random(3);
    for (float& value : values) value = std::floor(static_cast<float>(random() % 1000) * 0.1f);
    const std::vector<short> integers(values.begin(), values.end());
    bitpix < 0 ? maker.image<float>(bitpix, {40, 30}, TFLOAT, values, "NOISE")
               : maker.image<short>(bitpix, {40, 30}, TSHORT, integers, "NOISE");
    if (method == 0) maker.table("TAB", 2, {{"A", "1D", ""}, {"B", "5A", ""}});
  }
  return read_all(path);
}

/// Changes a few bytes, digits of cards, or the length.
std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (std::size_t times = 1 + below(3); times > 0; --times) {
    const std::size_t at = below(bytes.size());
    const std::size_t card = at / 80 * 80;
    switch (below(6)) {
      case 0:
        bytes.resize(at + 1);
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        if (card + 80 <= bytes.size()) bytes.replace(card + 8, 72, "= '" + std::string(69, 'A'));
        break;
      case 3:
        if (card + 80 <= bytes.size()) bytes.replace(card + 10, 70, std::string(70, '1'));
        break;
      case 4:
        for (std::size_t i = card; i < std::min(card + 30, bytes.size()); ++i)
          if (bytes[i] >= '0' && bytes[i] <= '9' && below(2) == 0)
            bytes[i] = static_cast<char>('0' + below(10));
        break;
      default:
        for (std::size_t i = at; i < std::min(at + 40, bytes.size()); ++i)
          bytes[i] = static_cast<char>(random());
    }
  }
  return bytes;
}

struct DamagedKind {
  const char* name;
  int method;
  int bitpix;
  std::string (*packed)(const std::string&);
};

class DamagedFiles : public testing::TestWithParam<DamagedKind> {};

// Whatever the damage: an image or one kastor::Error, which `error_of` checks for its one line.
TEST_P(DamagedFiles, AreReadOrRefused) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits.bz2");
  const std::string whole = noisy_fits(GetParam().method, GetParam().bitpix);
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string bytes = i % 2 == 0 ? GetParam().packed(damaged(whole, random))
                                         : damaged(GetParam().packed(whole), random);
    write_bytes(path, bytes);
    for (const char* hdu : {"0", "1"}) {
      try {
        (void)read_both_ways(path, {.hdu = hdu, .plane = {}});
      } catch (const kastor::Error& error) {
        ++refused;
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
    try {
      (void)list_hdus(path);
    } catch (const kastor::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedFiles,
                         testing::Values(DamagedKind{"plain", 0, FLOAT_IMG, as_it_is},
                                         DamagedKind{"gzip", 0, SHORT_IMG, gzipped},
                                         DamagedKind{"bzip2", 0, SHORT_IMG, bzipped},
                                         DamagedKind{"rice", RICE_1, FLOAT_IMG, as_it_is},
                                         DamagedKind{"rice_16", RICE_1, SHORT_IMG, as_it_is},
                                         DamagedKind{"gzip_1", GZIP_1, SHORT_IMG, as_it_is},
                                         DamagedKind{"gzip_2", GZIP_2, FLOAT_IMG, as_it_is},
                                         DamagedKind{"hcompress", HCOMPRESS_1, SHORT_IMG, as_it_is},
                                         DamagedKind{"plio", PLIO_1, SHORT_IMG, as_it_is}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(DamagedHeaders, WhatCfitsioWouldNotSurviveIsRefused) {
  const ScratchDirectory scratch;
  const std::string whole = noisy_fits(RICE_1, SHORT_IMG);
  struct Case {
    std::string keyword;
    std::string value;
    std::string says;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"TTYPE1", std::string(70, 'A'), "the value of TTYPE1 has 70 characters"},
           {"TTYPE1", "'" + std::string(69, 'A'), "the string of TTYPE1 has no closing quote"},
           {"ZCMPTYPE", "'" + std::string(69, 'A'), "the string of ZCMPTYPE has no closing quote"},
           {"ZBITPIX", std::string(70, 'A'), "ZBITPIX is not a number"},
           {"ZNAXIS", std::string(70, '1'), "ZNAXIS is not a number"},
           {"ZNAXIS2", "'" + std::string(40, 'A') + "'", "ZNAXIS2 is not a number"},
           {"ZTILE1", "INF", "ZTILE1 is not 1 or more"},
           {"ZTILE1", "0", "ZTILE1 is not 1 or more"},
           {"ZTILE2", "-1", "ZTILE2 is not 1 or more"},
           {"ZTILE2", "'       '", "ZTILE2 is not 1 or more"},
           {"ZVAL1", "0", "BLOCKSIZE (ZVAL1) is not 1 or more"},
           {"NAXIS", "100", "NAXIS is more than 99"}}) {
    std::string bytes = whole;
    std::string name = c.keyword;
    name.resize(8, ' ');
    const auto at = bytes.find(name + "= ", bytes.find("XTENSION"));
    ASSERT_NE(at, std::string::npos) << c.keyword;
    std::string card = name + "= " + c.value;
    card.resize(80, ' ');
    bytes.replace(at, 80, card);
    write_bytes(scratch.file("a.fits"), bytes);
    EXPECT_SAYS(read_error(scratch.file("a.fits")), c.says);
    EXPECT_EQ(list_hdus(scratch.file("a.fits")).size(), 1u);
    // The card that makes the table an image may be the last one.
    const auto is_image = bytes.find("ZIMAGE  =", bytes.find("XTENSION"));
    const auto last = bytes.find("END     ", is_image) - 80;
    ASSERT_LT(is_image, last);
    const std::string moved = bytes.substr(is_image, 80);
    bytes.erase(is_image, 80).insert(last, moved);
    write_bytes(scratch.file("a.fits"), bytes);
    EXPECT_SAYS(read_error(scratch.file("a.fits")), c.says);
    EXPECT_EQ(list_hdus(scratch.file("a.fits")).size(), 1u);
  }
}

TEST(DamagedHeaders, LongValuesOfIntegersAreRefusedInEveryHdu) {
  const ScratchDirectory scratch;
  for (const char* keyword : {"EXTVER", "BLANK", "PCOUNT", "GCOUNT"}) {
    for (const std::string& value : {std::string(70, '1'), "'" + std::string(60, 'A') + "'"}) {
      auto hdu = HandMadeHdu::image(8, {2, 2});
      write_bytes(scratch.file("a.fits"), hdu.card(keyword, value).bytes("abcd"));
      EXPECT_SAYS(read_error(scratch.file("a.fits")), fmt::format("{} is not a number", keyword));
    }
  }
}

TEST(DamagedHeaders, BlankOfIntegersIsAnInteger) {
  const ScratchDirectory scratch;
  for (const char* value : {"'text'", "", "1E400", "99999999999999999999", "5.5", "T", "-1E19"}) {
    for (const int bitpix : {16, -32}) {
      write_bytes(scratch.file("a.fits"), HandMadeHdu::image(bitpix, {1, 1})
                                              .card("BLANK", std::string(value))
                                              .bytes(std::string(4, '\1')));
      SCOPED_TRACE(value);
      if (bitpix > 0) {
        EXPECT_SAYS(read_error(scratch.file("a.fits")), "BLANK is not an integer");
      } else {
        EXPECT_EQ(read_both_ways(scratch.file("a.fits")).nx, 1);
      }
    }
  }
  for (const char* value : {"257", "257.", "2.57D2", "'257'"}) {
    write_bytes(scratch.file("a.fits"), HandMadeHdu::image(16, {1, 1})
                                            .card("BLANK", std::string(value))
                                            .bytes(std::string(2, '\1')));
    EXPECT_TRUE(std::isnan(pixels_of<float>(read_both_ways(scratch.file("a.fits")))(0, 0)))
        << value;
  }
}

TEST(DamagedHeaders, AnEndFilledWithNulsIsAnEnd) {
  const ScratchDirectory scratch;
  for (const int cards : {4, 35, 36}) {  // in the first block, at its end, alone in a second one
    HandMadeHdu hdu = HandMadeHdu::image(8, {2, 1});
    for (int i = 5; i < cards; ++i) hdu.card(fmt::format("KEY{}", i), "1");
    std::string bytes = hdu.bytes("ab");
    const auto end = bytes.rfind("END     ");
    for (auto at = end + 3; at < bytes.size() - 2880; ++at) bytes[at] = '\0';
    write_bytes(scratch.file("a.fits"), bytes);
    EXPECT_EQ(pixels_of<float>(read_both_ways(scratch.file("a.fits")))(0, 1), 98.0f) << cards;
  }
}

TEST(DamagedHeaders, CardsOfCompressedImagesMeanNothingElsewhere) {
  const ScratchDirectory scratch;
  const std::string whole = noisy_fits(0, FLOAT_IMG);
  const auto end = whole.find("END     ", whole.find("XTENSION"));
  ASSERT_NE(end, std::string::npos);
  for (const auto& text : {card("ZTILE1", "0"), card("ZTILE", "'deg'"),
                           card("ZVAL12", "'" + std::string(60, 'A') + "'"),
                           card("ZBLANK", "'" + std::string(60, 'A') + "'"),
                           card("ORIGIN", "'" + std::string(69, 'A')),
                           card("EXTVER", "'1" + std::string(40, ' ') + "'"),
                           card("ZVAL1", "'" + std::string(69, 'A'))}) {
    std::string bytes = whole;
    bytes.replace(end, 160, text + whole.substr(end, 80));
    write_bytes(scratch.file("a.fits"), bytes);
    std::string unread;
    EXPECT_EQ(list_hdus(scratch.file("a.fits"), 0, &unread).size(), 2u) << text << unread;
    EXPECT_EQ(unread, "");
  }
  std::string bytes = whole;
  bytes.replace(end, 160, card("TTYPE1", std::string(70, 'A')) + whole.substr(end, 80));
  write_bytes(scratch.file("a.fits"), bytes);
  std::string unread;
  EXPECT_EQ(list_hdus(scratch.file("a.fits"), 0, &unread).size(), 1u);
  EXPECT_EQ(unread, "the value of TTYPE1 has 70 characters");
}

TEST(DamagedHeaders, AKeywordThatIsThereTwiceMayBeLongOnce) {
  const ScratchDirectory scratch;
  std::string bytes = noisy_fits(HCOMPRESS_1, SHORT_IMG);
  const auto at = bytes.find("EXTNAME =");
  ASSERT_NE(at, std::string::npos);
  for (const char* keyword : {"NAXIS1  = ", "NAXIS2  = ", "TFIELDS = ", "THEAP   = "}) {
    bytes.replace(at, 80, keyword + std::string(70, '1'));
    write_bytes(scratch.file("a.fits"), bytes);
    try {
      (void)read_both_ways(scratch.file("a.fits"));
    } catch (const kastor::Error&) {
      continue;  // either card may be taken
    }
  }
}

TEST(DamagedHeaders, CommentsMayLookLikeThat) {
  const ScratchDirectory scratch;
  std::string bytes = noisy_fits(RICE_1, SHORT_IMG);
  const auto at = bytes.find("EXTNAME =");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 80, "HISTORY = '" + std::string(69, 'A'));
  write_bytes(scratch.file("a.fits"), bytes);
  EXPECT_EQ(read_both_ways(scratch.file("a.fits")).nx, 40);
}

TEST(DamagedHeaders, AMissingEndIsFoundBeforeTheEndOfTheFile) {
  const ScratchDirectory scratch;
  std::string bytes = noisy_fits(0, FLOAT_IMG);
  bytes.replace(bytes.find("END     "), 3, "   ");
  write_bytes(scratch.file("a.fits"), bytes);
  EXPECT_SAYS(read_error(scratch.file("a.fits")), "the header has no END card; expected a valid");
  write_bytes(scratch.file("a.fits"), bytes.substr(0, 80) + std::string(40'000'000, ' '));
  EXPECT_SAYS(read_error(scratch.file("a.fits")), "the header has no END card in 28802880 bytes");
}

TEST(UnpackedFiles, HaveALimit) {
  const ScratchDirectory scratch;
  const std::string whole = noisy_fits(0, FLOAT_IMG);
  for (const auto& [name, packed] :
       {std::pair{"a.fits.gz", gzipped(whole)}, {"a.fits.bz2", bzipped(whole)}}) {
    write_bytes(scratch.file(name), packed);
    kastor::io::ReadOptions options;
    options.max_unpacked = static_cast<std::int64_t>(whole.size()) - 1;
    EXPECT_SAYS(read_error(scratch.file(name), options),
                fmt::format("unpacks to more than {} bytes; expected", whole.size() - 1));
    ++options.max_unpacked;
    EXPECT_EQ(read_both_ways(scratch.file(name), options).nx, 40);
    EXPECT_SAYS(error_of([&] { (void)list_hdus(scratch.file(name), 4000); }),
                "more than 4000 bytes");
  }
}

TEST(UnpackedFiles, MayNotBeEmpty) {
  const ScratchDirectory scratch;
  for (const auto& [name, packed] : {std::pair{"a.gz", gzipped("")}, {"a.bz2", bzipped("")}}) {
    write_bytes(scratch.file(name), packed);
    EXPECT_SAYS(read_error(scratch.file(name)), "unpacks to 0 bytes; expected a FITS file");
  }
}

TEST(UnpackedFiles, ThatAreNoFitsFilesAreNotUnpackedFurther) {
  const ScratchDirectory scratch;
  const std::string zeros(50'000'000, '\0');
  kastor::io::ReadOptions options;
  options.max_unpacked = 10'000'000;
  write_bytes(scratch.file("a.gz"), gzipped(zeros));
  EXPECT_SAYS(read_error(scratch.file("a.gz"), options), "does not begin with SIMPLE");
  write_bytes(scratch.file("a.bz2"), bzipped(zeros));
  EXPECT_SAYS(read_error(scratch.file("a.bz2"), options), "does not begin with SIMPLE");
}

TEST(UnpackedFiles, OfGzipHaveOneMemberAndOfBzip2AnyNumberOfStreams) {
  const ScratchDirectory scratch;
  const std::string whole = noisy_fits(0, FLOAT_IMG);
  const std::string first = whole.substr(0, 3000), second = whole.substr(3000);
  const auto expected = [&] {
    write_bytes(scratch.file("a"), whole);
    return read_both_ways(scratch.file("a")).datasum;
  }();
  write_bytes(scratch.file("a.bz2"), bzipped(first) + bzipped(second) + "behind");
  EXPECT_EQ(read_both_ways(scratch.file("a.bz2")).datasum, expected);
  write_bytes(scratch.file("a.bz2"), bzipped(first) + bzipped(second).substr(0, 300));
  EXPECT_SAYS(read_error(scratch.file("a.bz2")), "ends within its compressed data");
  write_bytes(scratch.file("a.gz"), gzipped(whole) + "behind");
  EXPECT_SAYS(read_error(scratch.file("a.gz")), "6 more bytes after its first member");
  std::string wrong = gzipped(whole);
  wrong[wrong.size() - 6] = static_cast<char>(wrong[wrong.size() - 6] ^ 1);
  write_bytes(scratch.file("a.gz"), wrong);
  EXPECT_SAYS(read_error(scratch.file("a.gz")), "is damaged after");
}

}  // namespace
