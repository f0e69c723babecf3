// SPDX-License-Identifier: Apache-2.0
#include "simulate/profiles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "simulate/sky_params.hpp"

namespace kastor::detail {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double moffat_exponent = 3.5;
constexpr double ring_width = 0.2;  // of the radius

/// A disk of brightness 1 and this radius, convolved with a Gaussian of peak 1, at distance r:
/// Simpson's rule over y = radius sin(t), which is smooth at the ends.
double blurred_disk(double r, double radius, double sigma) {
  const double reach = 8 * sigma;
  if (r - reach >= radius || radius <= 0) return 0;
  if (r + reach <= radius) return 2 * pi * sigma * sigma;
  const double begin = std::asin(std::max(-1.0, (r - reach) / radius));
  const double end = std::asin(std::min(1.0, (r + reach) / radius));
  constexpr int intervals = 128;
  const double h = (end - begin) / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double t = begin + i * h;
    const double y = (r - radius * std::sin(t)) / sigma;
    const double half_chord = radius * std::cos(t);
    const double weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::exp(-0.5 * y * y) * std::erf(half_chord / (sigma * std::numbers::sqrt2)) *
           half_chord;
  }
  return sum * h / 3 * sigma * std::sqrt(2 * pi);
}

}  // namespace

double radial_reach(double diameter, double beam_fwhm) {
  return diameter / 2 + 6 * (beam_fwhm / fwhm_per_sigma);
}

RadialTable radial_table(SourceShape shape, double diameter, double beam_fwhm) {
  const double sigma = beam_fwhm / fwhm_per_sigma;
  const double outer = diameter / 2;
  const double inner = shape == SourceShape::ring ? (1 - ring_width) * outer : 0;
  RadialTable table;
  table.step = sigma / 16;
  table.reach = radial_reach(diameter, beam_fwhm);
  const auto count = static_cast<std::int64_t>(std::ceil(table.reach / table.step)) + 4;
  double highest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double r = std::abs(static_cast<double>(i - 1)) * table.step;
    table.values.push_back(blurred_disk(r, outer, sigma) - blurred_disk(r, inner, sigma));
    highest = std::max(highest, table.values.back());
  }
  double square = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    double& value = table.values[static_cast<std::size_t>(i)];
    value /= highest;
    if (i > 0) square += value * value * 2 * pi * static_cast<double>(i - 1);
  }
  table.square = square * table.step * table.step;
  // The beam keeps the sum.
  table.area = pi * (outer * outer - inner * inner) * 2 * pi * sigma * sigma / highest;
  return table;
}

double moffat_scale(double fwhm) {
  return 0.5 * fwhm / std::sqrt(std::pow(2.0, 1 / moffat_exponent) - 1);
}

double lobe_height() {
  const double distance = 2 * lobe_offset(1) / lobe_fwhm(1) * fwhm_per_sigma;
  return 1 / (1 + std::exp(-0.5 * distance * distance));
}

ProfileSums profile_sums(SourceShape shape, double major, double minor, double beam_fwhm) {
  const auto gaussian = [](double a, double b) {
    const double area = 2 * pi * a * b / (fwhm_per_sigma * fwhm_per_sigma);
    return ProfileSums{area, area / 2};
  };
  switch (shape) {
    case SourceShape::disk:
    case SourceShape::ring: {
      const RadialTable table = radial_table(shape, major, beam_fwhm);
      return {table.area, table.square};
    }
    case SourceShape::lobes: {
      const ProfileSums lobe = gaussian(lobe_fwhm(major), lobe_fwhm(major));
      const double height = lobe_height();
      const double d = 2 * lobe_offset(1) / lobe_fwhm(1) * fwhm_per_sigma;
      return {2 * height * lobe.area,
              2 * height * height * lobe.square * (1 + std::exp(-0.25 * d * d))};
    }
    case SourceShape::moffat: {
      const double a = moffat_scale(major);
      return {pi * a * a / (moffat_exponent - 1), pi * a * a / (2 * moffat_exponent - 1)};
    }
    case SourceShape::gaussian:
      break;
  }
  return gaussian(major, minor);
}

}  // namespace kastor::detail
