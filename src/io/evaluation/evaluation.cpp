// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <kastor/error.hpp>
#include <kastor/io/cross_match.hpp>
#include <kastor/io/evaluation.hpp>
#include <numbers>
#include <utility>

#include "io/evaluation/measure_statistics.hpp"
#include "io/evaluation/noise_field.hpp"
#include "io/evaluation/true_sources.hpp"
#include "io/sky/sky_geometry.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::MeasuredValues;
using detail::SourceTable;
using detail::TrueRow;
using M = MeasuredQuantity;

constexpr double k_radius_without_sizes = 3;  // as `compare_catalogues()` [pixel]
constexpr double k_million = 1e6;
// Steps after which noise is not correlated, in FWHM of the beam: for white noise convolved with
// the beam exp(-4 ln 2 h^2 / (2 FWHM^2)) is 0.0002 there.
constexpr double k_far = 2.5;
constexpr std::int64_t k_far_without_beam = 16;
// Below it islands of noise touch, and have holes.
constexpr double k_least_threshold = 3;

void check(const EvaluationParams& params) {
  const char* name = "kastor::io::evaluate";
  const auto is_length = [](const std::optional<double>& radius) {
    return !radius || (*radius > 0 && std::isfinite(*radius));
  };
  KASTOR_EXPECTS(name, is_length(params.radius) && is_length(params.radius_arcsec),
                 "the radius is not finite and above 0; expected so");
  KASTOR_EXPECTS(name, params.pool_low >= 0 && params.pool_high > params.pool_low,
                 "the range of the pool is empty or below 0; expected a lower and a higher S/N");
  const bool rises = std::adjacent_find(params.bins.begin(), params.bins.end(),
                                        std::greater_equal<>()) == params.bins.end();
  KASTOR_EXPECTS(name, rises && !params.bins.empty() && params.bins.front() >= 0,
                 "the limits of the bins do not rise from 0 or more; expected so");
}

class Evaluator {
 public:
  Evaluator(const Truth::State& truth, const EvaluationParams& params)
      : m_truth(truth), m_params(params) {}

  Evaluation run(const EvaluatedCatalogue& catalogue, const EvaluatedCatalogue* inverted) {
    m_result.notes = m_truth.notes;
    count_truth();
    choose_radius();
    mark_clear();
    const auto table = read(catalogue);
    take_values(table);
    take_rows(table);
    match();
    leave_out();
    classify();
    take_inverse(table, catalogue.with_negative, inverted);
    judge();
    expect_false();
    measure();
    return std::move(m_result);
  }

 private:
  SourceTable read(const EvaluatedCatalogue& catalogue) {
    auto table = detail::read_source_table(catalogue, m_truth.image.wcs);
    for (const auto& note : table.list.notes) m_result.notes.push_back(note);
    return table;
  }

  void count_truth() {
    auto& r = m_result;
    r.truth_left_out = m_truth.left_out;
    r.truth_rows = m_truth.left_out + static_cast<std::int64_t>(m_truth.rows.size());
    for (const auto& row : m_truth.rows) {
      ++(row.usable ? r.truth_used : r.truth_outside);
      if (row.isolated) ++r.truth_isolated;
    }
    r.usable_pixels = m_truth.usable_pixels;
    r.beam_pixels = m_truth.frame.beam_pixels;
    r.beam_from = m_truth.beam_from;
  }

  void choose_radius() {
    auto& r = m_result;
    if (m_params.radius) {
      r.radius = *m_params.radius;
      r.radius_from = "given";
    } else if (m_params.radius_arcsec) {
      r.radius = *m_params.radius_arcsec / pixel_side();
      r.radius_from = "given";
    } else if (m_truth.median_size > 0) {
      r.radius = m_truth.median_size / 2;
      r.radius_from = "half the median size of the truth";
    } else if (m_truth.beam_fwhm > 0) {
      r.radius = m_truth.beam_fwhm / 2;
      r.radius_from = "half the beam";
    } else {
      r.radius = k_radius_without_sizes;
      r.radius_from = "default";
    }
  }

