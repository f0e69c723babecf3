// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_PIECE_HPP
#define KASTOR_SRC_IO_FITS_PIECE_HPP

#include <cstddef>
#include <cstdint>

#include "io/fits/pixel_decoder.hpp"

/// Work on the bytes of a data unit while they are in the cache of a core. A piece is shorter than
/// 2^32 bytes.
namespace kastor::io::detail {

/// Decodes `count` stored pixels of type Raw. Returns the sum of the bytes as big-endian 32-bit
/// words, the last one padded with zeros. If Raw is T, `bytes` may be `out`; otherwise they must
/// not overlap.
template <class Raw, class T>
[[nodiscard]] std::uint64_t decode_piece(const std::byte* bytes, std::size_t count,
                                         const Scaling& scaling, T* out);

/// The sum only.
[[nodiscard]] std::uint64_t sum_piece(const std::byte* bytes, std::size_t length);

}  // namespace kastor::io::detail

#endif
