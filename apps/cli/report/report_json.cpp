// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/catalogue_writer.hpp>

#include "cli/report/json.hpp"
#include "cli/report/report.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

Json statistics_json(const Statistics& statistics) {
  return {{"mean", statistics.mean},
          {"median", statistics.median},
          {"std", statistics.std},
          {"min", statistics.min},
          {"max", statistics.max}};
}

Json clipped_json(const SigmaClipResult& clip) {
  Json json = {{"kappa", clip.kappa}};
  json.update(statistics_json(clip.clipped));
  json["kept"] = clip.clipped.count;
  json["passes"] = clip.passes;
  json["converged"] = clip.converged;
  json["degenerate"] = clip.degenerate;
  return json;
}

Json counts_json(const io::FitsImage& image, const FindResult& result) {
  return {{"file", image.path},
          {"hdu", image.hdu.index},
          {"threshold", result.threshold},
          {"sources", result.sources.size()},
          {"foreground_pixels", result.foreground_pixels}};
}

/// Rows first, unlike the FITS header.
Json shape_json(const io::HduInfo& hdu) {
  std::vector<std::int64_t> shape(hdu.axes.rbegin(), hdu.axes.rend());
  return shape;
}

Json beam_json(const io::HduInfo& hdu) {
  if (!hdu.beam) return nullptr;
  return {{"major_deg", hdu.beam->major_deg},
          {"minor_deg", hdu.beam->minor_deg},
          {"position_angle_deg", hdu.beam->position_angle_deg}};
}

}  // namespace

std::string stats_json(const io::FitsImage& image, const SigmaClipResult& clip) {
  return json_line({{"file", image.path},
                    {"hdu", image.hdu.index},
                    {"shape", {image.ny, image.nx}},
                    {"unit", text_or_null(image.hdu.unit)},
                    {"pixels", clip.pixels},
                    {"blank", clip.blank},
                    {"all", statistics_json(clip.all)},
                    {"clipped", clipped_json(clip)}});
}

std::string find_json(const io::FitsImage& image, const FindResult& result,
                      const std::vector<std::string>& notes) {
  Json json = counts_json(image, result);
  json["catalogue_hash"] = io::catalogue_hash(result.sources);
  json["clipped"] = clipped_json(result.clip);
  json["notes"] = message_lines(notes);
  return json_line(json);
}

std::string label_json(const io::FitsImage& image, const FindResult& result, const char* type,
                       const std::vector<std::string>& notes) {
  Json json = counts_json(image, result);
  json["type"] = type;
  json["clipped"] = clipped_json(result.clip);
  json["notes"] = notes;
  return json_line(json);
}

std::string hdus_json(const std::string& path, const std::vector<io::HduInfo>& hdus,
                      const std::vector<std::string>& notes) {
  Json list = Json::array();
  for (const auto& hdu : hdus) {
    list.push_back({{"index", hdu.index},
                    {"kind", hdu.kind},
                    {"name", text_or_null(hdu.name)},
                    {"version", hdu.version},
                    {"bitpix", hdu.bitpix != 0 ? Json(hdu.bitpix) : Json(nullptr)},
                    {"shape", shape_json(hdu)},
                    {"type", text_or_null(hdu.pixel_type)},
                    {"unit", text_or_null(hdu.unit)},
                    {"beam", beam_json(hdu)},
                    {"ctype", hdu.ctype},
                    {"compression", text_or_null(hdu.compression)}});
  }
  return json_line({{"file", path}, {"hdus", list}, {"notes", notes}});
}

std::string build_json(const BuildInfo& info) {
  Json backends = Json::array();
  for (const auto& backend : info.backends) {
    backends.push_back(
        {{"name", backend.name},
         {"usable", backend.usable},
         {"trouble", text_or_null(backend.trouble)},
         {"default", backend.standard},
         {"concurrency", backend.usable ? Json(backend.concurrency) : Json(nullptr)}});
  }
  Json libraries = Json::object();
  for (const auto& library : info.libraries) {
    libraries[library.name] = text_or_null(library.version);
  }
  return json_line({{"version", info.version},
                    {"backends", backends},
                    {"devices", info.devices},
                    {"libraries", libraries}});
}

std::string json_library_version() {
  return std::to_string(NLOHMANN_JSON_VERSION_MAJOR) + "." +
         std::to_string(NLOHMANN_JSON_VERSION_MINOR) + "." +
         std::to_string(NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace kastor::cli