  /// Side of a pixel in the middle of the image [arcsec].
  [[nodiscard]] double pixel_side() const {
    const auto* wcs = m_truth.image.wcs;
    double side = std::nan("");
    if (wcs != nullptr) {
      const std::array middle = {PixelPosition{static_cast<double>(m_truth.image.nx - 1) / 2,
                                               static_cast<double>(m_truth.image.ny - 1) / 2}};
      side = std::sqrt(detail::local_sky(*wcs, middle).at(0).jacobian.area());
    }
    if (side > 0) return side;
    throw Error(
        "the radius is in arcsec, and the image has no celestial coordinates in its middle; "
        "expected a radius in pixels");
  }

  /// The radius around a true source in which rows are its own.
  [[nodiscard]] double reach_of(const TrueRow& row) const {
    const double width = std::max(m_truth.beam_fwhm, std::isfinite(row.major) ? row.major : 0);
    const double snr = std::max(row.peak_snr, 1.0);
    double widths = std::sqrt(std::log(snr) / (4 * std::numbers::ln2));
    if (row.wide_wings) {
      // (1 + r^2 / a^2)^-3.5
      constexpr double power = 1 / 3.5;
      widths = 0.5 * std::sqrt((std::pow(snr, power) - 1) / (std::pow(2.0, power) - 1));
    }
    return std::max(width * std::max(1.0, widths), m_result.radius);
  }

  void mark_clear() {
    const auto& image = m_truth.image;
    m_clear = m_truth.usable;
    for (const auto& row : m_truth.rows) {
      const double reach = reach_of(row);
      const auto side = [](std::int64_t n) { return static_cast<double>(n); };
      if (!(row.x + reach >= 0 && row.y + reach >= 0 && row.x - reach < side(image.nx) &&
            row.y - reach < side(image.ny)))
        continue;
      // Integers within, without the ends.
      const auto first = [](double low) {
        return static_cast<std::int64_t>(std::floor(std::max(low, -0.5))) + 1;
      };
      const auto end = [&](double high, std::int64_t n) {
        return static_cast<std::int64_t>(std::ceil(std::min(high, side(n))));
      };
      for (auto y = first(row.y - reach); y < end(row.y + reach, image.ny); ++y) {
        const double dy = static_cast<double>(y) - row.y;
        const double half = std::sqrt(std::max(reach * reach - dy * dy, 0.0));
        for (auto x = first(row.x - half); x < end(row.x + half, image.nx); ++x)
          m_clear[static_cast<std::size_t>(y * image.nx + x)] = 0;
      }
    }
    m_result.clear_pixels = std::count(m_clear.begin(), m_clear.end(), std::uint8_t{1});
  }

  void take_values(const SourceTable& table) {
    for (std::size_t q = 0; q < k_measured_quantities; ++q) {
      m_values.push_back(
          detail::measured_values(table, static_cast<M>(q), m_truth.frame, m_truth.image.wcs));
      if (!m_values.back().note.empty()) m_result.notes.push_back(m_values.back().note);
    }
    m_snr = detail::row_snr(table, m_values);
  }

  /// Whether a row is of a negative island: the sign needs no unit.
  [[nodiscard]] bool is_negative(std::size_t row) const {
    for (const M quantity : {M::flux_peak, M::flux_int, M::flux_iso}) {
      const auto& values = m_values[static_cast<std::size_t>(quantity)];
      if (!values.as_written.empty()) return values.as_written[row] < 0;
    }
    return false;
  }

  void take_rows(const SourceTable& table) {
    auto& r = m_result;
    r.rows = static_cast<std::int64_t>(table.places.size());
    for (std::size_t i = 0; i < table.places.size(); ++i) {
      const auto& place = table.places[i];
      if (!std::isfinite(place.x) || !std::isfinite(place.y)) {
        ++r.without_position;
      } else if (is_negative(i)) {
        ++m_all_negative;
        if (is_usable(place)) m_negative.push_back(place);
      } else {
        m_rows.push_back(i);
        m_places.push_back(place);
      }
    }
    r.negative = static_cast<std::int64_t>(m_negative.size());
    m_outside = m_all_negative - r.negative;
  }

  [[nodiscard]] bool is_usable(const PixelPosition& place) const {
    const auto pixel = m_truth.pixel_at(place.x, place.y);
    return pixel && m_truth.usable[*pixel] != 0;
  }

