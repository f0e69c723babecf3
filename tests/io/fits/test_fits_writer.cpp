// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <kastor/io/fits_writer.hpp>
#include <sstream>

#include "header_examples.hpp"
#include "rows_as_read.hpp"

namespace {

using namespace testing_support;
using kastor::io::kept_cards;
using kastor::io::PixelRows;
using kastor::io::write_image;
using testing_support::read_both_ways;

bool has_card(const std::vector<std::string>& cards, const std::string& start) {
  for (const std::string& each : cards) {
    if (each.starts_with(start)) return true;
  }
  return false;
}

template <class T>
void round_trip(int bitpix) {
  const ScratchDirectory scratch;
  // More than one piece of 1 MiB, and rows that do not divide it.
  const std::int64_t ny = 301;
  const std::int64_t nx = 1009;
  const std::int64_t stride = 1013;
  std::vector<T> values(static_cast<std::size_t>(ny * stride));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(i) - static_cast<T>(1000);
  const std::string path = scratch.file("a.fits");
  write_image(path, PixelRows<T>{values.data(), ny, nx, stride}, {},
              {.version = "0.1.0", .command_line = "", .input = "", .unit = "Jy"});
  const auto image = read_both_ways(path);
  EXPECT_EQ(image.hdu.bitpix, bitpix);
  EXPECT_EQ(image.hdu.unit, "Jy");
  EXPECT_EQ(image.datasum, cfitsio_datasum(path, 0));
  ASSERT_EQ(image.ny, ny);
  ASSERT_EQ(image.nx, nx);
  std::visit(
      [&](const auto& pixels) {
        for (std::int64_t y = 0; y < ny; ++y) {
          for (std::int64_t x = 0; x < nx; ++x) {
            ASSERT_EQ(static_cast<T>(pixels(y, x)),
                      values[static_cast<std::size_t>(y * stride + x)])
                << y << ' ' << x;
          }
        }
      },
      image.pixels);
  EXPECT_EQ(std::filesystem::file_size(path) % 2880, 0u);
}

TEST(FitsWriter, EveryTypeComesBack) {
  round_trip<float>(-32);
  round_trip<double>(-64);
  round_trip<std::int32_t>(32);
  round_trip<std::int64_t>(64);
}

TEST(FitsWriter, TakesViewsAndCutOuts) {
  const ScratchDirectory scratch;
  const kastor::io::HostPixels<float> view("view", 4, 5);
  view(2, 3) = 7.0f;
  const auto cut = Kokkos::subview(view, std::pair{2, 4}, std::pair{3, 5});
  write_image(scratch.file("a.fits"), kastor::io::pixel_rows(cut), {}, {});
  const auto image = read_both_ways(scratch.file("a.fits"));
  EXPECT_EQ(image.ny, 2);
  EXPECT_EQ(pixels_of<float>(image)(0, 0), 7.0f);
}

TEST(FitsWriter, WritesProvenanceAndExtraCards) {
  const ScratchDirectory scratch;
  const float pixel = 1.0f;
  write_image(
      scratch.file("a.fits"), PixelRows<float>{&pixel, 1, 1, 1}, {card("CRVAL1", "12.5")},
      {.version = "0.1.0",
       .command_line = "label --kappa 3",
       .input = "in.fits",
       .input_datasum = 42,
       .input_hdu = 1,
       .unit = ""},
      {{"SEED", std::int64_t{5}, "seed"}, {"NOISE", 0.1, ""}, {"MODEL", std::string("sky"), ""}});
  const auto cards = read_both_ways(scratch.file("a.fits")).header_cards;
  EXPECT_TRUE(has_card(cards, "CRVAL1  = 12.5"));
  EXPECT_TRUE(has_card(cards, "KASTORV = '0.1.0"));
  EXPECT_TRUE(has_card(cards, "INPUT   = 'in.fits"));
  EXPECT_TRUE(has_card(cards, "INHDU   =                    1"));
  EXPECT_TRUE(has_card(cards, "INSUM   =                   42"));
  EXPECT_TRUE(has_card(cards, "SEED    =                    5"));
  EXPECT_TRUE(has_card(cards, "NOISE   ="));
  EXPECT_TRUE(has_card(cards, "MODEL   = 'sky"));
  EXPECT_TRUE(has_card(cards, "HISTORY kastor options: label --kappa 3"));
  EXPECT_FALSE(has_card(cards, "BUNIT"));
}

TEST(FitsWriter, NamesTheConventionOfLongStringsOnce) {
  const ScratchDirectory scratch;
  const float pixel = 1.0f;
  const auto cards_with = [&](const std::string& input, std::vector<std::string> kept) {
    write_image(scratch.file("a.fits"), PixelRows<float>{&pixel, 1, 1, 1}, kept,
                {.version = "1", .command_line = "", .input = input, .unit = "\xc2\xb5Jy/bm"});
    auto cards = read_both_ways(scratch.file("a.fits")).header_cards;
    std::filesystem::remove(scratch.file("a.fits"));
    return cards;
  };
  const auto count = [](const std::vector<std::string>& cards) {
    return std::count_if(cards.begin(), cards.end(), [](const std::string& each) {
      return each.starts_with("LONGSTRN= 'OGIP 1.0'");
    });
  };
  const auto plain = cards_with("in.fits", {});
  EXPECT_EQ(count(plain), 0);
  EXPECT_TRUE(has_card(plain, "BUNIT   = 'uJy/beam'"));  // a card cannot hold what was typed
  const std::string longer(200, 'x');
  EXPECT_EQ(count(cards_with(longer, {})), 1);
  std::string rest = "CONTINUE  'the end'";
  rest.resize(80, ' ');
  EXPECT_EQ(count(cards_with(longer, {card("OBJECT", "'a long &'"), rest})), 1);
  const auto cards = cards_with("in.fits", {card("OBJECT", "'a long &'"), rest});
  EXPECT_EQ(count(cards), 1);
  const auto object = std::find_if(cards.begin(), cards.end(), [](const std::string& each) {
    return each.starts_with("OBJECT");
  });
  ASSERT_NE(object, cards.end());
  EXPECT_TRUE((object + 1)->starts_with("CONTINUE"));
}

TEST(FitsWriter, RefusesAnEmptyImage) {
  EXPECT_SAYS(error_of([] { write_image("/tmp/x", PixelRows<float>{}, {}, {}); }),
              "expected at least 1 x 1");
}

TEST(KeptCards, KeepCoordinatesAndDropWhatIsOfTheFile) {
  const auto stay = cards_of(
      "CTYPE1='RA---ZPN-SIP' CTYPE2='DEC--ZPN-SIP' CRPIX1=1.0 CD1_2=0.1 PC2_1=0.1 PV1_1=1.0 "
      "PV2_10=1.0 LONPOLE=180.0 RADESYS='ICRS' EQUINOX=2000.0 BMAJ=0.1 BPA=0.1 OBJECT='M13' "
      "DATE-OBS='2020-01-01' A_ORDER=2 B_ORDER=2 A_0_2=1e-5 "
      "AP_ORDER=2 BP_ORDER=2 BP_1_1=1e-5 CTYPE1A='LINEAR' RADESYSA='FK5'");
  auto all = cards_of(
      "SIMPLE=T XTENSION='IMAGE' BITPIX=16 NAXIS=4 NAXIS1=3 EXTEND=T BSCALE=2 BZERO=2 BLANK=2 "
      "BUNIT='K' DATAMIN=2 CHECKSUM='x' DATASUM='2' PCOUNT=0 EXTNAME='SCI' ZCMPTYPE='RICE_1' "
      "WCSAXES=4 CTYPE3='FREQ' CRVAL4=1 PC3_3=1 PC1_3=0.0 PV3_1=1 TTYPE1='a' CRPIX=1 CTYPEX=1");
  all.insert(all.end(), {"COMMENT hello", "HISTORY old", ""});
  all.insert(all.end(), stay.begin(), stay.end());
  const auto kept = kept_cards(all, {1, 2});
  for (const std::string& each : stay) EXPECT_TRUE(has_card(kept, each)) << each;
  EXPECT_EQ(kept.size(), stay.size());
}

TEST(KeptCards, AxesAreRenumbered) {
  const auto input =
      "CTYPE1='STOKES' CTYPE2='RA---SIN' CTYPE3='DEC--SIN' CRVAL3=-30.0 PC2_3=0.5 PC1_1=1.0 "
      "PV3_1=2.0";
  EXPECT_EQ(kept_cards(cards_of(input), {2, 3}),
            cards_of("CTYPE1='RA---SIN' CTYPE2='DEC--SIN' CRVAL2=-30.0 PC1_2=0.5 PV2_1=2.0"));
}

TEST(KeptCards, CoordinatesThatCannotStandAloneGoWithANote) {
  const std::string note = "HISTORY the coordinates of the input do not fit";
  for (const std::string cards :
       {"CTYPE1='RA---SIN' CTYPE2='DEC--SIN' PC1_3=0.2",
        "CTYPE1='RA---SIN' CTYPE2='FREQ' CTYPE3='DEC--SIN'", "CTYPE1='FREQ' CTYPE2='GLAT-CAR'"}) {
    const auto kept = kept_cards(cards_of(cards + " OBJECT='x'"), {1, 2});
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_TRUE(has_card(kept, note));
    EXPECT_TRUE(has_card(kept, "OBJECT"));
  }
  const auto sip = cards_of("CTYPE2='RA---TAN-SIP' CTYPE3='DEC--TAN-SIP' A_ORDER=2 A_2_0=0.1");
  EXPECT_TRUE(has_card(kept_cards(sip, {2, 3}), note));
}

TEST(KeptCards, LongStringsKeepTheirContinuation) {
  const std::string more = "CONTINUE  'rest of the name'";
  const auto kept = kept_cards(
      {card("OBJECT", "'a long name&'"), more, card("AUTHOR", "'someone&'"), more}, {1, 2});
  EXPECT_EQ(kept, (std::vector<std::string>{card("OBJECT", "'a long name&'"), more}));
}

}  // namespace
