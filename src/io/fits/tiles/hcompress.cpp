// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/hcompress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <kastor/error.hpp>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "io/fits/byte_order.hpp"
#include "io/fits/tiles/bit_reader.hpp"
#include "io/fits/tiles/h_transform.hpp"

namespace kastor::io::detail {
namespace {

[[noreturn]] void fail_hcompress(const std::string& what) {
  throw Error("the HCOMPRESS_1 data are damaged: " + what);
}
[[noreturn]] void fail_short_hcompress(const char* before) {
  throw Error(fmt::format("the HCOMPRESS_1 data end before {}", before));
}

// ---------------------------------------------------------------------------------- quadtrees

struct QuadtreeCode {
  std::uint8_t value;  // a bit for each quarter: 8, 4, 2, 1 in reading order
  std::uint8_t length;
};

/// The code that the next six bits begin with.
constexpr std::array<QuadtreeCode, 64> quadtree_codes = [] {
  struct Word {
    int bits, length, value;
  };
  constexpr Word words[] = {{0, 3, 1},   {1, 3, 2},   {2, 3, 4},   {3, 3, 8},
                            {8, 4, 3},   {9, 4, 5},   {10, 4, 10}, {11, 4, 12},
                            {12, 4, 15}, {26, 5, 6},  {27, 5, 7},  {28, 5, 9},
                            {29, 5, 11}, {30, 5, 13}, {62, 6, 0},  {63, 6, 14}};
  std::array<QuadtreeCode, 64> codes{};
  for (const Word& word : words) {
    const int rest = 6 - word.length;
    for (int i = 0; i < 1 << rest; ++i) {
      codes[static_cast<std::size_t>((word.bits << rest) + i)] = {
          static_cast<std::uint8_t>(word.value), static_cast<std::uint8_t>(word.length)};
    }
  }
  return codes;
}();

/// A part of the coefficients, whose bit planes are stored together.
struct Quadrant {
  std::size_t begin, rows, columns;  // `begin`: its first coefficient
  int planes;
};

/// Reads bit planes of coefficients: for each 2 x 2 of them, four bits, either as they are or as a
/// tree whose branches without ones end.
class QuadtreeReader {
 public:
  explicit QuadtreeReader(std::span<const std::uint8_t> data) : m_bits(data) {}

  /// Sets the absolute values of the coefficients of a quadrant, which are 0 before.
  /// \param stride  the length of a row of coefficients
  template <class Int>
  void read(const Quadrant& quadrant, std::size_t stride, std::vector<Int>& coefficients) {
    for (int plane = quadrant.planes - 1; plane >= 0; --plane) {
      const std::uint32_t format = nybble();
      if (format == 0) {
        read_plain(quadrant);
      } else if (format == 15) {
        read_tree(quadrant);
      } else {
        fail_hcompress(fmt::format("a bit plane has the format {}; expected 0 or 15", format));
      }
      insert(quadrant, stride, plane, coefficients);
    }
  }

  /// What is after the last bit plane.
  void read_end() {
    const std::uint32_t end = nybble();
    if (end != 0) fail_hcompress(fmt::format("{} is after the bit planes; expected 0", end));
    m_bits.align();
  }

  template <class Int>
  void read_signs(std::vector<Int>& coefficients) {
    using Unsigned = std::make_unsigned_t<Int>;
    for (Int& value : coefficients) {
      if (value == 0) continue;
      if (!m_bits.has(1)) fail_short_hcompress("the last sign");
      const Unsigned negative = m_bits.take(1);  // 1: negate, without a branch
      value =
          static_cast<Int>((static_cast<Unsigned>(value) ^ (Unsigned{0} - negative)) + negative);
    }
  }

 private:
  std::uint32_t nybble() {
    if (!m_bits.has(4)) fail_short_hcompress("the last bit plane");
    return m_bits.take(4);
  }

  std::uint8_t code() {
    if (!m_bits.has(6) && m_bits.held() == 0) fail_short_hcompress("the last bit plane");
    const QuadtreeCode found = quadtree_codes[m_bits.peek(6)];
    if (found.length > m_bits.held()) fail_short_hcompress("the last bit plane");
    m_bits.skip(found.length);
    return found.value;
  }