  /// Whether a usable place is away from all true sources.
  [[nodiscard]] bool is_clear(const PixelPosition& place) const {
    return m_clear[m_truth.pixel_at(place.x, place.y).value()] != 0;
  }

  /// Leaves out the rows in no usable pixel, but for partners of true sources that are in one.
  void leave_out() {
    auto& r = m_result;
    std::vector<std::uint8_t> keep(m_places.size());
    for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = is_usable(m_places[i]) ? 1 : 0;
    for (const auto& [truth, row] : m_partners) {
      if (m_truth.rows[truth].usable) keep[row] = 1;
    }
    // Pairs and partners are in the same order.
    std::vector<EvaluatedPair> pairs;
    for (std::size_t i = 0; i < m_partners.size(); ++i) {
      if (keep[m_partners[i].second] != 0) pairs.push_back(r.pairs[i]);
    }
    r.pairs = std::move(pairs);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (keep[i] == 0) continue;
      m_rows[kept] = m_rows[i];
      m_places[kept] = m_places[i];
      m_matched[kept] = m_matched[i];
      ++kept;
    }
    m_outside += static_cast<std::int64_t>(keep.size() - kept);
    m_rows.resize(kept);
    m_places.resize(kept);
    m_matched.resize(kept);
    r.rows_outside = m_outside;
    r.positive = static_cast<std::int64_t>(kept);
    r.matched = static_cast<std::int64_t>(r.pairs.size());
  }

  void match() {
    std::vector<MatchPoint> truth;
    std::vector<MatchPoint> tested;
    for (const auto& row : m_truth.rows) truth.push_back({row.x, row.y, 0});
    for (const auto& place : m_places) tested.push_back({place.x, place.y, 0});
    m_found.assign(truth.size(), 0);
    m_matched.assign(tested.size(), 0);
    for (const auto& pair : cross_match(truth, tested, m_result.radius)) {
      m_found[pair.first] = m_matched[pair.second] = 1;
      m_partners.emplace_back(pair.first, pair.second);
      const auto& row = m_truth.rows[pair.first];
      EvaluatedPair made;
      made.truth = row.row;
      made.row = m_rows[pair.second];
      made.separation = pair.distance;
      made.isolated = row.isolated;
      made.true_snr = row.snr;
      const double none = std::nan("");
      made.truths = {row.flux_int,
                     row.flux_int,
                     row.flux_peak,
                     row.x,
                     row.y,
                     row.has_width ? row.major : none,
                     row.has_width ? row.minor : none};
      for (std::size_t q = 0; q < k_measured_quantities; ++q) {
        made.measured[q] = m_values[q].values[made.row];
        made.errors[q] = m_values[q].errors[made.row];
      }
      m_result.pairs.push_back(made);
    }
  }

  void classify() {
    auto& r = m_result;
    for (std::size_t i = 0; i < m_places.size(); ++i) {
      if (m_matched[i] == 0) ++(is_clear(m_places[i]) ? r.false_rows : r.fragments);
    }
    r.false_detections = rate_of(r.false_rows);
  }

  [[nodiscard]] FalseDetections rate_of(std::int64_t count) const {
    FalseDetections result{count, {}};
    const double beams = static_cast<double>(m_result.clear_pixels) / m_result.beam_pixels;
    if (!(beams > 0)) return result;
    const auto estimate = poisson_estimate(count);
    result.per_million = {estimate.value / beams * k_million, estimate.low / beams * k_million,
                          estimate.high / beams * k_million};
    return result;
  }

  void take_inverse(const SourceTable& table, bool with_negative,
                    const EvaluatedCatalogue* inverted) {
    std::vector<PixelPosition> places = m_negative;
    if (inverted != nullptr) {
      if (m_all_negative > 0) {
        throw Error(fmt::format(
            "{}: {} rows are of negative islands, which are those of the inverted image; expected "
            "no catalogue of that besides",
            detail::one_line(table.list.path), m_all_negative));
      }
      places = read(*inverted).places;
    } else if (m_all_negative == 0 && !with_negative) {
      return;
    }
    std::int64_t clear = 0;
    for (const auto& place : places) {
      if (is_usable(place)) ++(is_clear(place) ? clear : m_result.inverted_near);
    }
    m_result.inverted = rate_of(clear);
  }

  void judge() {
    auto& r = m_result;
    std::vector<double> snr;
    std::vector<int> found;
    for (std::size_t i = 0; i < m_truth.rows.size(); ++i) {
      const auto& row = m_truth.rows[i];
      if (row.usable) r.found_all += m_found[i];
      if (!row.isolated) continue;
      r.found_isolated += m_found[i];
      snr.push_back(row.snr);
      found.push_back(m_found[i]);
    }
    r.completeness = binomial_estimate(r.found_isolated, r.truth_isolated);
    r.half = half_point(snr, found);
    r.completeness_bins = detail::share_bins(m_params.bins, snr, found);
    r.reliability = binomial_estimate(r.matched, r.positive);
    r.reliability_by = m_snr.by;
    std::vector<double> own;
    for (const auto row : m_rows) own.push_back(m_snr.values[row]);
    r.reliability_bins = detail::share_bins(m_params.bins, own, m_matched);
    if (m_snr.by.empty() && r.positive > 0)
      r.notes.emplace_back(
          "the catalogue has no S/N, neither peak and noise nor a flux and its error, so that "
          "there are no bins of reliability");
  }

  void expect_false() {
    auto& r = m_result;
    const auto shortest = std::min(m_truth.image.nx, m_truth.image.ny);
    std::int64_t far = k_far_without_beam;
    if (m_truth.beam_fwhm > 0)
      far = std::max(std::int64_t{4},
                     std::int64_t{std::lround(std::min(k_far * m_truth.beam_fwhm, 1e6))});
    r.noise = detail::measured_correlation(m_truth.image, m_clear, std::min(far, shortest));
    if (!m_params.threshold || *m_params.threshold < k_least_threshold) return;
    const auto pixels = static_cast<double>(r.clear_pixels);
    r.expected_false = pixels * expected_islands_per_pixel(*m_params.threshold, r.noise);
    r.expected_smooth = pixels * smooth_islands_per_pixel(*m_params.threshold, r.noise);
    if (m_truth.beam_from == "beam")
      r.expected_beam =
          pixels * expected_islands_per_pixel(*m_params.threshold, beam_correlation(r.beam_pixels));
  }

  /// Why there are no true values; empty if there may be.
  [[nodiscard]] std::string trouble_of_truth(M quantity) const {
    if (quantity == M::x || quantity == M::y) return "";
    if (quantity == M::major || quantity == M::minor) return m_truth.size_trouble;
    return (quantity == M::flux_peak ? m_truth.frame.true_peak : m_truth.frame.true_int).trouble;
  }

  void measure() {
    for (std::size_t q = 0; q < k_measured_quantities; ++q) {
      auto& measure = m_result.measures[q];
      const auto& values = m_values[q];
      measure.quantity = static_cast<M>(q);
      measure.column = values.column;
      measure.error_column = values.error_column;
      measure.unit = values.unit;
      measure.trouble =
          values.trouble.empty() ? trouble_of_truth(measure.quantity) : values.trouble;
      detail::summarise(m_result.pairs, m_params, measure);
    }
  }

  const Truth::State& m_truth;
  const EvaluationParams& m_params;
  Evaluation m_result;
  std::vector<std::uint8_t> m_clear;
  std::vector<MeasuredValues> m_values;
  detail::RowSnr m_snr;
  std::vector<std::size_t> m_rows;  // of the catalogue, those that are not negative
  std::vector<PixelPosition> m_places, m_negative;
  std::vector<int> m_found, m_matched;                          // of the truth; of m_rows
  std::vector<std::pair<std::size_t, std::size_t>> m_partners;  // of the truth and of m_rows
  std::int64_t m_all_negative = 0;                              // rows
  std::int64_t m_outside = 0;                                   // rows in no usable pixel
};

}  // namespace

const char* name_of(MeasuredQuantity quantity) {
  constexpr std::array<const char*, k_measured_quantities> names = {
      "flux_int", "flux_iso", "flux_peak", "x", "y", "major", "minor"};
  return names[static_cast<std::size_t>(quantity)];
}

Evaluation evaluate(const Truth& truth, const EvaluatedCatalogue& catalogue,
                    const EvaluatedCatalogue* inverted, const EvaluationParams& params) {
  check(params);
  return Evaluator(truth.state(), params).run(catalogue, inverted);
}

}  // namespace kastor::io
