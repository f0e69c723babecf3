// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/io/fits_writer.hpp>
#include <limits>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::kept_cards;
using kastor::io::PixelRows;
using kastor::io::read_image;
using kastor::io::write_image;

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
              {.version = "0.1.0",
               .command_line = "",
               .input = "",
               .input_datasum = 0,
               .input_hdu = 0,
               .unit = "Jy"});
  const auto image = read_image(path);
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
  const auto image = read_image(scratch.file("a.fits"));
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
  const auto cards = read_image(scratch.file("a.fits")).header_cards;
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

TEST(FitsWriter, RefusesAnEmptyImage) {
  EXPECT_TRUE(contains(error_of([] { write_image("/tmp/x", PixelRows<float>{}, {}, {}); }),
                       "expected at least 1 x 1"));
}

TEST(KeptCards, KeepCoordinatesAndDropWhatIsOfTheFile) {
  const std::vector<std::string> stay = {
      card("CTYPE1", "'RA---SIN'"), card("CTYPE2", "'DEC--SIN'"),
      card("CRPIX1", "1.0"),        card("CD1_2", "0.1"),
      card("PC2_1", "0.1"),         card("PV1_1", "1.0"),
      card("PV2_10", "1.0"),        card("LONPOLE", "180.0"),
      card("RADESYS", "'ICRS'"),    card("EQUINOX", "2000.0"),
      card("BMAJ", "0.1"),          card("BPA", "0.1"),
      card("OBJECT", "'M13'"),      card("DATE-OBS", "'2020-01-01'"),
      card("A_ORDER", "2"),         card("A_0_2", "1e-5"),
      card("BP_1_1", "1e-5"),       card("CTYPE1A", "'LINEAR'"),
      card("RADESYSA", "'FK5'")};
  const std::vector<std::string> go = {card("SIMPLE", "T"),
                                       card("XTENSION", "'IMAGE'"),
                                       card("BITPIX", "16"),
                                       card("NAXIS", "4"),
                                       card("NAXIS1", "3"),
                                       card("EXTEND", "T"),
                                       card("BSCALE", "2"),
                                       card("BZERO", "2"),
                                       card("BLANK", "2"),
                                       card("BUNIT", "'K'"),
                                       card("DATAMIN", "2"),
                                       card("CHECKSUM", "'x'"),
                                       card("DATASUM", "'2'"),
                                       card("PCOUNT", "0"),
                                       card("EXTNAME", "'SCI'"),
                                       card("ZCMPTYPE", "'RICE_1'"),
                                       card("WCSAXES", "4"),
                                       card("CTYPE3", "'FREQ'"),
                                       card("CRVAL4", "1"),
                                       card("PC3_3", "1"),
                                       card("PC1_3", "0.0"),
                                       card("PV3_1", "1"),
                                       card("TTYPE1", "'a'"),
                                       card("CRPIX", "1"),
                                       card("CTYPEX", "1"),
                                       "COMMENT hello",
                                       "HISTORY old",
                                       ""};
  std::vector<std::string> all = go;
  all.insert(all.end(), stay.begin(), stay.end());
  const auto kept = kept_cards(all, {1, 2});
  for (const std::string& each : stay) EXPECT_TRUE(has_card(kept, each)) << each;
  EXPECT_EQ(kept.size(), stay.size());
}

TEST(KeptCards, AxesAreRenumbered) {
  const auto kept = kept_cards(
      {card("CTYPE1", "'STOKES'"), card("CTYPE2", "'RA---SIN'"), card("CTYPE3", "'DEC--SIN'"),
       card("CRVAL3", "-30.0"), card("PC2_3", "0.5"), card("PC1_1", "1.0"), card("PV3_1", "2.0")},
      {2, 3});
  EXPECT_EQ(kept, (std::vector<std::string>{card("CTYPE1", "'RA---SIN'"),
                                            card("CTYPE2", "'DEC--SIN'"), card("CRVAL2", "-30.0"),
                                            card("PC1_2", "0.5"), card("PV2_1", "2.0")}));
}

TEST(KeptCards, CoordinatesThatCannotStandAloneGoWithANote) {
  const std::string note = "HISTORY the coordinates of the input do not fit";
  for (const auto& cards :
       {std::vector<std::string>{card("CTYPE1", "'RA---SIN'"), card("CTYPE2", "'DEC--SIN'"),
                                 card("PC1_3", "0.2")},
        {card("CTYPE1", "'RA---SIN'"), card("CTYPE2", "'FREQ'"), card("CTYPE3", "'DEC--SIN'")},
        {card("CTYPE1", "'FREQ'"), card("CTYPE2", "'GLAT-CAR'")}}) {
    auto with_object = cards;
    with_object.push_back(card("OBJECT", "'x'"));
    const auto kept = kept_cards(with_object, {1, 2});
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_TRUE(has_card(kept, note));
    EXPECT_TRUE(has_card(kept, "OBJECT"));
  }
  const auto sip = kept_cards(
      {card("CTYPE2", "'RA---TAN-SIP'"), card("CTYPE3", "'DEC--TAN-SIP'"), card("A_2_0", "0.1")},
      {2, 3});
  EXPECT_TRUE(has_card(sip, note));
}

TEST(KeptCards, LongStringsKeepTheirContinuation) {
  const std::string more = "CONTINUE  'rest of the name'";
  const auto kept = kept_cards(
      {card("OBJECT", "'a long name&'"), more, card("AUTHOR", "'someone&'"), more}, {1, 2});
  EXPECT_EQ(kept, (std::vector<std::string>{card("OBJECT", "'a long name&'"), more}));
}

}  // namespace
