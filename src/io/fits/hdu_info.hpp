// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_HDU_INFO_HPP
#define KASTOR_SRC_IO_FITS_HDU_INFO_HPP

#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <optional>
#include <string>

#include "io/fits/fits_file.hpp"

namespace kastor::io::detail {

/// The header of the current HDU in short. Values that cannot be read count as missing.
[[nodiscard]] HduInfo describe_hdu(const FitsFile& file);

/// The value of a keyword of the current HDU; none if it is missing, empty or cannot be parsed.
[[nodiscard]] std::optional<double> read_double(const FitsFile& file, const char* keyword);
[[nodiscard]] std::optional<long long> read_integer(const FitsFile& file, const char* keyword);
[[nodiscard]] std::optional<std::string> read_string(const FitsFile& file, const char* keyword);
/// The value of BLANK or ZBLANK, exact in 64 bits; none as above, or if it is no integer.
[[nodiscard]] std::optional<std::int64_t> read_blank(const FitsFile& file, const char* keyword);
/// The same. \throws kastor::Error if the keyword is there and has no such value
[[nodiscard]] std::optional<std::int64_t> stated_blank(const FitsFile& file, const char* keyword);
/// Whether the header has the keyword, whatever its value.
[[nodiscard]] bool has_keyword(const FitsFile& file, const char* keyword);

/// Number of rows of the table in the current HDU. \throws kastor::Error if the file does not
/// contain all of them
[[nodiscard]] std::int64_t table_rows(const FitsFile& file);

/// "NAXIS1=20, NAXIS2=30", for messages.
[[nodiscard]] std::string axes_text(const HduInfo& hdu);

/// Bytes per pixel in the (uncompressed) file.
[[nodiscard]] constexpr std::int64_t bytes_per_pixel(int bitpix) {
  return (bitpix < 0 ? -bitpix : bitpix) / 8;
}

[[nodiscard]] inline bool is_image(const HduInfo& hdu) {
  return hdu.kind == "image" || hdu.kind == "compressed image";
}

}  // namespace kastor::io::detail

#endif