  void read_plain(const Quadrant& quadrant) {
    m_codes.resize((quadrant.rows + 1) / 2 * ((quadrant.columns + 1) / 2));
    std::size_t i = 0;
    for (; i + 8 <= m_codes.size() && m_bits.has(32); i += 8) {
      const std::uint32_t eight = m_bits.take(32);
      for (unsigned k = 0; k < 8; ++k)
        m_codes[i + k] = static_cast<std::uint8_t>(eight >> (28 - 4 * k) & 15);
    }
    for (; i < m_codes.size(); ++i) m_codes[i] = static_cast<std::uint8_t>(nybble());
  }

  void read_tree(const Quadrant& quadrant) {
    const std::size_t longest = std::max({quadrant.rows, quadrant.columns, std::size_t{1}});
    const int levels = static_cast<int>(std::bit_width(longest - 1));
    // A quadrant without rows or columns has a tree of one branch.
    const auto size = [](std::size_t n, int k) {
      return std::max<std::size_t>(1, (n + (std::size_t{1} << k) - 1) >> k);
    };
    m_codes.assign(1, code());
    for (int k = levels - 1; k >= 1; --k)
      grow_tree(size(quadrant.rows, k), size(quadrant.columns, k));
  }

  /// One level of a tree: a code for each bit of the level above, the last one first.
  void grow_tree(std::size_t rows, std::size_t columns) {
    const std::size_t parents = (columns + 1) / 2;
    m_grown.assign(rows * columns, 0);
    for (std::size_t i = rows; i-- > 0;) {
      const std::uint8_t* above = m_codes.data() + i / 2 * parents;
      std::uint8_t* row = m_grown.data() + i * columns;
      const unsigned left = i % 2 == 0 ? 8 : 2;
      for (std::size_t j = parents; j-- > 0;) {
        if (above[j] == 0) continue;
        if ((above[j] & (left >> 1)) != 0 && 2 * j + 1 < columns) row[2 * j + 1] = code();
        if ((above[j] & left) != 0) row[2 * j] = code();
      }
    }
    m_codes.swap(m_grown);
  }

  /// Puts the bits of `m_codes` into the coefficients.
  template <class Int>
  void insert(const Quadrant& quadrant, std::size_t stride, int plane,
              std::vector<Int>& coefficients) const {
    const std::size_t parents = (quadrant.columns + 1) / 2;
    for (std::size_t i = 0; i < quadrant.rows; ++i) {
      const std::uint8_t* codes = m_codes.data() + i / 2 * parents;
      Int* row = coefficients.data() + quadrant.begin + i * stride;
      const int right = i % 2 == 0 ? 2 : 0;
      std::size_t j = 0;
      for (; 2 * (j + 8) <= quadrant.columns; j += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, codes + j, sizeof eight);
        if (eight != 0) insert_codes<8>(codes + j, right, plane, row + 2 * j);
      }
      for (; 2 * (j + 1) <= quadrant.columns; ++j)
        insert_codes<1>(codes + j, right, plane, row + 2 * j);
      if (j < parents) row[2 * j] |= code_bit<Int>(codes[j], right + 1, plane);
    }
  }

  /// Without branches: on noise, they would be guessed wrongly.
  template <std::size_t Count, class Int>
  static void insert_codes(const std::uint8_t* codes, int right, int plane, Int* row) {
    for (std::size_t k = 0; k < Count; ++k) {
      row[2 * k] |= code_bit<Int>(codes[k], right + 1, plane);
      row[2 * k + 1] |= code_bit<Int>(codes[k], right, plane);
    }
  }
  template <class Int>
  static Int code_bit(std::uint8_t code, int bit, int plane) {
    return static_cast<Int>(static_cast<std::make_unsigned_t<Int>>(code >> bit & 1) << plane);
  }

