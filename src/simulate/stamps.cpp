// SPDX-License-Identifier: Apache-2.0
#include "simulate/stamps.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "simulate/profiles.hpp"
#include "simulate/sky_params.hpp"

namespace kastor::detail {
namespace {

/// Appends the values of a Gaussian at pixels first to last; returns the index of the first one.
std::int64_t append_profile(std::vector<double>& profiles, double centre, std::int64_t first,
                            std::int64_t last, double sigma, double height) {
  const auto at = static_cast<std::int64_t>(profiles.size());
  for (std::int64_t i = first; i <= last; ++i) {
    const double d = (static_cast<double>(i) - centre) / sigma;
    profiles.push_back(height * std::exp(-0.5 * d * d));
  }
  return at;
}

class StampList {
 public:
  StampList(const SkyParams& params, std::int64_t first_row, std::int64_t rows)
      : m_params(params), m_first_row(first_row), m_last_row(first_row + rows - 1) {}

  void add(const TrueSource& source) {
    const double minor = source.minor > 0 ? source.minor : source.fwhm;
    switch (source.shape) {
      case SourceShape::gaussian:
        if (minor == source.fwhm) {
          add_circular(source.x, source.y, source.flux_peak, source.fwhm);
        } else {
          add_elliptical(source, minor);
        }
        break;
      case SourceShape::disk:
      case SourceShape::ring:
        add_radial(source);
        break;
      case SourceShape::lobes:
        add_lobes(source);
        break;
      case SourceShape::moffat: {
        const double a = moffat_scale(source.fwhm);
        // Beyond it is a millionth of the peak.
        Stamp s = box(Stamp::Kind::moffat, source.x, source.y, 7.2 * a);
        if (is_elsewhere(s)) break;
        s.peak = source.flux_peak;
        s.xx = 1 / (a * a);
        m_all.stamps.push_back(s);
        break;
      }
    }
    add_bowl(source);
  }

  [[nodiscard]] Stamps finish() && { return std::move(m_all); }

 private:
  [[nodiscard]] static bool is_elsewhere(const Stamp& s) { return s.y_min > s.y_max; }

  /// The pixels around (x, y) as far as `reach`, within the rows.
  [[nodiscard]] Stamp box(Stamp::Kind kind, double x, double y, double reach) const {
    const auto pixels = static_cast<std::int64_t>(std::ceil(reach));
    const auto column = static_cast<std::int64_t>(std::floor(x));
    const auto row = static_cast<std::int64_t>(std::floor(y));
    Stamp s{};
    s.kind = kind;
    s.x = x;
    s.y = y;
    s.x_min = std::max<std::int64_t>(0, column - pixels);
    s.x_max = std::min(m_params.nx - 1, column + pixels);
    s.y_min = std::max(m_first_row, row - pixels);
    s.y_max = std::min(m_last_row, row + pixels);
    return s;
  }

  [[nodiscard]] Stamp circular_box(double x, double y, double fwhm) const {
    return box(Stamp::Kind::separable, x, y, 6 * (fwhm / fwhm_per_sigma));
  }

  void add_circular(double x, double y, double peak, double fwhm) {
    Stamp s = circular_box(x, y, fwhm);
    if (is_elsewhere(s)) return;
    const double sigma = fwhm / fwhm_per_sigma;
    s.x_profile = append_profile(m_all.profiles, x, s.x_min, s.x_max, sigma, 1.0);
    s.y_profile = append_profile(m_all.profiles, y, s.y_min, s.y_max, sigma, peak);
    m_all.stamps.push_back(s);
  }

  void add_elliptical(const TrueSource& source, double minor) {
    const double major_sigma = source.fwhm / fwhm_per_sigma;
    const double minor_sigma = minor / fwhm_per_sigma;
    Stamp stamp =
        box(Stamp::Kind::gaussian, source.x, source.y, 6 * std::max(major_sigma, minor_sigma));
    if (is_elsewhere(stamp)) return;
    const double angle = source.angle * std::numbers::pi / 180;
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const double along = 0.5 / (major_sigma * major_sigma);
    const double across = 0.5 / (minor_sigma * minor_sigma);
    stamp.peak = source.flux_peak;
    stamp.xx = along * c * c + across * s * s;
    stamp.xy = 2 * (along - across) * c * s;
    stamp.yy = along * s * s + across * c * c;
    m_all.stamps.push_back(stamp);
  }

