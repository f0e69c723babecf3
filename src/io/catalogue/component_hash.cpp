// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <initializer_list>
#include <kastor/io/component_table.hpp>

#include "io/catalogue/row_hash.hpp"

namespace kastor::io {

std::string component_hash(const Components& components) {
  detail::RowHash hash;
  for (const Component& c : components) {
    hash.add(c.id);
    hash.add(c.island_id);
    const Gaussian& g = c.gaussian;
    for (const double value : {g.peak, g.x, g.y, g.u, g.w, g.t}) hash.add(value);
    for (const double value : c.covariance) hash.add(value);
    for (const double value : {c.rms, c.background, c.chi_squared, c.residual_rms}) hash.add(value);
    for (const std::int64_t number : std::initializer_list<std::int64_t>{
             c.n_pix, c.group_id, c.group_size, c.iterations, c.flags}) {
      hash.add(number);
    }
  }
  return hash.hex_digest();
}

}  // namespace kastor::io
