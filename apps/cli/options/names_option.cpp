// SPDX-License-Identifier: Apache-2.0
#include "cli/options/names_option.hpp"

namespace kastor::cli {

void add_names_option(CommandLine& line, io::TableNames& names) {
  line.choice(
      "--names", {"kastor", "pybdsf", "aegean", "sextractor", "vizier"},
      [&names](const std::string& word) { names = io::table_names_called(word).value(); },
      "Write tables with the columns, units and conventions\n"
      "of this program or archive. Default: kastor.",
      "kastor");
}

std::string names_as_typed(io::TableNames names) {
  return names == io::TableNames::kastor ? "" : std::string(" --names ") + io::name_of(names);
}

}  // namespace kastor::cli
