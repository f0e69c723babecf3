// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <io/catalogue/island_errors.hpp>
#include <io/catalogue/photon_noise.hpp>
#include <kastor/error.hpp>
#include <kastor/io/island_table.hpp>
#include <numbers>
#include <random>
#include <vector>

#include "island_support.hpp"
#include "island_table_support.hpp"

namespace {

namespace io = kastor::io;
namespace ts = testing_support;

// Scatter of simulated stars over the noise in their apertures.
constexpr double k_excess = 1.22;

/// A camera's image [adu].
io::IslandTableParams of_camera() {
  io::IslandTableParams params;
  params.unit = "adu";
  params.flood_snr = 1.5;
  params.sums_of_pixels = true;
  return params;
}

kastor::KronFlux kron(double flux, double variance, std::uint32_t flags = 0) {
  kastor::KronFlux row{};
  row.id = 1;
  row.flux = flux;
  row.variance = variance;
  row.radius = 3.75;
  row.a = row.b = 2;
  row.flags = flags;
  return row;
}

TEST(AutoColumns, FluxesAndMagnitudes) {
  const kastor::Islands islands(3, ts::plain_island(20, 30));
  const std::vector<kastor::KronFlux> fluxes = {
      kron(1000, 100), kron(-5, 100, kastor::kron_crowded),
      kron(0, 100, kastor::kron_crowded | kastor::kron_at_edge)};
  auto params = of_camera();
  EXPECT_EQ(ts::find_column(io::island_table(islands, params).table, "flux_auto"), nullptr);
  params.kron = fluxes;
  const auto plain = io::island_table(islands, params).table;
  EXPECT_EQ(ts::real_value(plain, "flux_auto"), 1000);
  EXPECT_NEAR(ts::real_value(plain, "flux_auto_err"), k_excess * 10, 1e-12);
  EXPECT_EQ(ts::real_value(plain, "flux_auto", 1), -5);
  EXPECT_EQ(ts::real_value(plain, "kron_radius"), 3.75);
  EXPECT_EQ(ts::find_column(plain, "mag_auto"), nullptr);
  EXPECT_EQ(ts::find_column(plain, "flux_auto")->unit, "adu");
  EXPECT_EQ(ts::find_column(plain, "flux_auto")->ucd, "phot.flux");

  params.gain = 4;
  params.zero_point = 25;
  const auto table = io::island_table(islands, params).table;
  const double error = k_excess * std::sqrt(100 + 1000 / 4.0);
  EXPECT_NEAR(ts::real_value(table, "flux_auto_err"), error, 1e-12);
  EXPECT_NEAR(ts::real_value(table, "flux_auto_err", 1), k_excess * 10, 1e-12);
  EXPECT_NEAR(ts::real_value(table, "mag_auto"), 17.5, 1e-12);
  EXPECT_NEAR(ts::real_value(table, "mag_err"), 2.5 / std::numbers::ln10 * error / 1000, 1e-12);
  for (const std::size_t row : {std::size_t{1}, std::size_t{2}}) {
    EXPECT_TRUE(std::isnan(ts::real_value(table, "mag_auto", row)));
    EXPECT_TRUE(std::isnan(ts::real_value(table, "mag_err", row)));
  }
  EXPECT_EQ(ts::find_column(table, "mag_auto")->unit, "mag");
  EXPECT_EQ(ts::find_column(table, "mag_auto")->ucd, "phot.mag;em.opt");
  EXPECT_EQ(ts::find_column(table, "mag_err")->ucd, "stat.error;phot.mag;em.opt");
  EXPECT_EQ(ts::integer_value(table, "flags"), 0);
  EXPECT_EQ(ts::integer_value(table, "flags", 1), io::island_auto_crowded);
  EXPECT_EQ(ts::integer_value(table, "flags", 2),
            io::island_auto_crowded | io::island_auto_at_edge);

  const std::vector<double> weights = {0.5, 2, 1};
  params.weights = weights;
  EXPECT_NEAR(ts::real_value(io::island_table(islands, params).table, "flux_auto_err"),
              k_excess * std::sqrt(100 + 1000 / (4 * 0.5)), 1e-12);
  params.weights = std::span(weights).first(2);
  EXPECT_THROW((void)io::island_table(islands, params), kastor::Error);
  params.weights = {};
  params.kron = std::span(fluxes).first(2);
  EXPECT_THROW((void)io::island_table(islands, params), kastor::Error);
  params.kron = {};
  params.gain = -1;
  EXPECT_THROW((void)io::island_table(islands, params), kastor::Error);
}

TEST(AutoColumns, ABeamCorrelatesTheNoise) {
  const kastor::Islands islands = {ts::plain_island(60, 60)};
  const std::vector<kastor::KronFlux> fluxes = {kron(1000, 100)};
  auto params = ts::per_beam(10, 10);
  params.kron = fluxes;
  const auto table = ts::table_on(ts::Header(), islands, params).table;
  const double beam = std::numbers::pi / (4 * std::numbers::ln2) * 100 / 4;  // pixels of 2 arcsec
  EXPECT_NEAR(ts::real_value(table, "flux_auto"), 1000 / beam, 1e-3);
  // The noise is 0.1, so that there are 10 000 pixels.
  const double z = 2 * 10'000 / beam;
  const double inside = 1 - io::detail::scaled_bessel(0, z) - io::detail::scaled_bessel(1, z);
  EXPECT_NEAR(ts::real_value(table, "flux_auto_err"),
              k_excess * 10 * std::sqrt(beam * inside) / beam, 1e-5);
  params.noise_pixels = 2;
  EXPECT_NEAR(ts::real_value(ts::table_on(ts::Header(), islands, params).table, "flux_auto_err"),
              k_excess * 10 * std::sqrt(2) / beam, 0.01 * k_excess * 10 * std::sqrt(2) / beam);
  EXPECT_EQ(ts::find_column(table, "flux_auto")->ucd, "phot.flux;em.radio");
}

TEST(AutoColumns, SumsOfPixelsNeedNoBeam) {
  const kastor::Islands islands = {ts::plain_island(20, 30)};
  const struct {
    const char* unit;
    bool sums, known;
  } cases[] = {{"adu", true, true},      {"", true, true},         {"count/s", true, true},
               {"electron", true, true}, {"adu", false, false},    {"", false, false},
               {"Jy/beam", true, false}, {"MJY/BEAM", true, false}};
  for (const auto& each : cases) {
    auto params = of_camera();
    params.unit = each.unit;
    params.sums_of_pixels = each.sums;
    const auto found = io::island_table(islands, params);
    const auto& table = found.table;
    EXPECT_EQ(std::isfinite(ts::real_value(table, "flux_int")), each.known) << each.unit;
    EXPECT_EQ((ts::integer_value(table, "flags") & io::island_no_flux) == 0, each.known)
        << each.unit;
    EXPECT_EQ(found.notes.empty(), each.known) << each.unit;
    if (!each.known) {
      EXPECT_EQ(found.notes[0].find("flux_int is NaN, as is flux_iso: "), 0U) << found.notes[0];
      const std::vector<kastor::KronFlux> fluxes = {kron(1000, 100)};
      params.kron = fluxes;
      const auto note = io::island_table(islands, params).notes[0];
      EXPECT_EQ(note.find("flux_int is NaN, as are flux_iso and flux_auto: "), 0U) << note;
      continue;
    }
    EXPECT_EQ(ts::real_value(table, "flux_iso"), ts::real_value(table, "flux_sum"));
    EXPECT_EQ(ts::find_column(table, "flux_int")->unit, ts::find_column(table, "flux_sum")->unit);
  }
}

/// Photons scatter the centre along the axes of the island, however they lie.
TEST(AutoColumns, PhotonsKnowNoDirections) {
  kastor::Island island{};
  island.n_pix = 121;
  island.flux_peak = 1;
  island.flux_sum = 70;
  island.rms = 0.01;
  const auto with_photons = [&](double xx, double xy, double yy) {
    island.var_xx = xx;
    island.var_xy = xy;
    island.var_yy = yy;
    auto errors = io::detail::island_errors(island, 0.3, {});
    io::detail::add_photon_noise(errors, island, 0.3, 0, 20);
    return errors.centre_cov;
  };
  for (const double minor : {0.1, 0.5, 3.0}) {
    const auto straight = with_photons(16, 0, minor);
    const auto turned = with_photons(8 + minor / 2, 8 - minor / 2, 8 + minor / 2);
    EXPECT_NEAR(turned.xx + turned.xy, straight.xx, 1e-9 * straight.xx) << minor;
    EXPECT_NEAR(turned.xx - turned.xy, straight.yy, 1e-9 * straight.xx) << minor;
    EXPECT_GT(straight.yy, 0) << minor;
  }
}

/// Width of the pulls of what is measured on simulated stars.
struct Widths {
  double total, iso, x;
};

/// Stars of the seeing `fwhm`, peaks of 10 to 50 standard deviations of a sky of `level` adu.
Widths pulls_of_stars(double level, double gain, double assumed_gain, double fwhm) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double rms = std::sqrt(level / gain);
  const double variance = fwhm * fwhm / (8 * std::numbers::ln2);
  auto params = of_camera();
  params.flood_snr = 3;
  params.gain = assumed_gain;
  const int count = 1500;
  double total = 0, total2 = 0, iso2 = 0, iso = 0, x2 = 0, x1 = 0;
  for (int star = 0; star < count; ++star) {
    const double peak = rms * 10 * std::pow(5, uniform(random));
    const double xc = 12 + uniform(random);
    const double yc = 12 + uniform(random);
    ts::Grid sky(26, 26), clean(26, 26);
    for (std::int64_t y = 0; y < 26; ++y) {
      for (std::int64_t x = 0; x < 26; ++x) {
        const double r2 = (static_cast<double>(x) - xc) * (static_cast<double>(x) - xc) +
                          (static_cast<double>(y) - yc) * (static_cast<double>(y) - yc);
        clean.at(y, x) = peak * std::exp(-r2 / (2 * variance));
        sky.at(y, x) = clean.at(y, x) + std::sqrt((level + clean.at(y, x)) / gain) * normal(random);
      }
    }
    const auto row = std::lround(yc), column = std::lround(xc);
    const auto island = ts::island_at(sky, row, column, 3 * rms, rms);
    const auto expected = ts::island_at(clean, row, column, 3 * rms, rms);
    const auto table = io::island_table({island}, params).table;
    const auto pull = [&](const char* name, double truth) {
      return (ts::real_value(table, name) - truth) /
             ts::real_value(table, std::string(name) + "_err");
    };
    const double of_total = pull("flux_int", 2 * std::numbers::pi * variance * peak);
    const double of_iso = pull("flux_iso", expected.flux_sum);
    const double of_x = pull("x_cen", xc);
    total += of_total / count;
    total2 += of_total * of_total / count;
    iso += of_iso / count;
    iso2 += of_iso * of_iso / count;
    x1 += of_x / count;
    x2 += of_x * of_x / count;
  }
  return {std::sqrt(total2 - total * total), std::sqrt(iso2 - iso * iso), std::sqrt(x2 - x1 * x1)};
}

