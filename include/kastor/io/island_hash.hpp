// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_ISLAND_HASH_HPP
#define KASTOR_IO_ISLAND_HASH_HPP

#include <kastor/island.hpp>
#include <string>

namespace kastor::io {

/// SHA-256, lower-case hex, over the islands in order, each its members in the order of the
/// declaration of `Island` from `id` to `flags` as little-endian int64 or IEEE double; every NaN
/// counts as 0x7ff8000000000000. What is on the sky, which needs a maths library, is not in it.
[[nodiscard]] std::string island_hash(const Islands& islands);

}  // namespace kastor::io

#endif
