// SPDX-License-Identifier: Apache-2.0
#include "io/evaluation/true_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/io/robust.hpp>
#include <numbers>

#include "io/catalogue/source_units.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::SourceTable;
using detail::TrueRow;

// Sources closer than this, in sizes, disturb each other.
constexpr double k_isolation = 2;

std::vector<double> column_or_nan(const SourceTable& table, std::string_view name) {
  const auto* column = table.find(name);
  if (column != nullptr) return SourceTable::numbers(*column);
  return std::vector<double>(table.list.sources.size(), std::nan(""));
}

/// The first of these columns that exists.
std::vector<double> first_of(const SourceTable& table,
                             std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (table.find(name) != nullptr) return column_or_nan(table, name);
  }
  return column_or_nan(table, *names.begin());
}

std::vector<double> ratios(std::vector<double> above, const std::vector<double>& below) {
  for (std::size_t i = 0; i < above.size(); ++i) above[i] = std::abs(above[i]) / below[i];
  return above;
}

bool any_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// Reads the usable pixels.
void read_usable(Truth::State& state) {
  const auto& image = state.image;
  const auto nx = static_cast<std::size_t>(image.nx);
  state.usable.assign(static_cast<std::size_t>(image.ny) * nx, 0);
  std::vector<double> row(nx);
  for (std::int64_t y = 0; y < image.ny; ++y) {
    image.row(y, row);
    for (std::size_t x = 0; x < nx; ++x) {
      if (!std::isfinite(row[x])) continue;
      state.usable[static_cast<std::size_t>(y) * nx + x] = 1;
      ++state.usable_pixels;
    }
  }
}

/// In pixels; NaN if it is not known.
double area_of_beam(const EvaluatedImage& image) {
  return image.beam && image.wcs != nullptr ? beam_area_in_pixels(*image.beam, *image.wcs)
                                            : std::nan("");
}

class TruthReader {
 public:
  TruthReader(const SourceTable& table, Truth::State& state) : m_table(table), m_state(state) {}

  void read(double min_snr) {
    take_units();
    const auto peak = fluxes(MeasuredQuantity::flux_peak);
    const auto total = fluxes(MeasuredQuantity::flux_int);
    const auto by_noise = ratios(peak, noise());
    auto snr = first_of(m_table, {"SNR", "SNR_PEAK"});
    if (!any_finite(snr)) snr = by_noise;
    if (!any_finite(snr) && !m_table.list.sources.empty()) {
      throw Error(detail::one_line(m_state.path) +
                  ": there is no signal to noise of the true sources; expected a column snr, or "
                  "flux_peak and rms");
    }
    take_sizes();
    const auto group = column_or_nan(m_table, "GROUP");
    for (std::size_t i = 0; i < m_table.places.size(); ++i) {
      const auto& place = m_table.places[i];
      if (!std::isfinite(place.x) || !std::isfinite(place.y) || !(snr[i] > 0) ||
          !std::isfinite(snr[i]) || snr[i] < min_snr) {
        ++m_state.left_out;
        continue;
      }
      TrueRow row;
      row.row = i;
      row.x = place.x;
      row.y = place.y;
      row.snr = snr[i];
      row.peak_snr = std::isfinite(by_noise[i]) ? by_noise[i] : snr[i];
      row.flux_int = total[i];
      row.flux_peak = peak[i];
      row.major = m_major[i];
      row.minor = m_minor[i] > 0 ? m_minor[i] : m_major[i];
      take_shape(i, row);
      const auto pixel = m_state.pixel_at(row.x, row.y);
      row.usable = pixel && m_state.usable[*pixel] != 0;
      row.isolated = row.usable && !(group[i] > 0);
      m_state.rows.push_back(row);
    }
  }

 private:
  void take_units() {
    auto& frame = m_state.frame;
    const auto own = detail::scaled_flux_unit(m_state.image.unit);
    frame.image_unit = own.base;
    frame.image_factor = own.factor;
    frame.per_beam = detail::upper_case(m_state.image.unit).find("BEAM") != std::string::npos;
    frame.beam_pixels = area_of_beam(m_state.image);
  }

  std::vector<double> fluxes(MeasuredQuantity quantity) {
    auto read = detail::true_values(m_table, quantity, m_state.frame);
    if (!read.note.empty()) m_state.notes.push_back("truth: " + read.note);
    return std::move(read.values);
  }

  [[nodiscard]] std::vector<double> noise() const {
    constexpr std::array<std::string_view, 5> names = {"RMS", "LOCAL_RMS", "ISL_RMS",
                                                       "BACKGROUND_NOISE", "RMS_IMAGE"};
    const auto* found = std::find_if(names.begin(), names.end(), [&](std::string_view name) {
      return m_table.find(name) != nullptr;
    });
    return detail::true_noise(m_table, found == names.end() ? names.front() : *found,
                              m_state.frame);
  }

  /// A column of sizes; without a unit in pixels.
  std::vector<double> lengths(const TableColumn& column, const std::string& unit) {
    auto read = detail::lengths_in_pixels(m_table, column, unit.empty() ? "pixel" : unit,
                                          m_state.image.wcs);
    if (!read.trouble.empty()) {
      m_state.notes.push_back(
          fmt::format("{} of the truth: {}", detail::one_line(column.name), read.trouble));
    }
    read.values.resize(m_table.list.sources.size(), std::nan(""));
    return std::move(read.values);
  }

