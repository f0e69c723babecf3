// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <kastor/io/island_hash.hpp>
#include <kastor/io/sha256.hpp>

namespace kastor::io {
namespace {

/// Eight bytes at a time.
class RowHash {
 public:
  void add(std::int64_t value) { put(std::bit_cast<std::uint64_t>(value)); }
  void add(double value) {
    put(std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value));
  }
  [[nodiscard]] std::string hex_digest() { return m_hash.hex_digest(); }

 private:
  void put(std::uint64_t bits) {
    std::uint8_t bytes[8];
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    m_hash.update(bytes, sizeof bytes);
  }
  Sha256 m_hash;
};

}  // namespace

std::string island_hash(const Islands& islands) {
  RowHash hash;
  for (const Island& s : islands) {
    for (const std::int64_t n :
         {s.id, s.n_pix, s.x_min, s.x_max, s.y_min, s.y_max, s.x_peak, s.y_peak})
      hash.add(n);
    for (const double x :
         {s.flux_peak, s.flux_sum, s.raw_sum, s.snr_peak, s.x_cen, s.y_cen, s.var_xx, s.var_xy,
          s.var_yy, s.background, s.rms, s.rms_at_peak, s.background_at_peak})
      hash.add(x);
    hash.add(static_cast<std::int64_t>(s.flags));
  }
  return hash.hex_digest();
}

}  // namespace kastor::io
