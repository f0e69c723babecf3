// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <initializer_list>
#include <kastor/io/island_hash.hpp>

#include "io/catalogue/row_hash.hpp"

namespace kastor::io {
std::string island_hash(const Islands& islands) {
  detail::RowHash hash;
  for (const Island& s : islands) {
    for (const std::int64_t n : std::initializer_list<std::int64_t>{
             s.id, s.n_pix, s.x_min, s.x_max, s.y_min, s.y_max, s.x_peak, s.y_peak})
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
