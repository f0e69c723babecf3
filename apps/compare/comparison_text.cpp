// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"
#include "compare/comparison_report.hpp"

namespace kastor::cli {
namespace {

using io::SourceQuantity;

const char* unit_of(const io::Comparison& comparison) {
  return comparison.frame == io::MatchFrame::sky ? "arcsec" : "pixel";
}

std::string catalogue_line(const char* role, const io::SourceList& list,
                           const io::ComparedSide& side) {
  std::string text = fmt::format("{:<11} {} ({}): {}", role, one_line(list.path),
                                 io::name_of(list.format), count_of(side.rows, "row"));
  if (side.without_position > 0)
    text += fmt::format(", {} without a position", side.without_position);
  if (side.selected != side.rows - side.without_position)
    text += fmt::format(", {} selected", side.selected);
  return text + "\n";
}

/// "0.9310", or "-" if `whole` is 0.
std::string share_text(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.4f}", static_cast<double>(part) / static_cast<double>(whole));
}

std::string counts_text(const io::Comparison& comparison) {
  const auto matched = static_cast<std::int64_t>(comparison.matches.size());
  const auto& reference = comparison.sides[0];
  const auto& tested = comparison.sides[1];
  return fmt::format("{:<13} {:>8}  {} of {} found, {} missed\n", "completeness",
                     share_text(matched, reference.selected), matched, reference.selected,
                     reference.unmatched.size()) +
         fmt::format("{:<13} {:>8}  {} of {} confirmed, {} extra\n", "reliability",
                     share_text(matched, tested.selected), matched, tested.selected,
                     tested.unmatched.size());
}

std::string offset_line(const char* name, const io::RobustSpread& spread) {
  return fmt::format("{:<13} {:>12.5g} {:>12.5g}\n", name, spread.median, spread.sigma);
}

std::string offsets_text(const io::Comparison& comparison) {
  const bool sky = comparison.frame == io::MatchFrame::sky;
  return fmt::format("offset, tested - reference [{}]\n{:<13} {:>12} {:>12}\n", unit_of(comparison),
                     "", "median", "sigma") +
         offset_line(sky ? "RA cos(Dec)" : "x", comparison.d_first) +
         offset_line(sky ? "Dec" : "y", comparison.d_second) +
         offset_line("separation", comparison.separation);
}

std::string ratios_text(const io::Comparison& comparison) {
  std::string text = fmt::format("flux, tested / reference\n{:<13} {:>12} {:>12} {:>8}\n", "",
                                 "median", "sigma", "pairs");
  for (const auto& ratio : comparison.flux_ratios) {
    const char* name = io::name_of(ratio.quantity);
    if (ratio.trouble.empty()) {
      text += fmt::format("{:<13} {:>12.5g} {:>12.5g} {:>8}\n", name, ratio.ratio.median,
                          ratio.ratio.sigma, ratio.ratio.count);
    } else {
      text += fmt::format("{:<13} {:>12}  ({})\n", name, "-", ratio.trouble);
    }
  }
  return text;
}

std::string bins_text(const io::SourceList& list, const io::ComparedSide& side, const char* whose,
                      const char* what) {
  if (!side.binned_by || side.bins.empty()) return "";
  const auto quantity = *side.binned_by;
  const std::string unit = one_line(list.unit(quantity));
  std::string text = fmt::format(
      "{} by {} of the {}{}\n{:>10} {:>10} {:>10} {:>10} {:>13}\n", what, io::name_of(quantity),
      whose, unit.empty() ? "" : " [" + unit + "]", "from", "below", "sources", "matched", what);
  for (const auto& bin : side.bins) {
    text += fmt::format("{:>10g} {:>10g} {:>10} {:>10} {:>13}\n", bin.low, bin.high, bin.sources,
                        bin.matched, share_text(bin.matched, bin.sources));
  }
  return text + "\n";
}

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-";
}

std::string brightest_text(const io::SourceList& list, const io::Comparison& comparison,
                           const io::ComparedSide& side, const char* what) {
  if (side.unmatched.empty()) return "";
  const bool sky = comparison.frame == io::MatchFrame::sky;
  const auto count = std::min(most_unmatched_shown, side.unmatched.size());
  std::string text = count < side.unmatched.size() ? fmt::format("the {} brightest of {} {}", count,
                                                                 side.unmatched.size(), what)
                                                   : fmt::format("{} {}", count, what);
  text += fmt::format("\n{:>8} {:>12} {:>12} {:>12} {:>12} {:>9}  {}\n", "row", sky ? "ra" : "x",
                      sky ? "dec" : "y", "flux_peak", "flux_int", "snr", "id");
  for (std::size_t i = 0; i < count; ++i) {
    const auto& source = list.sources[side.unmatched[i]];
    std::string line = fmt::format("{:>8} {:>12.6f} {:>12.6f} {:>12} {:>12} {:>9}  {}", source.row,
                                   sky ? source.ra : source.x, sky ? source.dec : source.y,
                                   number_text(source.flux_peak), number_text(source.flux_int),
                                   number_text(source.snr), one_line(source.id));
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text + "\n";
}

}  // namespace

std::string radius_origin(const io::SourceList& first, const io::SourceList& second,
                          io::RadiusFrom from) {
  switch (from) {
    case io::RadiusFrom::given:
      return "as given";
    case io::RadiusFrom::sizes_of_first:
      return "half the median size in " + one_line(first.path);
    case io::RadiusFrom::sizes_of_second:
      return "half the median size in " + one_line(second.path);
    default:
      return "the default, since no sizes are known";
  }
}

std::string comparison_text(const io::SourceList& first, const io::SourceList& second,
                            const io::Comparison& comparison) {
  const auto& reference = comparison.sides[0];
  const auto& tested = comparison.sides[1];
  std::string text =
      catalogue_line("reference", first, reference) + catalogue_line("tested", second, tested) +
      fmt::format("{:<11} {} within {:.6g} {} ({})\n\n", "matched",
                  count_of(comparison.matches.size(), "pair"), comparison.radius,
                  unit_of(comparison), radius_origin(first, second, comparison.radius_from)) +
      counts_text(comparison) + "\n";
  if (!comparison.matches.empty())
    text += offsets_text(comparison) + "\n" + ratios_text(comparison) + "\n";
  text += bins_text(first, reference, "reference", "completeness") +
          bins_text(second, tested, "tested", "reliability") +
          brightest_text(first, comparison, reference, "missed") +
          brightest_text(second, comparison, tested, "extra");
  for (const auto* list : {&first, &second}) {
    for (const auto& note : list->notes) text += "note: " + one_line(note) + "\n";
  }
  if (text.ends_with("\n\n")) text.pop_back();  // the last empty line
  return text;
}

}  // namespace kastor::cli
