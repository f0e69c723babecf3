// SPDX-License-Identifier: Apache-2.0
#include "io/fits/plain_pixels.hpp"

#include <sys/mman.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <exception>
#include <kastor/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/fits/host_pieces.hpp"
#include "io/fits/piece.hpp"

namespace kastor::io::detail {
namespace {

using Bytes = std::vector<std::byte>;

// Bytes read, summed and converted at a time: they fit into the L2 cache, and are a multiple of
// every pixel size.
constexpr std::int64_t k_piece = std::int64_t{1} << 19;

/// Asks for pages of 2 MiB where the system has them. Memory that is touched for the first time
/// costs an interrupt a page, for small pages as much as reading the file.
void prefer_large_pages(void* memory, std::int64_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto end =
      (reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(bytes)) / page * page;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the first whole page
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

void read_piece(const FitsFile& file, std::int64_t begin, std::size_t length, std::byte* bytes) {
  if (file.read_bytes(begin, bytes, length) != length)
    file.fail("data truncated while they were read; expected a file that does not change");
}

template <class Raw, class T>
Datasum read_as(const FitsFile& file, const PlainLayout& layout, int threads, T* pixels) {
  constexpr std::int64_t size = sizeof(Raw);
  constexpr std::int64_t step = k_piece / size;
  const std::int64_t count = (layout.pixels + step - 1) / step;
  return for_each_piece<Bytes>(
      "kastor::read_image::pieces", threads_for(threads, count), count,
      [&](std::int64_t piece, std::vector<std::byte>& scratch, Datasum& sum) {
        const std::int64_t first = piece * step;
        const auto n = static_cast<std::size_t>(std::min(step, layout.pixels - first));
        std::byte* bytes = nullptr;
        if constexpr (std::is_same_v<Raw, T>) {
          bytes = reinterpret_cast<std::byte*>(pixels + first);  // read into the final place
        } else {
          scratch.resize(std::max(scratch.size(), n * sizeof(Raw)));
          bytes = scratch.data();
        }
        const std::int64_t begin = layout.begin + first * size;
        read_piece(file, begin, n * sizeof(Raw), bytes);
        sum.add(begin - layout.unit.start,
                decode_piece<Raw>(bytes, n, layout.scaling, pixels + first));
      });
}

}  // namespace

template <class T>
HostPixels<T> host_pixels(const StoredImage& stored, FitsImage& former) {
  const std::int64_t bytes = require_room<T>(stored);
  const auto ny = static_cast<std::size_t>(stored.section.ny);
  const auto nx = static_cast<std::size_t>(stored.section.nx);
  if (const auto* pixels = std::get_if<HostPixels<T>>(&former.pixels);
      pixels != nullptr && pixels->use_count() == 1 && pixels->extent(0) == ny &&
      pixels->extent(1) == nx && pixels->span_is_contiguous()) {
    return *pixels;
  }
  former.pixels = {};
  try {
    // Not initialised: reading writes every pixel, and thus touches it first.
    HostPixels<T> pixels(
        Kokkos::view_alloc("kastor::read_image::pixels", Kokkos::WithoutInitializing), ny, nx);
    prefer_large_pages(pixels.data(), bytes);
    return pixels;
  } catch (const std::exception&) {
    fail_without_memory(stored, bytes);
  }
}

template <class T>
Datasum read_section(const StoredImage& stored, const PlainLayout& layout, int threads, T* pixels) {
  const FitsFile& file = stored.file;
  const int bitpix = stored.about.hdu.bitpix;
  Datasum sum;
  const auto read = [&]<class Raw>(Raw) {
    sum.add(read_as<Raw, T>(file, layout, threads, pixels));
  };
  if constexpr (std::is_same_v<T, float>) {
    if (bitpix == 8) read(std::uint8_t{});
    if (bitpix == 16) read(std::int16_t{});
    if (bitpix == -32) read(float{});
  } else {
    if (bitpix == 32) read(std::int32_t{});
    if (bitpix == 64) read(std::int64_t{});
    if (bitpix == -64) read(double{});
  }
  return sum;
}

template <class T>
Datasum read_plain(const StoredImage& stored, const PlainLayout& layout, int threads, T* pixels) {
  const FitsFile& file = stored.file;
  Datasum sum = read_section(stored, layout, threads, pixels);
  sum_bytes(file, layout.unit.start, layout.unit.start, layout.begin, threads, sum);
  sum_bytes(file, layout.unit.start, layout.end(), layout.unit.end, threads, sum);
  return sum;
}

void read_bytes(const FitsFile& file, std::int64_t begin, std::int64_t count, int threads,
                std::byte* bytes) {
  const std::int64_t pieces = (count + k_piece - 1) / k_piece;
  (void)for_each_piece<Bytes>("kastor::read_image::bytes", threads_for(threads, pieces), pieces,
                              [&](std::int64_t piece, std::vector<std::byte>&, Datasum&) {
                                const std::int64_t at = piece * k_piece;
                                read_piece(file, begin + at,
                                           static_cast<std::size_t>(std::min(k_piece, count - at)),
                                           bytes + at);
                              });
}

void sum_bytes(const FitsFile& file, std::int64_t start, std::int64_t begin, std::int64_t end,
               int threads, Datasum& sum) {
  end = std::min(end, file.size());
  if (begin >= end) return;
  const std::int64_t pieces = (end - begin + k_piece - 1) / k_piece;
  sum.add(for_each_piece<Bytes>(
      "kastor::read_image::sum", threads_for(threads, pieces), pieces,
      [&](std::int64_t piece, std::vector<std::byte>& scratch, Datasum& part) {
        const std::int64_t at = begin + piece * k_piece;
        const auto length = static_cast<std::size_t>(std::min(k_piece, end - at));
        scratch.resize(std::max(scratch.size(), length));
        const auto got = file.read_bytes(at, scratch.data(), length);
        part.add(at - start, sum_piece(scratch.data(), got));
      }));
}

template HostPixels<float> host_pixels<float>(const StoredImage&, FitsImage&);
template HostPixels<double> host_pixels<double>(const StoredImage&, FitsImage&);
template Datasum read_section<float>(const StoredImage&, const PlainLayout&, int, float*);
template Datasum read_section<double>(const StoredImage&, const PlainLayout&, int, double*);
template Datasum read_plain<float>(const StoredImage&, const PlainLayout&, int, float*);
template Datasum read_plain<double>(const StoredImage&, const PlainLayout&, int, double*);

}  // namespace kastor::io::detail
