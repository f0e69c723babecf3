// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_COMPONENT_SOURCES_HPP
#define KASTOR_SRC_IO_CATALOGUE_COMPONENT_SOURCES_HPP

#include <cstdint>
#include <kastor/component.hpp>
#include <span>
#include <vector>

namespace kastor::io::detail {

/// The source that a component is a part of.
struct ComponentSource {
  std::int64_t id;    ///< 1.. in the order of the first component
  char code;          ///< S: the only component of its island; C: the only one of its source; M
  bool has_siblings;  ///< whether there are others in its island
};

/// Threshold of the islands.
struct FloodLevel {
  double snr = 0;    ///< [rms]
  double level = 0;  ///< [image unit above the background]; used instead if > 0
};

/// Joins components of an island to sources, as PyBDSF does (Mohan and Rafferty 2015,
/// ascl:1502.007; gaul2srl, group_method "intensity"). Two are of one source if the distance of
/// their centres is at most half the sum of their full widths at half maximum along the line
/// between, and if the model, the sum of all the Gaussians of the island, does not fall there below
/// the lower of the two peaks by more than the flood (of the mean of both rms). So are two that are
/// of one source with a third. Those of opposite signs are not. (PyBDSF also joins two between
/// which its model rises all the way, whatever their distance.)
[[nodiscard]] std::vector<ComponentSource> component_sources(std::span<const Component> components,
                                                             const FloodLevel& flood);

}  // namespace kastor::io::detail

#endif
