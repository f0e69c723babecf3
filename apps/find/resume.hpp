// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_RESUME_HPP
#define KASTOR_APPS_FIND_RESUME_HPP

#include <kastor/io/provenance.hpp>
#include <string>
#include <vector>

#include "find/find_outputs.hpp"

namespace kastor::cli {

/// What exists under the name of a catalogue.
enum class Standing {
  missing,
  same,    ///< a catalogue of the same version, options and pixels
  silent,  ///< a CSV file, which has no provenance
  other
};

/// What --resume does with one image.
enum class Resumption {
  skip,     ///< all its catalogues exist
  go_on,    ///< some are missing, and the others may be replaced
  conflict  ///< another file has the name of a catalogue
};

/// A CSV file counts as the catalogue beside it, since both were written together.
[[nodiscard]] Resumption resumption_of(const std::vector<Standing>& catalogues);

[[nodiscard]] bool any_exists(const std::vector<StagedCatalogue>& targets);
[[nodiscard]] std::vector<Standing> standing_of(const std::vector<StagedCatalogue>& targets,
                                                const io::Provenance& provenance);

}  // namespace kastor::cli

#endif
