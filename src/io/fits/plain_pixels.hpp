// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_PLAIN_PIXELS_HPP
#define KASTOR_SRC_IO_FITS_PLAIN_PIXELS_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/io/fits_image.hpp>

#include "io/fits/datasum.hpp"
#include "io/fits/stored_image.hpp"

/// Reading by several threads of the host execution space, because these are bound to cores as they
/// should be. Threads created here would all inherit the single core to which the caller may be
/// bound. `threads` is that of ReadOptions.
namespace kastor::io::detail {

/// Memory for the section's pixels. Uses that of `former` if it fits and nothing else holds it;
/// otherwise frees it first.
template <class T>
[[nodiscard]] HostPixels<T> host_pixels(const StoredImage& stored, FitsImage& former);

/// Reads, sums and converts the section, and sums the bytes around it.
template <class T>
[[nodiscard]] Datasum read_plain(const StoredImage& stored, const PlainLayout& layout, int threads,
                                 T* pixels);

/// The same without the bytes around it.
template <class T>
[[nodiscard]] Datasum read_section(const StoredImage& stored, const PlainLayout& layout,
                                   int threads, T* pixels);

/// Reads bytes without conversion. \throws kastor::Error if the file has fewer.
void read_bytes(const FitsFile& file, std::int64_t begin, std::int64_t count, int threads,
                std::byte* bytes);

/// Adds the bytes from `begin` to `end` of the data unit that begins at `start`; bytes missing in
/// the file count as 0.
void sum_bytes(const FitsFile& file, std::int64_t start, std::int64_t begin, std::int64_t end,
               int threads, Datasum& sum);

/// All of `kastor::io::read_image()` after opening the file.
void read_image(const StoredImage& stored, int threads, FitsImage& image);

}  // namespace kastor::io::detail

#endif