TEST(PhotonNoise, WidensTheErrorsAsItScatters) {
  const Widths with = pulls_of_stars(100, 2, 2, 3.5);
  const Widths without = pulls_of_stars(100, 2, 0, 3.5);
  EXPECT_NEAR(with.total, 1, 0.12);
  EXPECT_NEAR(with.iso, 1, 0.2);
  EXPECT_NEAR(with.x, 1, 0.15);
  EXPECT_GT(without.total, 1.1 * with.total);
  EXPECT_GT(without.iso, 1.1 * with.iso);
  EXPECT_GT(without.x, 1.05 * with.x);
}

TEST(PhotonNoise, IsNotThatOfNegativeIslandsOrWithoutAThreshold) {
  auto params = of_camera();
  auto island = ts::plain_island(20, 30);
  const double error = ts::real_value(io::island_table({island}, params).table, "flux_iso_err");
  params.gain = 0.5;
  auto negative = island;
  negative.flux_sum = -island.flux_sum;
  negative.flux_peak = -island.flux_peak;
  negative.flags |= kastor::island_negative;
  EXPECT_EQ(ts::real_value(io::island_table({negative}, params).table, "flux_iso_err"), error);
  params.flood_snr = 0;
  auto bare = params;
  bare.gain = 0;
  const double before = ts::real_value(io::island_table({island}, bare).table, "flux_iso_err");
  EXPECT_NEAR(ts::real_value(io::island_table({island}, params).table, "flux_iso_err"),
              std::hypot(before, std::sqrt(island.flux_sum / 0.5)), 1e-12);
}

}  // namespace
