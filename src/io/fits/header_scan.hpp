// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_HEADER_SCAN_HPP
#define KASTOR_SRC_IO_FITS_HEADER_SCAN_HPP

#include <cstdint>
#include <string>

namespace kastor::io::detail {

class FitsFile;

/// What in the header at this offset of the (unpacked) file CFITSIO must not see, because it would
/// not survive it; empty for every valid header, and for those that it refuses itself.
[[nodiscard]] std::string header_fault(const FitsFile& file, std::int64_t offset);

}  // namespace kastor::io::detail

#endif
