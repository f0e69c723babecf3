// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_ISLAND_REPORT_HPP
#define KASTOR_APPS_FIND_ISLAND_REPORT_HPP

#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/io/beam.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/island_finder.hpp>
#include <optional>
#include <string>

#include "find/component_report.hpp"
#include "find/detection_summary.hpp"
#include "find/find_options.hpp"
#include "find/noise_used.hpp"

namespace kastor::cli {

/// What `kastor find` reports on islands.
struct IslandReport {
  const io::FitsImage& image;
  const IslandOptions& options;
  const IslandResult& result;
  const std::optional<BackgroundSummary>& mesh;
  const io::BeamReading& beam;
  const NoiseUsed& noise;
  const io::IslandTable& table;
  const DetectionSummary& detection;
  std::int64_t unsplit;                ///< islands above the background that were split
  const ComponentsReport* components;  ///< null: none were fitted
};

/// The counts and the brightest islands.
[[nodiscard]] std::string islands_text(const IslandReport& report);
[[nodiscard]] std::string islands_json(const IslandReport& report);

}  // namespace kastor::cli

#endif
