// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_PLAIN_PIXELS_HPP
#define KASTOR_SRC_IO_FITS_PLAIN_PIXELS_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/io/fits_image.hpp>

#include "io/fits/datasum.hpp"
#include "io/fits/stored_image.hpp"

/// Reading by several threads: those of the host execution space, which know where they may run;
/// threads of our own would all inherit the one core that the caller may be bound to. `threads` is
/// as in ReadOptions.
namespace kastor::io::detail {

/// Memory for the section's pixels: that of `former`, if it fits and nobody else holds it; else
/// `former` gives its own back first.
template <class T>
[[nodiscard]] HostPixels<T> host_pixels(const StoredImage& stored, FitsImage& former);

/// Reads, sums and converts the section; sums what is around it.
template <class T>
[[nodiscard]] Datasum read_plain(const StoredImage& stored, const PlainLayout& layout, int threads,
                                 T* pixels);

/// Reads bytes as they are. \throws kastor::Error if the file has not as many.
void read_bytes(const FitsFile& file, std::int64_t begin, std::int64_t count, int threads,
                std::byte* bytes);

/// Adds the bytes from `begin` to `end` of the data unit that starts at `start`; those that the
/// file lacks count as 0.
void sum_bytes(const FitsFile& file, std::int64_t start, std::int64_t begin, std::int64_t end,
               int threads, Datasum& sum);

/// The whole of `kastor::io::read_image()`, from the open file on.
void read_image(const StoredImage& stored, int threads, FitsImage& image);

}  // namespace kastor::io::detail

#endif
