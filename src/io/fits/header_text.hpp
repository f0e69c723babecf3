// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_HEADER_TEXT_HPP
#define KASTOR_SRC_IO_FITS_HEADER_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/io/header_card.hpp>
#include <kastor/io/provenance.hpp>
#include <string>
#include <string_view>

namespace kastor::io::detail {

/// FITS files consist of blocks of this many bytes.
inline constexpr std::size_t k_fits_block = 2880;

/// Bytes that pad the last block of a unit of `size` bytes.
[[nodiscard]] constexpr std::size_t fits_fill(std::size_t size) {
  return (k_fits_block - size % k_fits_block) % k_fits_block;
}

/// A FITS header as text, card by card (FITS standard 4.0, section 4). Characters other than
/// printable ASCII become '?'. CFITSIO is not used for this: it interprets parts of the names of
/// files that it creates, and reads beyond a file in memory as further HDUs.
class HeaderText {
 public:
  /// Adds a card unchanged, cut or padded to 80 characters.
  void add_raw(std::string_view card);
  void add_logical(std::string_view keyword, bool value);
  void add_integer(std::string_view keyword, std::int64_t value, std::string_view comment = "");
  /// A value that is not finite is written as a string, since FITS has no such number.
  void add_real(std::string_view keyword, double value, std::string_view comment = "");
  /// A text longer than a card uses the CONTINUE convention (4.2.1.2), which a card LONGSTRN names.
  void add_string(std::string_view keyword, std::string_view value, std::string_view comment = "");
  void add(const HeaderCard& card);
  /// Uses as many cards as the text needs.
  void add_history(std::string_view text);
  void add_comment(std::string_view text);
  void add_provenance(const Provenance& provenance);

  /// The header with END, padded to whole blocks.
  [[nodiscard]] std::string finish() const;

 private:
  void add_value(std::string_view keyword, std::string_view value, std::string_view comment);
  void add_commentary(std::string_view keyword, std::string_view text);

  std::string m_text;
  bool m_continues = false;  // there is a CONTINUE card
};

}  // namespace kastor::io::detail

#endif