  void take_sizes() {
    const auto* fwhm = m_table.find("FWHM");
    if (fwhm != nullptr && any_finite(SourceTable::numbers(*fwhm))) {
      m_major = lengths(*fwhm, fwhm->unit);
      const auto* minor = m_table.find("MINOR");
      m_minor = minor == nullptr ? column_or_nan(m_table, "MINOR")
                                 : lengths(*minor, minor->unit.empty() ? fwhm->unit : minor->unit);
      return;
    }
    for (const auto quantity : {MeasuredQuantity::major, MeasuredQuantity::minor}) {
      auto read = detail::measured_values(m_table, quantity, m_state.frame, m_state.image.wcs);
      const bool is_major = quantity == MeasuredQuantity::major;
      if (is_major && fwhm == nullptr && read.column.empty())
        m_state.size_trouble = "the truth has no column of sizes";
      (is_major ? m_major : m_minor) = std::move(read.values);
    }
  }

  void take_shape(std::size_t i, TrueRow& row) const {
    const auto* column = m_table.find("SHAPE");
    if (column == nullptr) return;
    const auto& shape = std::get<std::vector<std::string>>(column->values)[i];
    row.wide_wings = shape == "moffat";
    row.has_width = row.wide_wings || shape == "gaussian";
  }

  const SourceTable& m_table;
  Truth::State& m_state;
  std::vector<double> m_major, m_minor;
};

void measure_beam(Truth::State& state) {
  std::vector<double> widths;
  for (const auto& row : state.rows) {
    if (row.major > 0 && std::isfinite(row.major)) widths.push_back(row.major);
  }
  state.median_size = median_of(std::move(widths));
  constexpr double gaussian_area = std::numbers::pi / (4 * std::numbers::ln2);
  double area = state.frame.beam_pixels;
  if (area > 0) {
    state.beam_from = "beam";
  } else if (state.median_size > 0) {
    area = gaussian_area * state.median_size * state.median_size;
    state.beam_from = "median size of the truth";
    state.notes.push_back(
        fmt::format("the image has no beam in pixels; beams are taken as wide as the median of the "
                    "true sources, {:.6g} pixels",
                    state.median_size));
  }
  state.frame.beam_pixels = area;
  state.beam_fwhm = area > 0 ? std::sqrt(area / gaussian_area) : 0;
}

bool box_is_usable(const Truth::State& state, const TrueRow& row, double half) {
  const auto low_x = static_cast<std::int64_t>(std::floor(row.x - half + 0.5));
  const auto high_x = static_cast<std::int64_t>(std::floor(row.x + half + 0.5));
  const auto low_y = static_cast<std::int64_t>(std::floor(row.y - half + 0.5));
  const auto high_y = static_cast<std::int64_t>(std::floor(row.y + half + 0.5));
  const auto& image = state.image;
  if (low_x < 0 || low_y < 0 || high_x >= image.nx || high_y >= image.ny) return false;
  for (std::int64_t y = low_y; y <= high_y; ++y) {
    const auto first = state.usable.begin() + y * image.nx;
    if (std::find(first + low_x, first + high_x + 1, std::uint8_t{0}) != first + high_x + 1)
      return false;
  }
  return true;
}

/// Clears `isolated` of sources that have a neighbour, or are cut.
void isolate(Truth::State& state) {
  auto& rows = state.rows;
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].y < rows[b].y; });
  for (std::size_t at = 0; at < order.size(); ++at) {
    auto& row = rows[order[at]];
    const double width = std::max(state.beam_fwhm, std::isfinite(row.major) ? row.major : 0);
    if (row.isolated && !box_is_usable(state, row, std::min(width, 1e6))) row.isolated = false;
    const double reach = k_isolation * width;
    const auto visit = [&](TrueRow& other) {
      if (std::abs(other.y - row.y) > reach) return false;
      if (std::hypot(other.x - row.x, other.y - row.y) < reach)
        row.isolated = other.isolated = false;
      return true;
    };
    for (std::size_t j = at + 1; j < order.size() && visit(rows[order[j]]); ++j) {
    }
    for (std::size_t j = at; j > 0 && visit(rows[order[j - 1]]); --j) {
    }
  }
}

}  // namespace

std::optional<std::size_t> Truth::State::pixel_at(double x, double y) const {
  if (!(x >= -0.5 && y >= -0.5 && x < static_cast<double>(image.nx) - 0.5 &&
        y < static_cast<double>(image.ny) - 0.5))
    return std::nullopt;
  return static_cast<std::size_t>(std::floor(y + 0.5)) * static_cast<std::size_t>(image.nx) +
         static_cast<std::size_t>(std::floor(x + 0.5));
}

Truth::Truth(const std::string& path, const EvaluatedImage& image, double min_snr)
    : m_state(std::make_unique<State>()) {
  KASTOR_EXPECTS("kastor::io::Truth", image.ny > 0 && image.nx > 0 && image.row,
                 "the image has no pixels; expected some");
  m_state->path = path;
  m_state->image = image;
  const auto table = detail::read_source_table({path, nullptr}, image.wcs);
  for (const auto& note : table.list.notes) m_state->notes.push_back(note);
  read_usable(*m_state);
  TruthReader(table, *m_state).read(min_snr);
  measure_beam(*m_state);
  isolate(*m_state);
}

Truth::~Truth() = default;
Truth::Truth(Truth&&) noexcept = default;
Truth& Truth::operator=(Truth&&) noexcept = default;

}  // namespace kastor::io