  void add_radial(const TrueSource& source) {
    Stamp s =
        box(Stamp::Kind::radial, source.x, source.y, radial_reach(source.fwhm, m_params.beam_fwhm));
    if (is_elsewhere(s)) return;
    if (source.shape != m_last.shape || source.fwhm != m_last.fwhm) {
      m_last = {source.shape, source.fwhm,
                radial_table(source.shape, source.fwhm, m_params.beam_fwhm),
                static_cast<std::int64_t>(m_all.profiles.size())};
      const auto& values = m_last.table.values;
      m_all.profiles.insert(m_all.profiles.end(), values.begin(), values.end());
    }
    s.peak = source.flux_peak;
    s.x_profile = m_last.begin;
    s.y_profile = static_cast<std::int64_t>(m_last.table.values.size()) - 3;
    s.xx = 1 / m_last.table.step;
    m_all.stamps.push_back(s);
  }

  void add_lobes(const TrueSource& source) {
    const double angle = source.angle * std::numbers::pi / 180;
    const double dx = lobe_offset(source.fwhm) * std::cos(angle);
    const double dy = lobe_offset(source.fwhm) * std::sin(angle);
    for (const int side : {-1, 1})
      add_circular(source.x + side * dx, source.y + side * dy, source.flux_peak * lobe_height(),
                   lobe_fwhm(source.fwhm));
  }

  void add_bowl(const TrueSource& source) {
    if (m_params.bowl_fraction <= 0 || source.fwhm <= 2 * m_params.beam_fwhm) return;
    // The sums of some shapes take long.
    if (is_elsewhere(circular_box(source.x, source.y, m_params.bowl_fwhm))) return;
    const double minor = source.minor > 0 ? source.minor : source.fwhm;
    const double sum =
        source.flux_peak * profile_sums(source.shape, source.fwhm, minor, m_params.beam_fwhm).area;
    const double area = profile_sums(SourceShape::gaussian, m_params.bowl_fwhm, m_params.bowl_fwhm,
                                     m_params.beam_fwhm)
                            .area;
    add_circular(source.x, source.y, -m_params.bowl_fraction * sum / area, m_params.bowl_fwhm);
  }

  /// The table of the last disk or ring, which many have in common.
  struct LastTable {
    SourceShape shape = SourceShape::gaussian;
    double fwhm = 0;
    RadialTable table;
    std::int64_t begin = 0;  // among the profiles
  };

  const SkyParams& m_params;
  std::int64_t m_first_row;
  std::int64_t m_last_row;
  Stamps m_all;
  LastTable m_last;
};

}  // namespace

Stamps make_stamps(const SkyParams& params, const std::vector<TrueSource>& truth,
                   std::int64_t first_row, std::int64_t rows) {
  StampList list(params, first_row, rows);
  for (const TrueSource& source : truth) list.add(source);
  Stamps all = std::move(list).finish();

  // A counting sort by row.
  const auto place = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  all.first_of_row.assign(place(rows) + 1, 0);
  for (const Stamp& s : all.stamps)
    for (std::int64_t row = s.y_min; row <= s.y_max; ++row)
      ++all.first_of_row[place(row - first_row) + 1];
  for (std::size_t row = 1; row < all.first_of_row.size(); ++row)
    all.first_of_row[row] += all.first_of_row[row - 1];
  all.sources_of_row.resize(place(all.first_of_row.back()));
  std::vector<std::int64_t> next = all.first_of_row;
  for (std::size_t i = 0; i < all.stamps.size(); ++i)
    for (std::int64_t row = all.stamps[i].y_min; row <= all.stamps[i].y_max; ++row)
      all.sources_of_row[place(next[place(row - first_row)]++)] = static_cast<std::int64_t>(i);
  return all;
}

std::int64_t stamp_bytes(const SkyParams& params, const std::vector<TrueSource>& truth,
                         std::int64_t rows) {
  // A stamp reaches 6 sigma; that of a disk also its radius, and its table has 16 values a sigma.
  const double sigma = params.beam_fwhm / fwhm_per_sigma;
  const double bowl = params.bowl_fraction > 0 ? 12 * params.bowl_fwhm / fwhm_per_sigma : 0;
  const double share = static_cast<double>(rows) / static_cast<double>(params.ny);
  constexpr double number = sizeof(double);
  double bytes = 0;
  for (const TrueSource& source : truth) {
    const double width = std::max({12 * source.fwhm / fwhm_per_sigma, 12 * sigma, bowl}) + 3;
    const double crossing = std::min(1.0, share + width / static_cast<double>(params.ny));
    const double table = 8 * source.fwhm / sigma + 100;
    bytes += crossing * (2 * sizeof(Stamp) + number * (3 * width + table));
  }
  // Lists have room to grow, and are copied to the memory of the kernels.
  return static_cast<std::int64_t>(4 * bytes) + 16 * rows;
}

}  // namespace kastor::detail
