// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_REPORT_HPP
#define KASTOR_APPS_CLI_REPORT_REPORT_HPP

#include <kastor/io/fits_image.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/source_finder.hpp>
#include <string>
#include <vector>

/// Results as text and as JSON. Doubles in JSON round-trip, and a missing value is null.
namespace kastor::cli {

[[nodiscard]] std::string stats_text(const io::FitsImage& image, const SigmaClipResult& clip);
[[nodiscard]] std::string stats_json(const io::FitsImage& image, const SigmaClipResult& clip);

/// What the user should know if the threshold is about zero and the sky is not; empty if all is
/// well.
[[nodiscard]] std::string sky_note(const FindParams& params, const FindResult& result);

/// The counts, the notes and the brightest sources.
[[nodiscard]] std::string find_text(const io::FitsImage& image, const FindParams& params,
                                    const FindResult& result,
                                    const std::vector<std::string>& notes);
[[nodiscard]] std::string find_json(const io::FitsImage& image, const FindResult& result,
                                    const std::vector<std::string>& notes);

[[nodiscard]] std::string label_text(const io::FitsImage& image, const FindParams& params,
                                     const FindResult& result,
                                     const std::vector<std::string>& notes);
/// \param type  of the label image, "int32" or "int64"
[[nodiscard]] std::string label_json(const io::FitsImage& image, const FindResult& result,
                                     const char* type, const std::vector<std::string>& notes);

[[nodiscard]] std::string hdus_text(const std::string& path, const std::vector<io::HduInfo>& hdus,
                                    const std::vector<std::string>& notes);
[[nodiscard]] std::string hdus_json(const std::string& path, const std::vector<io::HduInfo>& hdus,
                                    const std::vector<std::string>& notes);

/// The version, backends, devices and libraries of this build.
struct BuildInfo {
  struct BackendInfo {
    std::string name;
    bool usable;
    std::string trouble;  ///< why it is not usable
    bool standard;        ///< used without --on
    int concurrency;      ///< 0 if not usable
  };
  struct Library {
    std::string name;
    std::string version;  ///< empty if unknown
  };
  std::string version;
  std::vector<BackendInfo> backends;
  std::vector<std::string> devices;
  std::vector<Library> libraries;
};
[[nodiscard]] std::string build_text(const BuildInfo& info);
[[nodiscard]] std::string build_json(const BuildInfo& info);
/// The version of the JSON library.
[[nodiscard]] std::string json_library_version();

}  // namespace kastor::cli

#endif
