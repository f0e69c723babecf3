// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/io/fits_writer.hpp>
#include <kastor/io/wcs.hpp>
#include <numbers>

#include "fits_support.hpp"
#include "header_examples.hpp"

namespace {

using namespace testing_support;
using kastor::io::kept_cards;
using kastor::io::PixelPosition;
using kastor::io::SkyPosition;
using kastor::io::Wcs;

constexpr double k_degree = std::numbers::pi / 180.0;

const std::vector<PixelPosition> k_pixels{{99, 79}, {0, 0}, {49, 120}, {150.5, 30.25}, {199, 159}};

Wcs wcs_of(const std::string& cards) { return {cards_of(cards), {1, 2}}; }

/// One note with all of these parts.
void expect_note(const Wcs& wcs, const std::vector<std::string>& parts) {
  ASSERT_EQ(wcs.notes().size(), 1u) << testing::PrintToString(wcs.notes());
  for (const auto& part : parts) EXPECT_SAYS(wcs.notes()[0], part);
}

/// The gnomonic projection about (210.5, 30) of a point of the tangent plane [degree] (Calabretta &
/// Greisen 2002, section 5.1.3).
SkyPosition gnomonic(double xi, double eta) {
  const double x = xi * k_degree;
  const double y = eta * k_degree;
  const double dec = 30.0 * k_degree;
  const double out = std::cos(dec) - y * std::sin(dec);
  const double north = std::sin(dec) + y * std::cos(dec);
  return {210.5 + std::atan2(x, out) / k_degree, std::atan2(north, std::hypot(x, out)) / k_degree};
}

using Plane = std::array<double, 2>;  // xi, eta [degree]

/// Compares with a function from FITS' pixel, counted from the reference pixel, to the tangent
/// plane.
template <class ToPlane>
void expect_gnomonic(const Wcs& wcs, const ToPlane& to_plane) {
  const auto sky = wcs.to_sky(k_pixels);
  const auto back = wcs.to_pixels(sky);
  for (std::size_t i = 0; i < k_pixels.size(); ++i) {
    const auto [xi, eta] = to_plane(k_pixels[i].x - 99.0, k_pixels[i].y - 79.0);
    const auto want = gnomonic(xi, eta);
    EXPECT_NEAR(sky[i].longitude, want.longitude, 1e-9) << i;
    EXPECT_NEAR(sky[i].latitude, want.latitude, 1e-9) << i;
    EXPECT_NEAR(back[i].x, k_pixels[i].x, 1e-6) << i;
    EXPECT_NEAR(back[i].y, k_pixels[i].y, 1e-6) << i;
  }
}

Plane by_cd(double x, double y) { return {-0.008 * x + 0.003 * y, 0.002 * x + 0.01 * y}; }

/// The formula of the TPV convention, as far as the terms of k_polynomial go.
Plane polynomial(const Plane& at) {
  const auto [u, v] = at;
  const double r = std::hypot(u, v);
  return {0.01 + 1.02 * u + 0.03 * v + 0.005 * r + 0.02 * u * u - 0.015 * u * v + 0.01 * v * v +
              0.004 * u * u * v,
          -0.02 + 0.98 * v + 0.01 * u - 0.004 * r + 0.012 * v * v + 0.018 * v * u - 0.02 * u * u +
              0.003 * u * u * u + 0.002 * r * r * r};
}

std::string example(const std::string& name) {
  for (const auto& each : header_examples())
    if (each.name == name) return each.cards;
  ADD_FAILURE() << name;
  return "";
}

/// Rotated by the angle of CROTA2, after the scales (FITS standard 4.0, section 8.4.2).
Plane rotated(double x, double y, double degrees) {
  const double c = std::cos(degrees * k_degree);
  const double s = std::sin(degrees * k_degree);
  return {-0.01 * x * c - 0.01 * y * s, -0.01 * x * s + 0.01 * y * c};
}

TEST(WcsHeaders, ExponentsMayBeWrittenWithD) {
  const Wcs wcs = wcs_of(example("exponents"));
  EXPECT_TRUE(wcs.notes().empty());
  EXPECT_EQ(wcs.frame(), "FK5");
  expect_gnomonic(wcs, [](double x, double y) { return rotated(x, y, 30); });
  for (const std::string& each : kept_cards(cards_of(example("exponents")), {1, 2}))
    EXPECT_EQ(each.substr(10, 20).find_first_of("Dd"), each.starts_with("CTYPE2") ? 1u : each.npos)
        << each;
}

TEST(WcsHeaders, OldKeywordsAreThoseOfTheStandard) {
  expect_gnomonic(wcs_of(example("old_pc")), [](double x, double y) {
    return Plane{-0.01 * x + 0.001 * y, 0.01 * y};
  });
  expect_gnomonic(wcs_of(example("old_cd")), by_cd);
  // The native longitude of the pole turns the plane by 180 degrees less itself.
  expect_gnomonic(wcs_of(example("longpole")),
                  [](double x, double y) { return rotated(x, y, 30); });
  const std::string azp = at_reference("AZP") + "CDELT1=-0.01 CDELT2=0.01 PV2_1=2.0 PV2_2=30.0";
  EXPECT_EQ(kept_cards(cards_of(example("projp")), {1, 2}), cards_of(azp));
  // The latitude is on the axis that became x.
  EXPECT_EQ(kept_cards(cards_of("CTYPE1='STOKES' CTYPE2='DEC--AZP' CTYPE3='RA---AZP' PROJP1=2.0 "
                                "PC002003=0.5 PC001001=1.0"),
                       {2, 3}),
            cards_of("CTYPE1='DEC--AZP' CTYPE2='RA---AZP' PV1_1=2.0 PC1_2=0.5"));
  const Wcs both = wcs_of(at_reference("TAN") + k_cd + "PC001001=-1.0 PC002002=1.0");
  expect_gnomonic(both, by_cd);
  expect_note(both, {"PC001001, PC002002", "not used"});
  // Both forms of ZPN's parameters, as of the cameras of UKIRT and VISTA.
  const std::string zpn = at_reference("ZPN") + k_cd + "PV2_1=1.0 PV2_3=42.0 PROJP1=1.0 PROJP3=4";
  EXPECT_TRUE(wcs_of(zpn + "2.0").notes().empty());
  expect_note(wcs_of(zpn + "4.0"), {"PROJP3 of the header", "not used"});
}

TEST(WcsHeaders, PolynomialsOfScampAreTpv) {
  const auto distorted = [](double x, double y) { return polynomial(by_cd(x, y)); };
  for (const auto* name : {"scamp", "tpv"}) {
    const Wcs wcs = wcs_of(example(name));
    EXPECT_TRUE(wcs.notes().empty()) << name;
    expect_gnomonic(wcs, distorted);
  }
  // Also those that lack terms of the third degree, and have numbers that the projection has.
  const std::string linear = "PV1_0=0.1 PV1_1=1.1 PV1_2=0.2 PV2_0=0.3 PV2_1=0.9 PV2_2=0.1";
  expect_gnomonic(wcs_of(at_reference("TAN") + k_cd + linear), [](double x, double y) {
    const auto [u, v] = by_cd(x, y);
    return Plane{0.1 + 1.1 * u + 0.2 * v, 0.3 + 0.9 * v + 0.1 * u};
  });
  // These are the place of the reference pixel, (0, 90), and of the pole.
  const Wcs native = wcs_of(at_reference("TAN") + k_cd + "PV1_1=0.0 PV1_2=90.0 PV1_3=180.0");
  expect_gnomonic(native, by_cd);
  EXPECT_TRUE(native.notes().empty());
  // One latitude for all pixels is no polynomial.
  const std::string pole = "PV1_3=180.0 PV2_1=0.0 PV2_2=0.0";
  const Wcs zero = wcs_of(at_reference("TAN") + k_cd + pole);
  expect_gnomonic(zero, by_cd);
  EXPECT_TRUE(zero.notes().empty());
}

TEST(WcsHeaders, PolynomialsComeAfterTheScale) {
  expect_gnomonic(wcs_of(example("scamp_rotated")),
                  [](double x, double y) { return polynomial(rotated(x, y, 25)); });
  expect_gnomonic(wcs_of(example("tpv_pc")), [](double x, double y) {
    return polynomial({-0.01 * (0.8 * x - 0.6 * y), 0.02 * (0.6 * x + 0.8 * y)});
  });
  expect_gnomonic(wcs_of(example("tpv_defaults")), [](double x, double y) {
    const auto [u, v] = by_cd(x, y);
    return Plane{u + 0.02 * u * u, v + 0.01 * u * u};
  });
  // xi is the longitude, whichever axis it is on.
  expect_gnomonic(wcs_of(example("tpv_latitude_first")), [](double x, double y) {
    const auto [u, v] = by_cd(x, y);
    return Plane{0.01 + u + 0.02 * u * u + 0.01 * u * v,
                 0.98 * v + 0.02 * u + 0.03 * v * v - 0.01 * u * u};
  });
}

TEST(WcsHeaders, DistortionsWithoutTheirTypeAreNotApplied) {
  const Wcs sip = wcs_of(example("sip_without_type"));
  expect_gnomonic(sip, by_cd);
  expect_note(sip, {"A_ORDER, B_ORDER, A_2_0, ... (4 cards)", "-SIP"});
  expect_gnomonic(wcs_of(example("sip")),
                  [](double x, double y) { return by_cd(x + 1e-4 * x * x, y - 5e-5 * y * y); });
  const Wcs two = wcs_of(example("sip_and_scamp"));
  expect_gnomonic(two,
                  [](double x, double y) { return by_cd(x + 1e-4 * x * x, y + 1e-4 * y * y); });
  expect_note(two, {"PV1_0", "SIP"});
  const Wcs unused = wcs_of(example("tan_parameters"));
  expect_gnomonic(unused, [](double x, double y) { return rotated(x, y, 0); });
  expect_note(unused, {"PV2_1, PV2_2", "TAN"});
  const std::string plain = at_reference("TAN") + k_cd;
  EXPECT_TRUE(wcs_of(plain + "PV2_1=0.0 WAT0_001='system=image'").notes().empty());
  const Wcs orthographic = wcs_of(at_reference("SIN") + k_cd + "PV1_7=0.5 PV2_1=0.0");
  expect_note(orthographic, {"PV1_7", "SIN"});
  const Wcs tables = wcs_of(plain + "CPDIS1='LOOKUP' DP1='NAXES:2' D2IMDIS1='LOOKUP'");
  expect_gnomonic(tables, by_cd);
  expect_note(tables, {"CPDIS1, DP1, D2IMDIS1", "not applied"});
  const Wcs iraf = wcs_of(at_reference("TNX") + k_cd + "WAT1_001='wtype=tnx' WAT2_001='wtype=tnx'");
  expect_gnomonic(iraf, by_cd);
  expect_note(iraf, {"WAT1_001, WAT2_001", "not applied"});
  const Wcs plate = wcs_of(plain + "AMDX1=67.2 AMDY1=67.3");
  expect_note(plate, {"AMDX1, AMDY1", "not applied"});
}

TEST(WcsHeaders, WhatIsWrittenShowsTheSameSky) {
  for (const auto& [name, text] : header_examples()) {
    const auto cards = cards_of(text);
    const auto kept = kept_cards(cards, {1, 2});
    const auto sky = Wcs(cards, {1, 2}).to_sky(k_pixels);
    const Wcs read(kept, {1, 2});
    EXPECT_TRUE(read.notes().empty()) << name;
    const auto again = read.to_sky(k_pixels);
    auto inside = k_pixels;
    for (auto& pixel : inside) pixel = {pixel.x + 7, pixel.y - 2};
    const auto moved = Wcs(kastor::io::moved_cards(kept, 7, -2), {1, 2}).to_sky(inside);
    for (std::size_t i = 0; i < sky.size(); ++i) {
      EXPECT_EQ(sky[i].longitude, again[i].longitude) << name;
      EXPECT_EQ(sky[i].latitude, again[i].latitude) << name;
      EXPECT_NEAR(sky[i].longitude, moved[i].longitude, 1e-9) << name;
      EXPECT_NEAR(sky[i].latitude, moved[i].latitude, 1e-9) << name;
    }
    EXPECT_EQ(kept_cards(kept, {1, 2}).size(),
              kept.size() - static_cast<std::size_t>(std::count_if(
                                kept.begin(), kept.end(),
                                [](const auto& card) { return card.starts_with("HISTORY"); })))
        << name;
  }
}

TEST(WcsHeaders, CardsThatAreNoNumbersAreRefused) {
  const auto base = cards_of(at_reference("TAN") + k_cd);
  const struct {
    std::string keyword, value, says;
  } cases[] = {
      {"CRVAL1", "'40.0 deg'", "CRVAL1 is '40.0 deg'; expected a number"},
      {"CRVAL2", "40.0 deg / of the field", "CRVAL2 is 40.0 deg; expected a number"},
      {"CRPIX1", "NaN", "CRPIX1 is NaN; expected a number"},
      {"CRPIX2", "", "CRPIX2 has no value; expected a number"},
      {"CD1_2", "T", "CD1_2 is T; expected a number"},
      {"CD1_2", "1.0E400", "CD1_2 is 1.0E400; expected a number"},
      {"LONPOLE", "'south'", "LONPOLE is 'south'"},
      {"PV1_3", "'x'", "PV1_3 is 'x'"},
      {"EQUINOX", "J1950", "EQUINOX is J1950"},
      {"EQUINOX", "'J1950'", "EQUINOX is 'J1950'"},
      {"EQUINOX", "'2000 or so'", "EQUINOX is '2000 or so'"},
  };
  for (const auto& [keyword, value, says] : cases) {
    auto cards = base;
    std::erase_if(cards, [&](const auto& each) { return each.starts_with(keyword); });
    cards.push_back(card(keyword, value));
    EXPECT_SAYS(error_of([&] { const Wcs wcs(cards, {1, 2}); }), says);
    // An output has no coordinates then, and says why.
    std::string history;
    for (const auto& each : kept_cards(cards, {1, 2})) {
      EXPECT_TRUE(each.starts_with("HISTORY ")) << each;
      history += each.substr(8);
    }
    EXPECT_SAYS(history, "the coordinates of the input are left out: ");
    EXPECT_SAYS(history, says);
  }
  EXPECT_SAYS(
      error_of([&] { (void)wcs_of(at_reference("TAN-SIP") + k_cd + "A_ORDER=2 A_2_0='x'"); }),
      "A_2_0 is 'x'");
  EXPECT_SAYS(error_of([&] { (void)wcs_of(at_reference("TAN") + "CDELT1='x' CDELT2=1.0"); }),
              "CDELT1 is 'x'");
  // Cards that decide nothing.
  expect_gnomonic(wcs_of(at_reference("TAN") + k_cd + "CDELT1='x' CROTA2='x' CRDER1='x'"), by_cd);
  const Wcs icrs = wcs_of(at_reference("TAN") + k_cd + "EQUINOX='x2000' RADESYS='ICRS'");
  EXPECT_EQ(icrs.frame(), "ICRS");
  expect_note(icrs, {"EQUINOX is 'x2000'", "not needed"});
}

TEST(WcsHeaders, YearsMayBeStrings) {
  const struct {
    std::string card, frame;
    double year;
  } cases[] = {{"EQUINOX='2000.0'", "FK5", 2000},
               {"EQUINOX='J2000'", "FK5", 2000},
               {"EQUINOX='B1950'", "FK4", 1950},
               {"EPOCH='B1975.0'", "FK4", 1975}};
  for (const auto& [year, frame, want] : cases) {
    const auto cards = cards_of(at_reference("TAN") + k_cd + year);
    for (const auto& each : {cards, kept_cards(cards, {1, 2})}) {
      const Wcs wcs(each, {1, 2});
      EXPECT_EQ(wcs.frame(), frame) << year;
      EXPECT_EQ(wcs.equinox(), want) << year;
      EXPECT_TRUE(wcs.notes().empty()) << year;
    }
  }
}

TEST(WcsHeaders, TermsOfSipAreThoseOfItsOrder) {
  const std::string sip = at_reference("TAN-SIP") + k_cd;
  const Wcs beyond = wcs_of(sip + "A_ORDER=2 B_ORDER=2 A_2_0=1e-4 A_2_1=1e-6 B_0_3=0.0");
  expect_gnomonic(beyond, [](double x, double y) { return by_cd(x + 1e-4 * x * x, y); });
  expect_note(beyond, {"A_2_1", "not applied", "A_ORDER"});
  const Wcs none = wcs_of(sip + "B_ORDER=2 A_2_0=1e-4 B_2_0=1e-4");
  expect_gnomonic(none, [](double x, double y) { return by_cd(x, y + 1e-4 * x * x); });
  expect_note(none, {"A_2_0", "not applied", "missing"});
  const auto kept = kept_cards(cards_of(sip + "A_ORDER=2 A_2_0=1e-4"), {1, 2});
  EXPECT_TRUE(std::any_of(kept.begin(), kept.end(),
                          [](const auto& each) { return each.starts_with("B_ORDER = "); }));
  expect_gnomonic(Wcs(kept, {1, 2}), [](double x, double y) { return by_cd(x + 1e-4 * x * x, y); });
}

TEST(WcsHeaders, UnitsThatAreNoAnglesAreNamed) {
  EXPECT_SAYS(error_of([] { (void)wcs_of(at_reference("TAN") + k_cd + "CUNIT2='pixel'"); }),
              "CUNIT2 is 'pixel'; expected a unit of angle");
}

TEST(WcsHeaders, OfRepeatedCardsTheLastCounts) {
  expect_gnomonic(wcs_of("CTYPE1='GLON-CAR' CRVAL1=1.0 " + at_reference("TAN") + k_cd), by_cd);
}

TEST(WcsHeaders, MissingCardsHaveTheDefaultsOfTheStandard) {
  const std::string types = "CTYPE1='RA---TAN' CTYPE2='DEC--TAN' ";
  const Wcs pixel = wcs_of(types + "CRVAL1=210.5 CRVAL2=30.0 CRPIX1=100.0 " + k_cd);
  expect_note(pixel, {"no CRPIX2", "0"});
  const auto sky = pixel.to_sky(std::vector<PixelPosition>{{99, -1}});
  EXPECT_NEAR(sky[0].longitude, 210.5, 1e-9);
  EXPECT_NEAR(sky[0].latitude, 30.0, 1e-9);
  const Wcs value = wcs_of(types + "CRPIX1=100.0 CRPIX2=80.0 " + k_cd);
  expect_note(value, {"no CRVAL1 and CRVAL2", "0"});
  const Wcs scale = wcs_of(at_reference("TAN") + "CDELT1=-0.01");
  expect_note(scale, {"no CDELT2", "1"});
  EXPECT_TRUE(wcs_of(at_reference("TAN") + k_cd).notes().empty());
  expect_note(wcs_of(at_reference("TAN") + "CDELT1=-0.01 CDELT2=0.01 CROTA1=20.0"),
              {"CROTA1 is 20", "CROTA2"});
  expect_note(wcs_of(at_reference("TAN") + k_cd + "CDELT1=-0.01 CDELT2=0.01 PC1_2=0.5"),
              {"PCi_j and CDi_j"});
  const auto refused = [](const std::string& matrix) {
    return error_of([&] { (void)wcs_of(at_reference("TAN") + matrix); });
  };
  EXPECT_SAYS(refused("CD1_1=0.1"), "the matrix CDi_j is singular (0.1, 0, 0, 0)");
  EXPECT_SAYS(refused("CD1_1=0.1 CD1_2=0.3 CD2_1=0.2 CD2_2=0.6"), "singular");
  EXPECT_SAYS(refused("CDELT1=1.0 CDELT2=1.0 PC1_1=0.1 PC1_2=0.3 PC2_1=0.2 PC2_2=0.6"),
              "the matrix PCi_j is singular");
  EXPECT_SAYS(refused("CDELT1=1.0 CDELT2=0.0"), "wcslib 3");
  EXPECT_SAYS(error_of([&] { (void)wcs_of("CTYPE1='RA---TAN' CRVAL1=210.5"); }),
              "CTYPE1 is 'RA---TAN', without the other axis of the sky");
  EXPECT_SAYS(refused(k_cd + "CD1_3=0.1"), "mix the axes");
}

// ------------------------------------------------------------------- cylindrical projections

TEST(WcsHeaders, CylindricalProjectionsGoAllAround) {
  const auto header = [](const std::string& code) {
    return "CTYPE1='GLON-" + code + "' CTYPE2='GLAT-" + code +
           "' CRVAL1=30.0 CRVAL2=0.0 CRPIX1=1.0 CRPIX2=1.0 CDELT1=-1.0 CDELT2=1.0";
  };
  const std::vector<PixelPosition> pixels{{170, 20}, {190, 20}, {-190, 20}, {250, 20}, {910, 20}};
  const std::array<double, 5> longitudes{220, 200, 220, 140, 200};
  for (const auto* code : {"CAR", "CEA", "CYP", "MER"}) {
    const Wcs wcs =
        wcs_of(header(code) + (std::string(code) == "CYP" ? " PV2_1=1.0 PV2_2=1.0" : ""));
    const auto sky = wcs.to_sky(pixels);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      EXPECT_NEAR(sky[i].longitude, longitudes[i], 1e-9) << code << i;
      EXPECT_EQ(sky[i].latitude, sky[0].latitude) << code << i;
    }
    if (std::string(code) == "CAR") {
      EXPECT_NEAR(sky[0].latitude, 20, 1e-9);
    }
    // The pixel within 180 degrees of the reference pixel.
    const auto back = wcs.to_pixels(sky);
    EXPECT_NEAR(back[0].x, 170, 1e-6) << code;
    EXPECT_NEAR(back[1].x, -170, 1e-6) << code;
    EXPECT_NEAR(back[4].x, -170, 1e-6) << code;
  }
  // Latitudes end at the poles, all around.
  const auto beyond =
      wcs_of(header("CAR"))
          .to_sky(std::vector<PixelPosition>{{20, 91}, {250, 91}, {250, -91}, {250, 90}});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(beyond[i].latitude)) << i;
  EXPECT_NEAR(beyond[3].latitude, 90, 1e-9);
  for (const auto* code : {"SFL", "AIT", "MOL"}) {
    const auto sky = wcs_of(header(code)).to_sky(std::vector<PixelPosition>{{190, 0}, {250, 0}});
    EXPECT_TRUE(std::isnan(sky[1].longitude)) << code;
  }
}

}  // namespace
