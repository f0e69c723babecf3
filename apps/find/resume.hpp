// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_RESUME_HPP
#define KASTOR_APPS_FIND_RESUME_HPP

#include <kastor/io/provenance.hpp>
#include <string>
#include <vector>

#include "find/find_outputs.hpp"

namespace kastor::cli {

/// What stands where a catalogue is to be.
enum class Standing {
  missing,
  same,    ///< of the same version, options and pixels
  silent,  ///< does not say: CSV
  other
};

/// What --resume does about one image.
enum class Resumption {
  skip,     ///< all its catalogues are there
  go_on,    ///< some are missing; those that are there may be replaced
  conflict  ///< something else is in the place of one
};

/// CSV counts as what stands beside it, with which it was written.
[[nodiscard]] Resumption resumption_of(const std::vector<Standing>& catalogues);

[[nodiscard]] bool any_exists(const std::vector<StagedCatalogue>& targets);
[[nodiscard]] std::vector<Standing> standing_of(const std::vector<StagedCatalogue>& targets,
                                                const io::Provenance& provenance);

}  // namespace kastor::cli

#endif
