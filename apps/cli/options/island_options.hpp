// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_ISLAND_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_ISLAND_OPTIONS_HPP

#include <kastor/background.hpp>
#include <kastor/io/beam.hpp>
#include <kastor/island_finder.hpp>
#include <optional>
#include <string>
#include <variant>

#include "cli/options/command_line.hpp"
#include "cli/options/options.hpp"

namespace kastor::cli {

/// A way of finding sources. `lesson`: one threshold above one noise for the whole image; the
/// others: two thresholds above maps of background and noise, and a catalogue on the sky.
enum class Preset { lesson, radio, sextractor };
[[nodiscard]] const char* name_of(Preset preset);

/// Columns x_min to x_max and rows y_min to y_max, from 0, both ends inside.
struct PixelBox {
  std::int64_t x_min, x_max, y_min, y_max;
};

struct MeshCell {
  std::int64_t height, width;
};

/// What takes the mesh's place: one number, or an image (its file's name).
using GivenMap = std::variant<double, std::string>;

struct IslandOptions {
  Preset preset = Preset::lesson;
  IslandParams find;
  std::optional<double> min_beams;  ///< the least size of an island in areas of the beam
  BackgroundParams mesh;            ///< the size of a cell is that of `cell`
  std::optional<MeshCell> cell;     ///< none: from the beam
  std::optional<GivenMap> background;
  std::optional<GivenMap> rms;
  std::optional<std::string> mask;
  std::optional<PixelBox> box;
  std::optional<std::string> beam;  ///< as typed

  std::optional<std::string> background_map;
  std::optional<std::string> rms_map;
  std::optional<std::string> snr_map;
  std::optional<std::string> residual;
};

/// `--preset`, and what the presets but the lesson's take.
class IslandOptionsParser {
 public:
  void add_to(CommandLine& line);
  /// After parsing: the preset's own values where nothing else was given. `lesson` has what was
  /// given of the options that all presets share. \throws UsageError where options do not fit the
  /// preset or each other
  [[nodiscard]] IslandOptions resolved(const CommandLine& line, const FindParams& lesson) const;

 private:
  void add_thresholds(CommandLine& line);
  void add_background(CommandLine& line);
  void add_maps(CommandLine& line);

  IslandOptions m_given;
  std::optional<double> m_seed, m_flood;
  std::optional<BackgroundEstimate> m_estimate;
};

/// They, defaults included, as they would be typed: for the provenance of an output.
[[nodiscard]] std::string island_options_as_typed(const IslandOptions& options);

}  // namespace kastor::cli

#endif
