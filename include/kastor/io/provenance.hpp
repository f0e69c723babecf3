// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PROVENANCE_HPP
#define KASTOR_IO_PROVENANCE_HPP

#include <cstdint>
#include <string>

namespace kastor::io {

/// Where an output came from. The writers store it in every format that has a place for it. In
/// brackets: the FITS keywords.
struct Provenance {
  std::string version;              ///< Kastor's version (KASTORV)
  std::string command_line;         ///< the options, as one line (HISTORY)
  std::string input;                ///< name of the input file (INPUT); empty if there is none
  std::uint32_t input_datasum = 0;  ///< FITS DATASUM of the input HDU (INSUM)
  int input_hdu = 0;                ///< HDU of the input, from 0 (INHDU)
  std::string unit;  ///< unit of the pixel values written (BUNIT, TUNITn); may be empty
};

}  // namespace kastor::io

#endif
