// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_ISLAND_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_ISLAND_OPTIONS_HPP

#include <kastor/background.hpp>
#include <kastor/io/beam.hpp>
#include <kastor/island_finder.hpp>
#include <optional>
#include <string>

#include "cli/options/command_line.hpp"
#include "cli/options/component_options.hpp"
#include "cli/options/detection_options.hpp"
#include "cli/options/given_options.hpp"
#include "cli/options/noise_option.hpp"
#include "cli/options/options.hpp"
#include "cli/options/photometry_options.hpp"

namespace kastor::cli {

/// How sources are found. `lesson` uses one noise and one threshold for the whole image. The others
/// use two thresholds above maps of background and noise, and give a catalogue on the sky.
enum class Preset { lesson, radio, sextractor };
[[nodiscard]] const char* name_of(Preset preset);

/// Columns x_min to x_max and rows y_min to y_max, counted from 0, ends included.
struct PixelBox {
  std::int64_t x_min, x_max, y_min, y_max;
};

struct MeshCell {
  std::int64_t height, width;
};

struct IslandOptions {
  Preset preset = Preset::lesson;
  IslandParams find;
  DetectionOptions detection;
  std::optional<double> min_beams;  ///< the smallest size of an island [beam areas]
  BackgroundParams mesh;            ///< its size of a cell is set from `cell`
  std::optional<MeshCell> cell;     ///< none: from the beam
  std::optional<GivenMap> background;
  std::optional<GivenMap> rms;
  RmsKind rms_kind = RmsKind::rms;  ///< what the pixels of `rms` are
  /// The noise is raised near islands with a peak above so many times the noise.
  std::optional<double> adaptive_rms;
  double beam_width = 0;  ///< for `adaptive_rms`, set from the beam [pixel]
  std::optional<GivenFile> mask;
  std::optional<PixelBox> box;
  std::optional<std::string> beam;  ///< as typed
  PhotometryOptions photometry;
  AssumedNoise noise = AssumedNoise::measured;
  ComponentOptions components;

  bool detects_fill = true;  ///< a constant that fills a part of the image is blank

  std::optional<std::string> background_map;
  std::optional<std::string> rms_map;
  std::optional<std::string> snr_map;
  std::optional<std::string> residual;
};

/// `--preset`, and the options of the presets other than `lesson`.
class IslandOptionsParser {
 public:
  /// \param standard  the preset if none is given
  explicit IslandOptionsParser(Preset standard = Preset::lesson) : m_standard(standard) {
    m_given.preset = standard;
  }

  void add_to(CommandLine& line);
  /// Those without outputs.
  void add_search_to(CommandLine& line);
  /// Those of a report, which has components but no other outputs.
  void add_report_to(CommandLine& line);
  /// Those that say which pixels are used and what their background and noise are: for photometry
  /// at given positions. The preset is `radio` or `sextractor`.
  void add_measuring_to(CommandLine& line);
  /// The names of the options of the presets other than `lesson`, without those of outputs.
  [[nodiscard]] static std::vector<std::string> search_names();
  /// After parsing: the options, with the defaults of the preset. `lesson` has the options that all
  /// presets share. \throws UsageError if options do not fit the preset or each other
  [[nodiscard]] IslandOptions resolved(const CommandLine& line, const FindParams& lesson) const;
  /// The same after `add_measuring_to()`.
  [[nodiscard]] IslandOptions resolved_for_measuring(const SigmaClipParams& clip) const;

 private:
  void add_region(CommandLine& line);
  void add_adaptive_rms(CommandLine& line);
  void resolve_mesh(const SigmaClipParams& clip, IslandOptions& options) const;
  void add_thresholds(CommandLine& line);
  void add_background(CommandLine& line);
  void add_given_maps(CommandLine& line);
  void add_maps(CommandLine& line);
  void resolve_given(IslandOptions& options) const;
  void resolve_photometry(const CommandLine& line, IslandOptions& options) const;

  Preset m_standard;
  bool m_has_outputs = false;
  bool m_has_components = false;
  IslandOptions m_given;
  DetectionOptionsParser m_detection;
  std::optional<double> m_seed, m_flood;
  std::optional<BackgroundEstimate> m_estimate;
  std::optional<bool> m_mask_large_sources, m_correct_clip;
  std::optional<std::string> m_mask, m_background, m_rms;  // as typed
  io::ReadOptions m_mask_part, m_background_part, m_rms_part;
  PhotometryOptionsParser m_photometry;
  ComponentOptionsParser m_components;
};

/// The options as typed, defaults included, for the provenance of an output.
[[nodiscard]] std::string island_options_as_typed(const IslandOptions& options);
/// Of these: which pixels are used, and what their background and noise are.
[[nodiscard]] std::string sky_as_typed(const IslandOptions& options);
/// How the mesh is made of its clipped cells.
[[nodiscard]] std::string mesh_as_typed(const BackgroundParams& mesh);

}  // namespace kastor::cli

#endif
