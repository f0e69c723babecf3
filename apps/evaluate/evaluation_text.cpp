// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"
#include "evaluate/evaluation_report.hpp"

namespace kastor::cli {
namespace {

std::string figure(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

std::string heading_of(const EvaluationReport& report) {
  const auto& e = report.evaluation;
  const bool searched = report.catalogue.empty();
  std::string text = fmt::format("image      {}[{}]: {} usable pixels", one_line(report.image),
                                 report.hdu, e.usable_pixels);
  if (!e.beam_from.empty())
    text += fmt::format(", {:.6g} beams of {:.6g} pixels",
                        static_cast<double>(e.usable_pixels) / e.beam_pixels, e.beam_pixels);
  text +=
      fmt::format("\ncatalogue  {}: {}", searched ? "found by Kastor" : one_line(report.catalogue),
                  count_of(e.rows, "row"));
  if (e.without_position > 0) text += fmt::format(", {} without a position", e.without_position);
  if (e.negative > 0) text += fmt::format(", {} negative", e.negative);
  if (e.rows_outside > 0) text += fmt::format(", {} outside", e.rows_outside);
  text += fmt::format("\ntruth      {}: {}, {} isolated", one_line(report.truth),
                      count_of(e.truth_used, "source"), e.truth_isolated);
  if (e.truth_left_out > 0) text += fmt::format(", {} left out", e.truth_left_out);
  if (e.truth_outside > 0) text += fmt::format(", {} outside", e.truth_outside);
  return text + fmt::format("\nmatched    {} within {:.6g} pixels ({}), one to one\n\n",
                            count_of(e.matched, "pair"), e.radius, e.radius_from);
}

std::string estimate_text(const io::Estimate& share) {
  if (!std::isfinite(share.value)) return fmt::format("{:>8}", "-");
  return fmt::format("{:8.4f}  ({:.4f} to {:.4f})", share.value, share.low, share.high);
}

std::string rate_text(const char* name, const io::FalseDetections& detections) {
  std::string text = fmt::format("{:<16} {:>8}", name, detections.count);
  const auto& rate = detections.per_million;
  if (std::isfinite(rate.value))
    text += fmt::format("  {:.5g} ({:.5g} to {:.5g}) for each 10^6 beams", rate.value, rate.low,
                        rate.high);
  return text + "\n";
}

std::string summary_text(const EvaluationReport& report) {
  const auto& e = report.evaluation;
  std::string text = fmt::format("completeness     {}  {} of {} isolated found, {} of all {}\n",
                                 estimate_text(e.completeness), e.found_isolated, e.truth_isolated,
                                 e.found_all, e.truth_used) +
                     fmt::format("reliability      {}  {} of {} rows\n",
                                 estimate_text(e.reliability), e.matched, e.positive);
  if (std::isfinite(e.half.snr)) {
    text += fmt::format("half found at S/N {:7.4f}", e.half.snr);
    if (std::isfinite(e.half.error)) text += fmt::format(" +- {:.4f}", e.half.error);
    text += "\n";
  }
  text += fmt::format("fragments        {:>8}  unpaired rows near true sources\n", e.fragments);
  text += rate_text("false detections", e.false_detections);
  if (e.inverted) text += rate_text("  inverted image", *e.inverted);
  if (std::isfinite(e.expected_false))
    text += fmt::format("  expected       {:>8.4g}  of Gaussian noise above {:g} sigma\n",
                        e.expected_false, report.params.threshold.value_or(0));
  return text + "\n";
}

std::string limit(double value) { return std::isfinite(value) ? fmt::format("{:g}", value) : "-"; }

std::string shares_text(const std::vector<io::ShareBin>& bins, const std::string& title,
                        const char* all, const char* matched) {
  if (bins.empty()) return "";
  std::string text = fmt::format("{}\n{:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}\n", title, "from",
                                 "below", all, matched, "share", "low", "high");
  for (const auto& bin : bins) {
    text += fmt::format("{:>8} {:>8} {:>9} {:>9} {:>9.4f} {:>9.4f} {:>9.4f}\n", limit(bin.low),
                        limit(bin.high), bin.all, bin.matched, bin.share.value, bin.share.low,
                        bin.share.high);
  }
  return text + "\n";
}

/// "-0.0123 +- 0.0012"
std::string with_error(double value, double error) {
  if (!std::isfinite(value)) return "-";
  return figure(value, "{:.4f}") + " +- " + figure(error, "{:.4f}");
}

std::string measures_text(const EvaluationReport& report) {
  const auto& e = report.evaluation;
  std::string text = fmt::format(
      "measures of isolated pairs of true S/N {:g} to {:g}: measured / true - 1; x, y: difference "
      "[pixel]\n{:<10} {:>6} {:>19} {:>17} {:>19} {:>17}\n",
      report.params.pool_low, report.params.pool_high, "", "pairs", "median", "scatter",
      "mean pull", "width of pulls");
  for (const auto& measure : e.measures) {
    const char* name = io::name_of(measure.quantity);
    const auto& [low, high, deviation, pull] = measure.pooled;
    if (!measure.trouble.empty() || deviation.count == 0) {
      text += fmt::format("{:<10} {:>6}  ({})\n", name, "-",
                          measure.trouble.empty() ? "no pair has both" : measure.trouble);
      continue;
    }
    text +=
        fmt::format("{:<10} {:>6} {:>19} {:>17} {:>19} {:>17}\n", name, deviation.count,
                    with_error(deviation.median, deviation.median_err),
                    with_error(deviation.sigma, deviation.sigma_err),
                    with_error(pull.mean, pull.mean_err), with_error(pull.sigma, pull.sigma_err));
  }
  return text + "\n";
}

}  // namespace

std::string evaluation_text(const EvaluationReport& report) {
  const auto& e = report.evaluation;
  std::string text =
      heading_of(report) + summary_text(report) +
      shares_text(e.completeness_bins, "completeness of isolated sources by true S/N", "sources",
                  "found") +
      shares_text(e.reliability_bins,
                  "reliability by " + one_line(e.reliability_by) + " of the catalogue", "rows",
                  "matched") +
      measures_text(report);
  for (const auto& note : report.notes) text += "note: " + one_line(note) + "\n";
  if (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace kastor::cli
