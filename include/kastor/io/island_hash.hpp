// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_ISLAND_HASH_HPP
#define KASTOR_IO_ISLAND_HASH_HPP

#include <kastor/island.hpp>
#include <string>

namespace kastor::io {

/// SHA-256, lower-case hex, over the islands in order. Each island is its members from `id` to
/// `flags`, in the order of their declaration in `Island`, as little-endian int64 or IEEE double;
/// every NaN counts as 0x7ff8000000000000. Sky positions are not included: they depend on a maths
/// library.
[[nodiscard]] std::string island_hash(const Islands& islands);

}  // namespace kastor::io

#endif
