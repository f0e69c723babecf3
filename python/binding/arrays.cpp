// SPDX-License-Identifier: Apache-2.0
#include "binding/arrays.hpp"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "io/fits/byte_order.hpp"
#include "io/fits/pixel_decoder.hpp"

namespace kastor::python {
namespace {

/// The numbers of one row, in the byte order of FITS.
template <class Word>
void swap_row(const Word* row, std::size_t count, std::vector<std::byte>& bytes) {
  bytes.resize(count * sizeof(Word));
  for (std::size_t i = 0; i < count; ++i)
    io::detail::store_big_endian(row[i], bytes.data() + i * sizeof(Word));
}

template <class Raw, class Word, class T>
nb::object decode_rows(const GivenArray& words, bool is_big, const io::detail::Scaling& scaling) {
  const auto ny = words.shape(0);
  const auto nx = words.shape(1);
  const HostMap<T> pixels{std::make_shared_for_overwrite<T[]>(ny * nx), ny, nx};
  {
    const nb::gil_scoped_release released;
    std::vector<std::byte> swapped;
    for (std::size_t y = 0; y < ny; ++y) {
      const auto* row =
          static_cast<const Word*>(words.data()) + static_cast<std::ptrdiff_t>(y) * words.stride(0);
      const auto* bytes = reinterpret_cast<const std::byte*>(row);
      T* const decoded_row = pixels.values.get() + y * nx;
      if (!is_big) {
        swap_row(row, nx, swapped);
        bytes = swapped.data();
      }
      if constexpr (std::is_floating_point_v<Raw>) {
        for (std::size_t x = 0; x < nx; ++x) {
          const Word word = io::detail::load_big_endian<Word>(bytes + x * sizeof(Word));
          std::memcpy(decoded_row + x, &word, sizeof word);
        }
      } else {
        io::detail::decode<Raw, T>(bytes, nx, scaling, decoded_row);
      }
    }
  }
  return as_array(pixels);
}

}  // namespace

bool is_on_device(const GivenArray& array) {
  const int type = array.device_type();
  return type == nb::device::cuda::value || type == nb::device::cuda_managed::value;
}

bool is_double(const GivenArray& array) {
  if (array.ndim() != 2 || array.shape(0) == 0 || array.shape(1) == 0)
    throw nb::value_error("image: found an array without pixels; expected two axes, (y, x)");
  const auto type = array.dtype();
  const bool is_real = type == nb::dtype<float>() || type == nb::dtype<double>();
  const bool is_contiguous = array.shape(1) == 1 || array.stride(1) == 1;
  const bool goes_down =
      array.shape(0) == 1 || array.stride(0) >= static_cast<std::int64_t>(array.shape(1));
  if (!is_real || !is_contiguous || !goes_down) {
    throw nb::type_error(
        "image: found an array of another type or layout; expected float32 or float64 with "
        "contiguous rows: numpy.ascontiguousarray(image)");
  }
  return type == nb::dtype<double>();
}

io::FitsImage image_of(const GivenArray& array, const std::string& name) {
  io::FitsImage image;
  const auto describe = [&](const auto& rows, int bitpix, const char* type) {
    using T = std::remove_cvref_t<decltype(*rows.data)>;
    image.ny = rows.ny;
    image.nx = rows.nx;
    image.hdu.kind = "image";
    image.hdu.bitpix = bitpix;
    image.hdu.axes = {rows.nx, rows.ny};
    image.hdu.pixel_type = type;
    if (is_on_device(array)) return;
    // Views of pixels are not const; no one writes here.
    const auto width = static_cast<std::size_t>(rows.ny > 1 ? rows.pitch : rows.nx);
    const io::HostPixels<T> whole(const_cast<T*>(rows.data), static_cast<std::size_t>(rows.ny),
                                  width);
    image.pixels = io::HostPixels<T>(Kokkos::subview(
        whole, Kokkos::ALL, Kokkos::make_pair(std::size_t{0}, static_cast<std::size_t>(rows.nx))));
  };
  if (is_double(array)) {
    describe(rows_of<double>(array), -64, "float64");
  } else {
    describe(rows_of<float>(array), -32, "float32");
  }
  image.path = name;
  return image;
}

nb::object decoded(const GivenArray& words, const std::string& type, bool is_big) {
  using std::int16_t, std::int32_t, std::int64_t;
  using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
  if (words.shape(1) > 1 && words.stride(1) != 1)
    throw nb::type_error(
        "image: found rows that are not contiguous; expected numpy.ascontiguousarray(image)");
  const io::detail::Scaling as_is;
  if (type == "f4") return decode_rows<float, uint32_t, float>(words, is_big, as_is);
  if (type == "f8") return decode_rows<double, uint64_t, double>(words, is_big, as_is);
  if (type == "u1") return decode_rows<uint8_t, uint8_t, float>(words, true, as_is);
  if (type == "i2") return decode_rows<int16_t, uint16_t, float>(words, is_big, as_is);
  if (type == "u2") return decode_rows<uint16_t, uint16_t, float>(words, is_big, as_is);
  if (type == "i4") return decode_rows<int32_t, uint32_t, double>(words, is_big, as_is);
  if (type == "u4") return decode_rows<uint32_t, uint32_t, double>(words, is_big, as_is);
  if (type == "i8") return decode_rows<int64_t, uint64_t, double>(words, is_big, as_is);
  if (type == "u8") return decode_rows<uint64_t, uint64_t, double>(words, is_big, as_is);
  throw nb::type_error(fmt::format("image: found numbers of type {}; expected integers of 8 to 64 "
                                   "bits, float32 or float64",
                                   type)
                           .c_str());
}

BitMask<Kokkos::DefaultHostExecutionSpace> bits_of(const GivenArray& bytes, std::int64_t ny,
                                                   std::int64_t nx) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  if (static_cast<std::int64_t>(bytes.shape(0)) != ny ||
      static_cast<std::int64_t>(bytes.shape(1)) != nx) {
    throw nb::value_error(fmt::format("mask: found {} x {} pixels; expected {} x {}, as the image",
                                      bytes.shape(1), bytes.shape(0), nx, ny)
                              .c_str());
  }
  const auto mask = make_bit_mask(Host{}, ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(bytes.data()) + y * bytes.stride(0);
    for (std::int64_t first = 0; first < nx; first += 64) {
      std::uint64_t word = 0;
      const auto count = std::min<std::int64_t>(64, nx - first);
      for (std::int64_t i = 0; i < count; ++i)
        word |= std::uint64_t{row[(first + i) * bytes.stride(1)] != 0} << i;
      mask.words(y, first / 64) = word;
    }
  }
  return mask;
}

}  // namespace kastor::python