  BitReader m_bits;
  std::vector<std::uint8_t> m_codes;
  std::vector<std::uint8_t> m_grown;
};

// ------------------------------------------------------------------------------------ the stream

struct HcompressHeader {
  std::size_t width, height;  // width: of the axis that varies fastest
  std::int32_t scale;
  std::int64_t sum;                    // of the pixels: the first coefficient
  std::array<std::uint8_t, 3> planes;  // of the means; of slopes; of curvatures
};
constexpr std::size_t hcompress_header_bytes = 25;

HcompressHeader read_hcompress_header(std::span<const std::uint8_t> data, std::int64_t nx,
                                      std::int64_t ny, std::size_t size) {
  if (data.size() < hcompress_header_bytes) {
    throw Error(fmt::format("the HCOMPRESS_1 data have {} bytes; expected a header of {}",
                            data.size(), hcompress_header_bytes));
  }
  if (data[0] != 0xdd || data[1] != 0x99)
    fail_hcompress(fmt::format("they begin with {:02X} {:02X}; expected DD 99", data[0], data[1]));
  const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
  const auto height = load_big_endian<std::int32_t>(bytes + 2);
  const auto width = load_big_endian<std::int32_t>(bytes + 6);
  constexpr std::int32_t longest = 1 << 29;  // as long, 32 bits hold what rounds the first sum
  const bool usable =
      width >= 1 && width <= longest && height >= 1 && height <= longest &&
      static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) == size;
  const bool line = width == 1 || height == 1 || nx == 1 || ny == 1;
  if (!usable || (!line && (width != nx || height != ny))) {
    throw Error(fmt::format("the HCOMPRESS_1 data are of {} x {} values; expected {} x {}", width,
                            height, nx, ny));
  }
  HcompressHeader header{static_cast<std::size_t>(width),
                         static_cast<std::size_t>(height),
                         load_big_endian<std::int32_t>(bytes + 10),
                         load_big_endian<std::int64_t>(bytes + 14),
                         {data[22], data[23], data[24]}};
  if (header.scale < 0)
    fail_hcompress(fmt::format("their scale is {}; expected 0 or more", header.scale));
  return header;
}

template <class Int>
std::vector<Int> decode_hcompress_values(std::span<const std::uint8_t> data,
                                         const HcompressHeader& header, bool smooth) {
  using Unsigned = std::make_unsigned_t<Int>;
  constexpr int most = std::numeric_limits<Unsigned>::digits;
  for (const int planes : header.planes) {
    if (planes > most)
      fail_hcompress(fmt::format("they have {} bit planes; expected 0 to {}", planes, most));
  }
  const std::size_t width = header.width;
  const std::size_t height = header.height;
  const std::size_t right = (width + 1) / 2;
  const std::size_t lower = (height + 1) / 2;
  std::vector<Int> values(width * height);
  QuadtreeReader reader(data.subspan(hcompress_header_bytes));
  for (const Quadrant& quadrant :
       {Quadrant{0, lower, right, header.planes[0]},
        Quadrant{right, lower, width / 2, header.planes[1]},
        Quadrant{lower * width, height / 2, right, header.planes[1]},
        Quadrant{lower * width + right, height / 2, width / 2, header.planes[2]}}) {
    reader.read(quadrant, width, values);
  }
  reader.read_end();
  reader.read_signs(values);
  values[0] = static_cast<Int>(header.sum);
  if (header.scale > 1) {
    const auto scale = static_cast<Unsigned>(header.scale);
    for (Int& value : values) value = static_cast<Int>(static_cast<Unsigned>(value) * scale);
  }
  undo_h_transform(values, width, height, smooth, header.scale);
  return values;
}

}  // namespace

void decode_hcompress(std::span<const std::uint8_t> data, bool smooth, std::int64_t nx,
                      std::int64_t ny, HcompressArithmetic arithmetic,
                      std::span<std::int32_t> out) {
  const HcompressHeader header = read_hcompress_header(data, nx, ny, out.size());
  if (arithmetic == HcompressArithmetic::bits32) {
    const auto values = decode_hcompress_values<std::int32_t>(data, header, smooth);
    std::copy(values.begin(), values.end(), out.begin());
    return;
  }
  const auto values = decode_hcompress_values<std::int64_t>(data, header, smooth);
  std::transform(values.begin(), values.end(), out.begin(),
                 [](std::int64_t value) { return static_cast<std::int32_t>(value); });
}

}  // namespace kastor::io::detail
