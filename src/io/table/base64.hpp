// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_BASE64_HPP
#define KASTOR_SRC_IO_TABLE_BASE64_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace kastor::io::detail {

/// Decodes base64 (RFC 4648, 4) that arrives in pieces; blanks and line ends are skipped.
class Base64Decoder {
 public:
  /// Appends to `bytes`. False if a character is not one of base64.
  bool decode(std::string_view text, std::string& bytes) {
    for (const char c : text) {
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
      if (c == '=') {
        m_padded = true;
        continue;
      }
      const int value = value_of(c);
      if (value < 0 || m_padded) return false;
      m_buffer = (m_buffer << 6 | static_cast<std::uint32_t>(value)) & 0xffffff;
      m_bits += 6;
      if (m_bits < 8) continue;
      m_bits -= 8;
      bytes += static_cast<char>(static_cast<unsigned char>(m_buffer >> m_bits));
    }
    return true;
  }

 private:
  static int value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
  }

  std::uint32_t m_buffer = 0;
  int m_bits = 0;
  bool m_padded = false;
};

}  // namespace kastor::io::detail

#endif
