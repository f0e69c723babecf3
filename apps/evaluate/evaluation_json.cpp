// SPDX-License-Identifier: Apache-2.0
#include "cli/report/json.hpp"
#include "evaluate/evaluation_report.hpp"

namespace kastor::cli {
namespace {

/// "completeness": 0.5, "low": ..., "high": ...
void add_estimate(Json& json, const char* name, const io::Estimate& estimate) {
  json[name] = finite_or_null(estimate.value);
  json[std::string(name) + "_low"] = finite_or_null(estimate.low);
  json[std::string(name) + "_high"] = finite_or_null(estimate.high);
}

Json truth_json(const EvaluationReport& report) {
  const auto& e = report.evaluation;
  return {{"file", report.truth},       {"rows", e.truth_rows}, {"left_out", e.truth_left_out},
          {"outside", e.truth_outside}, {"used", e.truth_used}, {"isolated", e.truth_isolated}};
}

Json rows_json(const io::Evaluation& e) {
  return {{"rows", e.rows},           {"without_position", e.without_position},
          {"negative", e.negative},   {"outside", e.rows_outside},
          {"positive", e.positive},   {"matched", e.matched},
          {"fragments", e.fragments}, {"false", e.false_rows}};
}

Json area_json(const io::Evaluation& e) {
  const auto beams = [&](std::int64_t pixels) {
    return finite_or_null(static_cast<double>(pixels) / e.beam_pixels);
  };
  return {{"beam_pixels", finite_or_null(e.beam_pixels)},
          {"beam_from", text_or_null(e.beam_from)},
          {"usable_pixels", e.usable_pixels},
          {"usable_beams", beams(e.usable_pixels)},
          {"clear_pixels", e.clear_pixels},
          {"clear_beams", beams(e.clear_pixels)}};
}

Json share_bins_json(const std::vector<io::ShareBin>& bins, const char* all, const char* matched,
                     const char* share) {
  Json list = Json::array();
  for (const auto& bin : bins) {
    Json entry = {{"low", bin.low},
                  {"high", finite_or_null(bin.high)},
                  {all, bin.all},
                  {matched, bin.matched}};
    add_estimate(entry, share, bin.share);
    list.push_back(std::move(entry));
  }
  return list;
}

Json completeness_json(const io::Evaluation& e) {
  Json json;
  add_estimate(json, "completeness", e.completeness);
  json["found"] = e.found_isolated;
  json["sources"] = e.truth_isolated;
  json["all_found"] = e.found_all;
  json["all_sources"] = e.truth_used;
  json["half_snr"] = finite_or_null(e.half.snr);
  json["half_snr_err"] = finite_or_null(e.half.error);
  json["bins"] = share_bins_json(e.completeness_bins, "sources", "found", "completeness");
  return json;
}

Json reliability_json(const io::Evaluation& e) {
  Json json;
  add_estimate(json, "reliability", e.reliability);
  json["matched"] = e.matched;
  json["rows"] = e.positive;
  json["by"] = text_or_null(e.reliability_by);
  json["bins"] = share_bins_json(e.reliability_bins, "rows", "matched", "reliability");
  return json;
}

Json rate_json(const io::FalseDetections& detections) {
  Json json = {{"count", detections.count}};
  add_estimate(json, "per_million_beams", detections.per_million);
  return json;
}

Json false_json(const EvaluationReport& report) {
  const auto& e = report.evaluation;
  Json json = rate_json(e.false_detections);
  json["inverted"] = nullptr;
  if (e.inverted) {
    json["inverted"] = rate_json(*e.inverted);
    json["inverted"]["near_sources"] = e.inverted_near;
  }
  const auto& threshold = report.params.threshold;
  json["threshold"] = threshold ? Json(*threshold) : Json(nullptr);
  json["expected_false"] = finite_or_null(e.expected_false);
  json["expected_false_smooth"] = finite_or_null(e.expected_smooth);
  json["expected_false_beam_noise"] = finite_or_null(e.expected_beam);
  json["correlation"] = {{"x", finite_or_null(e.noise.x)},
                         {"y", finite_or_null(e.noise.y)},
                         {"up", finite_or_null(e.noise.up)},
                         {"down", finite_or_null(e.noise.down)}};
  return json;
}

Json deviation_json(const io::Spread& spread) {
  return {{"count", spread.count},
          {"median", finite_or_null(spread.median)},
          {"median_err", finite_or_null(spread.median_err)},
          {"mean", finite_or_null(spread.mean)},
          {"mean_err", finite_or_null(spread.mean_err)},
          {"sigma", finite_or_null(spread.sigma)},
          {"sigma_err", finite_or_null(spread.sigma_err)},
          {"std", finite_or_null(spread.std)},
          {"std_err", finite_or_null(spread.std_err)}};
}

Json measure_bin_json(const io::MeasureBin& bin) {
  return {{"low", bin.low},
          {"high", finite_or_null(bin.high)},
          {"deviation", deviation_json(bin.deviation)},
          {"pull", bin.pull.count > 0 ? deviation_json(bin.pull) : Json(nullptr)}};
}

Json measures_json(const io::Evaluation& e) {
  Json json = Json::object();
  for (const auto& measure : e.measures) {
    Json bins = Json::array();
    for (const auto& bin : measure.bins) bins.push_back(measure_bin_json(bin));
    json[io::name_of(measure.quantity)] = {
        {"column", text_or_null(measure.column)},
        {"error_column", text_or_null(measure.error_column)},
        {"unit", text_or_null(measure.unit)},
        {"trouble", text_or_null(measure.trouble)},
        {"pooled",
         measure.pooled.deviation.count > 0 ? measure_bin_json(measure.pooled) : Json(nullptr)},
        {"bins", bins}};
  }
  return json;
}

}  // namespace

std::string evaluation_json(const EvaluationReport& report) {
  const auto& e = report.evaluation;
  const Json json = {{"file", report.image},
                     {"hdu", report.hdu},
                     {"catalogue", text_or_null(report.catalogue)},
                     {"inverted_catalogue", text_or_null(report.inverted)},
                     {"search", text_or_null(report.search)},
                     {"truth", truth_json(report)},
                     {"rows", rows_json(e)},
                     {"area", area_json(e)},
                     {"radius", e.radius},
                     {"radius_from", e.radius_from},
                     {"completeness", completeness_json(e)},
                     {"reliability", reliability_json(e)},
                     {"false_detections", false_json(report)},
                     {"pool", {report.params.pool_low, report.params.pool_high}},
                     {"measures", measures_json(e)},
                     {"notes", report.notes}};
  return json_line(json);
}

}  // namespace kastor::cli
