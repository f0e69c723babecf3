// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kastor/convolution_kernel.hpp>
#include <kastor/detail/convolve_host.hpp>
#include <limits>

namespace kastor::detail {
namespace {

/// Rows of a tile that one pass over the taps produces: each pixel loaded serves that many sums.
constexpr std::int64_t rows_at_once = 4;

/// sum[r][x] = Sum over t, j of taps[t * taps_x + j] * rows[r + t][x + j], for r in [0, n_rows).
template <class T>
struct Sums {
  const T* const* rows;
  const T* taps;
  std::int64_t taps_y, taps_x;
  T* const* sums;
  std::int64_t width;
  bool onto;  ///< the products are added to what is there
};

template <class T, int Bytes>
struct Vector {
  using type [[gnu::vector_size(Bytes)]] = T;
  using unaligned [[gnu::vector_size(Bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};

/// `Rows` rows of `Blocks` vectors, kept in registers over all taps. `Columns` is the number of
/// taps along x where the compiler shall know it, 0 where not.
template <class T, int Bytes, int Rows, int Blocks, int Columns>
[[gnu::always_inline]] inline void sum_block(const Sums<T>& s, std::int64_t x) {
  const std::int64_t taps_x = Columns > 0 ? Columns : s.taps_x;
  using V = typename Vector<T, Bytes>::type;
  using U = typename Vector<T, Bytes>::unaligned;
  constexpr std::int64_t lanes = Bytes / static_cast<std::int64_t>(sizeof(T));
  V sum[Rows][Blocks];
  for (int r = 0; r < Rows; ++r)
    for (int b = 0; b < Blocks; ++b)
      sum[r][b] = s.onto ? V(*reinterpret_cast<const U*>(s.sums[r] + x + b * lanes)) : V{};
  for (std::int64_t t = 0; t < s.taps_y + Rows - 1; ++t) {
    const T* pixels = s.rows[t] + x;
    if (t >= Rows - 1 && t < s.taps_y) {
      const T* taps = s.taps + t * taps_x;
      for (std::int64_t j = 0; j < taps_x; ++j) {
        V pixel[Blocks];
        for (int b = 0; b < Blocks; ++b)
          pixel[b] = V(*reinterpret_cast<const U*>(pixels + j + b * lanes));
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
          const T tap = taps[j - r * taps_x];
          for (int b = 0; b < Blocks; ++b) sum[r][b] += tap * pixel[b];
        }
      }
    } else {  // only some of the rows have a tap here
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        if (t < r || t - r >= s.taps_y) continue;
        const T* taps = s.taps + (t - r) * taps_x;
        for (std::int64_t j = 0; j < taps_x; ++j)
          for (int b = 0; b < Blocks; ++b)
            sum[r][b] += taps[j] * V(*reinterpret_cast<const U*>(pixels + j + b * lanes));
      }
    }
  }
  // The one NaN that every backend gives: its sign depends on the instruction.
  const V nan = V{} + std::numeric_limits<T>::quiet_NaN();
  for (int r = 0; r < Rows; ++r) {
    for (int b = 0; b < Blocks; ++b) {
      const V one_nan = sum[r][b] == sum[r][b] ? sum[r][b] : nan;
      *reinterpret_cast<U*>(s.sums[r] + x + b * lanes) = U(one_nan);
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void sum_pixel(const Sums<T>& s, int r, std::int64_t x) {
  T sum = s.onto ? s.sums[r][x] : T{0};
  for (std::int64_t t = 0; t < s.taps_y; ++t)
    for (std::int64_t j = 0; j < s.taps_x; ++j)
      sum += s.taps[t * s.taps_x + j] * s.rows[r + t][x + j];
  s.sums[r][x] = sum == sum ? sum : std::numeric_limits<T>::quiet_NaN();
}

template <class T, int Bytes, int Rows, int Blocks, int Columns = 0>
[[gnu::always_inline]] inline void sum_rows(const Sums<T>& s) {
  constexpr std::int64_t lanes = Bytes / static_cast<std::int64_t>(sizeof(T));
  std::int64_t x = 0;
  for (; x + Blocks * lanes <= s.width; x += Blocks * lanes)
    sum_block<T, Bytes, Rows, Blocks, Columns>(s, x);
  for (; x + lanes <= s.width; x += lanes) sum_block<T, Bytes, Rows, 1, Columns>(s, x);
  for (; x < s.width; ++x)
    for (int r = 0; r < Rows; ++r) sum_pixel(s, r, x);
}

template <class T, int Bytes>
[[gnu::always_inline]] inline void sum_any(const Sums<T>& s, std::int64_t n_rows) {
  if (n_rows == rows_at_once && s.taps_x == 1) {
    sum_rows<T, Bytes, rows_at_once, 2, 1>(s);
  } else if (n_rows == rows_at_once) {
    sum_rows<T, Bytes, rows_at_once, 2>(s);
  } else {
    Sums<T> one = s;
    for (std::int64_t r = 0; r < n_rows; ++r, ++one.rows, ++one.sums) sum_rows<T, Bytes, 1, 8>(one);
  }
}

template <class T>
void sum_baseline(const Sums<T>& s, std::int64_t n_rows) {
  sum_any<T, 16>(s, n_rows);
}

#if KASTOR_HAS_X86_LEVELS
template <class T>
[[gnu::target("avx2")]] void sum_avx2(const Sums<T>& s, std::int64_t n_rows) {
  sum_any<T, 32>(s, n_rows);
}

template <class T>
[[gnu::target("avx512f")]] void sum_avx512(const Sums<T>& s, std::int64_t n_rows) {
  sum_any<T, 64>(s, n_rows);
}
#endif

template <class T>
void sum_products(HostLevel level, const Sums<T>& s, std::int64_t n_rows) {
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512) return sum_avx512(s, n_rows);
  if (level == HostLevel::avx2) return sum_avx2(s, n_rows);
#endif
  sum_baseline(s, n_rows);
}

std::int64_t rounded_up(std::int64_t n) { return (n + 15) / 16 * 16; }

/// Elements of one row of the ring: in the direct form rows keep the margin that the taps reach.
std::int64_t ring_width(std::int64_t taps_x, std::int64_t parts) {
  return rounded_up(host_tile_width + (parts == 0 ? taps_x - 1 : 0)) + 16;
}

/// The rows of the image that the taps of the current rows of the result meet, cut to the tile and
/// padded with zeros; for separable parts already summed along x.
template <class T>
class RowRing {
 public:
  RowRing(const HostConvolution<T>& c, const HostTile& tile, T* scratch)
      : m_c(c),
        m_width(tile.x_end - tile.x_begin),
        m_first_x(tile.x_begin + c.first_x),
        m_stride(ring_width(c.taps_x, c.parts)),
        m_depth(c.taps_y + rows_at_once - 1),
        m_padded(scratch),
        m_ring(scratch + rounded_up(host_tile_width + c.taps_x)) {}

  void push(std::int64_t y) {
    const bool inside = y >= 0 && y < m_c.ny;
    for (std::int64_t part = 0; part < std::max<std::int64_t>(1, m_c.parts); ++part) {
      T* row = at(y, part);
      if (!inside) {
        std::fill_n(row, m_width + (m_c.parts == 0 ? m_c.taps_x - 1 : 0), T{0});
      } else if (m_c.parts == 0) {
        copy_padded(y, row);
      } else {
        const T* pixels = padded(y);
        const Sums<T> along_x{
            &pixels, m_c.taps + part * (m_c.taps_x + m_c.taps_y), 1, m_c.taps_x, &row, m_width,
            false};
        sum_products(m_c.level, along_x, 1);
      }
    }
  }

  [[nodiscard]] T* at(std::int64_t y, std::int64_t part) const {
    const std::int64_t slot = ((y % m_depth) + m_depth) % m_depth;
    return m_ring + (part * m_depth + slot) * m_stride;
  }

 private:
  /// The pixels of row y that the tile's taps meet, zeros beyond the image.
  const T* padded(std::int64_t y) {
    if (m_first_x >= 0 && m_first_x + m_width + m_c.taps_x - 1 <= m_c.nx)
      return m_c.image + y * m_c.pitch + m_first_x;
    copy_padded(y, m_padded);
    return m_padded;
  }

  void copy_padded(std::int64_t y, T* target) {
    const std::int64_t n = m_width + m_c.taps_x - 1;
    const std::int64_t begin = std::clamp<std::int64_t>(-m_first_x, 0, n);
    const std::int64_t end = std::clamp<std::int64_t>(m_c.nx - m_first_x, begin, n);
    std::fill(target, target + begin, T{0});
    std::copy(m_c.image + y * m_c.pitch + m_first_x + begin,
              m_c.image + y * m_c.pitch + m_first_x + end, target + begin);
    std::fill(target + end, target + n, T{0});
  }

  const HostConvolution<T>& m_c;
  std::int64_t m_width;
  std::int64_t m_first_x;
  std::int64_t m_stride;
  std::int64_t m_depth;
  T* m_padded;
  T* m_ring;
};

}  // namespace

std::size_t host_tile_scratch(std::int64_t taps_y, std::int64_t taps_x, std::int64_t parts) {
  return static_cast<std::size_t>(rounded_up(host_tile_width + taps_x) +
                                  std::max<std::int64_t>(1, parts) * (taps_y + rows_at_once - 1) *
                                      ring_width(taps_x, parts));
}

template <class T>
void convolve_tile(const HostConvolution<T>& c, const HostTile& tile, T* scratch) {
  RowRing<T> ring(c, tile, scratch);
  const std::int64_t parts = std::max<std::int64_t>(1, c.parts);
  const T* rows[most_kernel_pixels + rows_at_once - 1];
  T* sums[rows_at_once];

  std::int64_t next = tile.y_begin + c.first_y;
  for (std::int64_t y = tile.y_begin; y < tile.y_end; y += rows_at_once) {
    const std::int64_t n = std::min(rows_at_once, tile.y_end - y);
    const std::int64_t first = y + c.first_y;
    for (; next < first + c.taps_y + n - 1; ++next) ring.push(next);
    for (std::int64_t r = 0; r < n; ++r)
      sums[r] = c.result + (y + r) * c.result_pitch + tile.x_begin;
    for (std::int64_t part = 0; part < parts; ++part) {
      for (std::int64_t t = 0; t < c.taps_y + n - 1; ++t) rows[t] = ring.at(first + t, part);
      const bool direct = c.parts == 0;
      const T* taps = direct ? c.taps : c.taps + part * (c.taps_x + c.taps_y) + c.taps_x;
      sum_products(c.level,
                   Sums<T>{rows, taps, c.taps_y, direct ? c.taps_x : 1, sums,
                           tile.x_end - tile.x_begin, part > 0},
                   n);
    }
  }
}

namespace {

template <class T>
void convolve_signal_near_an_end(const HostSignalConvolution<T>& c, std::int64_t begin,
                                 std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) {
    T sum = 0;
    for (std::int64_t j = std::min(c.taps_length - 1, x); j >= 0 && x - j < c.length; --j)
      sum += c.taps[j] * c.signal[x - j];
    c.result[x] = sum == sum ? sum : std::numeric_limits<T>::quiet_NaN();
  }
}

}  // namespace

template <class T>
void convolve_signal_piece(const HostSignalConvolution<T>& c, std::int64_t begin,
                           std::int64_t end) {
  const std::int64_t inner_begin = std::clamp(c.taps_length - 1, begin, end);
  const std::int64_t inner_end = std::clamp(c.length, inner_begin, end);
  convolve_signal_near_an_end(c, begin, inner_begin);
  // A few hundred taps at a time: they are mirrored, and the sums stay in the cache meanwhile.
  constexpr std::int64_t taps_at_once = 256;
  T mirrored[taps_at_once];
  const T* pixels = nullptr;
  T* sums = c.result + inner_begin;
  for (std::int64_t last = c.taps_length; last > 0; last -= taps_at_once) {
    const std::int64_t n = std::min(taps_at_once, last);
    for (std::int64_t j = 0; j < n; ++j) mirrored[j] = c.taps[last - 1 - j];
    pixels = c.signal + inner_begin - (last - 1);
    sum_products(
        c.level,
        Sums<T>{&pixels, mirrored, 1, n, &sums, inner_end - inner_begin, last < c.taps_length}, 1);
  }
  convolve_signal_near_an_end(c, inner_end, end);
}

template void convolve_signal_piece<float>(const HostSignalConvolution<float>&, std::int64_t,
                                           std::int64_t);
template void convolve_signal_piece<double>(const HostSignalConvolution<double>&, std::int64_t,
                                            std::int64_t);
template void convolve_tile<float>(const HostConvolution<float>&, const HostTile&, float*);
template void convolve_tile<double>(const HostConvolution<double>&, const HostTile&, double*);

}  // namespace kastor::detail
