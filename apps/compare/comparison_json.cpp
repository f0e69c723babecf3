// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/report/json.hpp"
#include "compare/comparison_report.hpp"

namespace kastor::cli {
namespace {

using io::SourceQuantity;

Json share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json catalogue_json(const io::SourceList& list, const io::ComparedSide& side) {
  Json columns = Json::object();
  for (std::size_t q = 0; q < list.columns.size(); ++q) {
    const auto quantity = static_cast<SourceQuantity>(q);
    if (list.column(quantity).empty()) continue;
    columns[io::name_of(quantity)] = {{"column", list.column(quantity)},
                                      {"unit", text_or_null(list.unit(quantity))}};
  }
  return {{"file", list.path},         {"format", io::name_of(list.format)},
          {"rows", side.rows},         {"without_position", side.without_position},
          {"selected", side.selected}, {"columns", columns}};
}

Json spread_json(const io::RobustSpread& spread) {
  return {{"median", finite_or_null(spread.median)}, {"sigma", finite_or_null(spread.sigma)}};
}

Json offsets_json(const io::Comparison& comparison) {
  const bool sky = comparison.frame == io::MatchFrame::sky;
  return {{"unit", sky ? "arcsec" : "pixel"},
          {sky ? "ra_cos_dec" : "x", spread_json(comparison.d_first)},
          {sky ? "dec" : "y", spread_json(comparison.d_second)},
          {"separation", spread_json(comparison.separation)}};
}

Json ratios_json(const io::Comparison& comparison) {
  Json json = Json::object();
  for (const auto& ratio : comparison.flux_ratios) {
    Json& entry = json[io::name_of(ratio.quantity)];
    entry = nullptr;
    if (!ratio.trouble.empty()) continue;
    entry = {{"pairs", ratio.ratio.count}};
    entry.update(spread_json(ratio.ratio));
  }
  return json;
}

Json bins_json(const io::ComparedSide& side, const char* share_name) {
  Json bins = Json::array();
  for (const auto& bin : side.bins) {
    bins.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"sources", bin.sources},
                    {"matched", bin.matched},
                    {share_name, share(bin.matched, bin.sources)}});
  }
  return {{"by", side.binned_by ? Json(io::name_of(*side.binned_by)) : Json(nullptr)},
          {"bins", bins}};
}

Json brightest_json(const io::SourceList& list, const io::Comparison& comparison,
                    const io::ComparedSide& side) {
  const bool sky = comparison.frame == io::MatchFrame::sky;
  Json sources = Json::array();
  const auto count = std::min(most_unmatched_shown, side.unmatched.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& source = list.sources[side.unmatched[i]];
    sources.push_back({{"row", source.row},
                       {"id", text_or_null(source.id)},
                       {sky ? "ra" : "x", sky ? source.ra : source.x},
                       {sky ? "dec" : "y", sky ? source.dec : source.y},
                       {"flux_peak", finite_or_null(source.flux_peak)},
                       {"flux_int", finite_or_null(source.flux_int)},
                       {"flux_sum", finite_or_null(source.flux_sum)},
                       {"snr", finite_or_null(source.snr)}});
  }
  return sources;
}

const char* word_of(io::RadiusFrom from) {
  switch (from) {
    case io::RadiusFrom::given:
      return "given";
    case io::RadiusFrom::sizes_of_first:
      return "sizes of catalogue 1";
    case io::RadiusFrom::sizes_of_second:
      return "sizes of catalogue 2";
    default:
      return "default";
  }
}

}  // namespace

std::string comparison_json(const io::SourceList& first, const io::SourceList& second,
                            const io::Comparison& comparison) {
  const bool sky = comparison.frame == io::MatchFrame::sky;
  const auto& reference = comparison.sides[0];
  const auto& tested = comparison.sides[1];
  Json notes = first.notes;
  for (const auto& note : second.notes) notes.push_back(note);
  const Json json = {{"catalogue1", catalogue_json(first, reference)},
                     {"catalogue2", catalogue_json(second, tested)},
                     {"frame", sky ? "sky" : "pixels"},
                     {"radius", comparison.radius},
                     {"radius_unit", sky ? "arcsec" : "pixel"},
                     {"radius_from", word_of(comparison.radius_from)},
                     {"matched", comparison.matches.size()},
                     {"missed", reference.unmatched.size()},
                     {"extra", tested.unmatched.size()},
                     {"completeness", finite_or_null(reference.matched_share)},
                     {"reliability", finite_or_null(tested.matched_share)},
                     {"offset", offsets_json(comparison)},
                     {"flux_ratio", ratios_json(comparison)},
                     {"completeness_bins", bins_json(reference, "completeness")},
                     {"reliability_bins", bins_json(tested, "reliability")},
                     {"brightest_missed", brightest_json(first, comparison, reference)},
                     {"brightest_extra", brightest_json(second, comparison, tested)},
                     {"notes", notes}};
  return json_line(json);
}

}  // namespace kastor::cli
