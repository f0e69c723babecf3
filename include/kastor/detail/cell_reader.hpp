// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_READER_HPP
#define KASTOR_DETAIL_CELL_READER_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/ceilings_of_cells.hpp>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/copy_ahead.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/prefetch.hpp>

namespace kastor::detail {

/// Some pixels that are looked at together.
template <class T, int N>
struct PixelChunk {
  static constexpr int size = N;
  T pixel[N];
};

/// Lets a device fetch the pixels of a cell before they are asked for.
template <class Crew, class T>
KOKKOS_FUNCTION void announce([[maybe_unused]] const Crew& crew,
                              [[maybe_unused]] const CellImage<T>& image,
                              [[maybe_unused]] const Cell& cell) {
#ifdef __CUDA_ARCH__
  if (image.rows.bands != nullptr) return;
  constexpr int line = 128 / sizeof(T);
  const std::int64_t step = crew.size() * image.rows.one.pitch;
  const T* row = image.rows.one.data + (cell.y + crew.rank()) * image.rows.one.pitch + cell.x;
  const auto width = static_cast<int>(cell.width);
  KASTOR_KEEP_LOOP
  for (int left = static_cast<int>(cell.height) - crew.rank(); left > 0; left -= crew.size()) {
    KASTOR_KEEP_LOOP
    for (int x = 0; x < width; x += line) prefetch(row + x);
    row += step;
  }
#endif
}

/// How the threads of a crew read a cell of fewer than 2^30 pixels: neighbours take neighbours of a
/// row, 16 bytes each where the rows allow it.
template <class T>
class CellReader {
 public:
  /// Pixels of a chunk: more of them fill a processor's store of instructions.
  static constexpr int most_ahead = 8;
  using Ring = ChunkRing<T, most_ahead / PixelPack<T>::size>;

  /// `ring`: Ring::pixels for each thread, at a multiple of 16 bytes, or null.
  KOKKOS_FUNCTION CellReader(const CellImage<T>& image, const Cell& cell, int rank, int size,
                             T* ring)
      : m_image(image), m_cell(cell), m_ring(ring), m_rank(rank), m_size(size) {
    constexpr std::int64_t pixel_bytes = sizeof(T);
    const std::int64_t pitch = image.rows.one.pitch;
    m_is_near = image.rows.bands == nullptr && cell.height * pitch < (std::int64_t{1} << 30);
    m_begin = m_is_near ? image.rows.one.data + cell.y * pitch + cell.x : nullptr;
    m_packed = m_is_near && reinterpret_cast<std::uintptr_t>(m_begin) % 16 == 0 &&
               pitch * pixel_bytes % 16 == 0 && cell.width * pixel_bytes % 16 == 0;
    m_per_row = static_cast<int>(cell.width) >> (m_packed ? log2_pack : 0);
    m_parts = (static_cast<int>(cell.height) * m_per_row - rank + size - 1) / size;
    m_y = quotient_of_few(rank, m_per_row);
    m_x = rank - m_y * m_per_row;
    m_step_y = quotient_of_few(size, m_per_row);
    m_step_x = size - m_step_y * m_per_row;
    m_pitch = m_is_near ? static_cast<int>(pitch) : 0;
    m_turns = m_step_x == 0;
    if (m_turns) m_step_x = m_per_row > parts_of_ceiling ? parts_of_ceiling : 1;
    m_has_ceilings =
        sizeof(T) == 4 && size == lanes && m_packed && shape_has_ceilings(cell.height, cell.width);
  }

  /// Whether all pixels are within 2^30 of each other.
  [[nodiscard]] KOKKOS_FUNCTION bool is_near() const { return m_is_near; }
  /// Where a pixel of such a cell is.
  [[nodiscard]] KOKKOS_FUNCTION const T* at_near(int y, int x) const {
    return m_begin + (y * m_pitch + x);
  }
  /// Lets the first pixels of the next clean read come while other things are done.
  KOKKOS_FUNCTION void ask_early() {
#ifdef KASTOR_COPIES_AHEAD
    if (!may_be_clean() || !m_packed || !m_turns || m_ring == nullptr) return;
    Ring ring(m_ring, m_rank, m_size);
    ask_first(ring);
    m_has_asked = true;
#endif
  }
  /// Nothing is on its way any more.
  KOKKOS_FUNCTION void settle() {
#ifdef KASTOR_COPIES_AHEAD
    Ring::wait();
    m_has_asked = false;
#endif
  }
  /// Whether the pixels may be read as they are.
  [[nodiscard]] KOKKOS_FUNCTION bool may_be_clean() const {
    return m_is_near && m_image.excluded.words == nullptr;
  }
  /// Calls visit(chunk) for this thread's pixels. Clean: as they are; otherwise NaN for those that
  /// are not good.
  template <bool Clean, class Visit>
  KOKKOS_FUNCTION void for_mine(const Visit& visit) {
    constexpr int ahead = Clean ? most_ahead : 4;
    if (m_packed && m_turns) {
      read_in_turns<ahead, Clean>(visit);
    } else if (m_packed) {
      read<pack, ahead / pack, true, Clean, false>(visit);
    } else {
      read<1, ahead, Clean, Clean, false>(visit);
    }
  }
  /// Whether `take_packs` may be called.
  [[nodiscard]] KOKKOS_FUNCTION bool has_packs() const { return m_packed; }
  /// All of this thread's pixels, at most N; NaN for those that are not good, and where there are
  /// no more. All are asked for before the first is looked at.
  template <int N>
  KOKKOS_FUNCTION void take_packs(T (&pixels)[N]) const {
    const Place begin{m_y, m_x, m_y * m_pitch + m_x * pack};
    Place at = begin;
    KASTOR_UNROLL
    for (int k = 0; k < N / pack; ++k) {
      const auto loaded =
          *reinterpret_cast<const PixelPack<T>*>(m_begin + (k < m_parts ? at.offset : 0));
      KASTOR_UNROLL
      for (int i = 0; i < pack; ++i) pixels[k * pack + i] = loaded.pixel[i];
      step_rows(at);
      step_across<pack>(at);
    }
    at = begin;
    KASTOR_UNROLL
    for (int k = 0; k < N / pack; ++k) {
      if (k < m_parts) {
        leave_good<pack>(at, pixels + k * pack);
      } else {
        KASTOR_UNROLL
        for (int i = 0; i < pack; ++i) pixels[k * pack + i] = Kokkos::Experimental::quiet_NaN_v<T>;
      }
      step_rows(at);
      step_across<pack>(at);
    }
  }
  /// Whether `for_mine_with_ceilings` may be called: by a warp, of floats.
  [[nodiscard]] KOKKOS_FUNCTION bool has_ceilings() const { return m_has_ceilings; }
  /// As for_mine<true>, all threads in step; each chunk is of four rows, from ceiling_columns to
  /// the next.
  template <class Visit>
  KOKKOS_FUNCTION void for_mine_with_ceilings(const Visit& visit) {
    read_in_turns<most_ahead, true>(visit);
  }

  /// The same in less code.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_of_mine(const Visit& visit) const {
    const auto look = [&](const auto& chunk) {
      KASTOR_UNROLL
      for (int i = 0; i < chunk.size; ++i) visit(chunk.pixel[i]);
    };
    if (m_packed) {
      read<pack, 1, true, false, false>(look);
    } else {
      read<1, 4, false, false, false>(look);
    }
  }

 private:
  static constexpr int pack = PixelPack<T>::size;
  static constexpr int log2_pack = pack == 4 ? 2 : 1;
  static_assert(pack == 1 << log2_pack);
  /// Parts of a row of floats that have one ceiling.
  static constexpr int parts_of_ceiling = 4;

  struct Place {
    int y, x;    ///< of a part, in its row of parts
    int offset;  ///< from the first pixel, if that is near
  };

  template <int Ahead, bool Clean, class Visit>
  KOKKOS_FUNCTION void read_in_turns(const Visit& visit) {
#ifdef KASTOR_COPIES_AHEAD
    if constexpr (Clean && Ahead == most_ahead) {
      if (m_ring != nullptr) return read_through_ring(visit);
    }
#endif
    read<pack, Ahead / pack, true, Clean, true>(visit);
  }
#ifdef KASTOR_COPIES_AHEAD
  static constexpr int packs = most_ahead / pack;
  __device__ void ask_first(Ring& ring) const {
    const int row = m_step_y * m_pitch;
    KASTOR_UNROLL
    for (int k = 0; k < packs; ++k)
      ring.ask(m_parts >= packs, k, m_begin + (m_y * m_pitch + m_x * pack + k * row));
    ring.end_chunk();
  }
  template <class Visit>
  __device__ void read_through_ring(const Visit& visit) {
    constexpr int ahead = packs;
    Ring ring(m_ring, m_rank, m_size);
    if (!m_has_asked) ask_first(ring);
    m_has_asked = false;
    const int row = m_step_y * m_pitch;
    const int step = ahead * row + m_step_x * pack, turn = m_per_row * pack;
    int offset = m_y * m_pitch + m_x * pack, x = m_x;
    const int chunks = m_parts / ahead;
    KASTOR_KEEP_LOOP
    for (int left = chunks - 1; left >= 0; --left) {
      offset += step;
      x += m_step_x;
      const bool wraps = x >= m_per_row;
      add_if(wraps, -m_per_row, x);
      add_if(wraps, -turn, offset);
      ring.step();
      KASTOR_UNROLL
      for (int k = 0; k < ahead; ++k) ring.ask(left > 0, k, m_begin + (offset + k * row));
      ring.end_chunk();
      PixelChunk<T, most_ahead> chunk;
      ring.take(chunk.pixel);
      visit(chunk);
    }
    if (chunks * ahead == m_parts) return;
    Place at{m_y + chunks * ahead * m_step_y, (m_x + chunks * m_step_x) % m_per_row, 0};
    at.offset = at.y * m_pitch + at.x * pack;
    KASTOR_KEEP_LOOP
    for (int i = chunks * ahead; i < m_parts; ++i) {
      PixelChunk<T, pack> chunk;
      load<pack, true, true>(at, chunk.pixel);
      step_rows(at);
      step_across<pack>(at);
      visit(chunk);
    }
  }
#endif

  /// `Turns`: the steps are whole rows, so that all could stay in one column.
  template <int Each, int Ahead, bool Near, bool Clean, bool Turns, class Visit>
  KOKKOS_FUNCTION void read(const Visit& visit) const {
    Place at{m_y, m_x, m_y * m_pitch + m_x * Each};
    int i = 0;
    KASTOR_KEEP_LOOP
    for (; i + Ahead <= m_parts; i += Ahead) {
      PixelChunk<T, Ahead * Each> chunk;
      KASTOR_UNROLL
      for (int k = 0; k < Ahead; ++k) {
        load<Each, Near, Clean>(at, chunk.pixel + k * Each);
        step_rows(at);
        if constexpr (!Turns) step_across<Each>(at);
      }
      if constexpr (Turns) step_across<Each>(at);
      visit(chunk);
    }
    if constexpr (Ahead > 1) {
      KASTOR_KEEP_LOOP
      for (; i < m_parts; ++i) {
        PixelChunk<T, Each> chunk;
        load<Each, Near, Clean>(at, chunk.pixel);
        step_rows(at);
        step_across<Each>(at);
        visit(chunk);
      }
    }
  }

  /// A part.
  template <int Each, bool Near, bool Clean>
  KOKKOS_FUNCTION void load(const Place& at, T* to) const {
    const T* from =
        Near ? m_begin + at.offset : m_image.rows.row(m_cell.y + at.y) + m_cell.x + at.x * Each;
    if constexpr (Each == 1) {
      to[0] = *from;
    } else {
      const auto loaded = *reinterpret_cast<const PixelPack<T>*>(from);
      KASTOR_UNROLL
      for (int k = 0; k < Each; ++k) to[k] = loaded.pixel[k];
    }
    if constexpr (!Clean) leave_good<Each>(at, to);
  }
  /// NaN for the pixels of a part that are not good.
  template <int Each>
  KOKKOS_FUNCTION void leave_good(const Place& at, T* pixels) const {
    const std::uint64_t excluded = excluded_from(m_cell.y + at.y, m_cell.x + at.x * Each, Each);
    KASTOR_UNROLL
    for (int k = 0; k < Each; ++k) {
      const bool good = Interval<T>{}.contains(pixels[k]) & ((excluded >> k & 1) == 0);
      pixels[k] = good ? pixels[k] : Kokkos::Experimental::quiet_NaN_v<T>;
    }
  }
  KOKKOS_FUNCTION void step_rows(Place& at) const {
    at.y += m_step_y;
    at.offset += m_step_y * m_pitch;
  }
  /// To the next column, or the first of the next row. Where the rows are stepped over anyway, not
  /// always the same column: a source is for many threads. Those that have a ceiling together stay
  /// together.
  template <int Each>
  KOKKOS_FUNCTION void step_across(Place& at) const {
    at.x += m_step_x;
    at.offset += m_step_x * Each;
    const bool wraps = at.x >= m_per_row;
    const int rows = m_turns ? 0 : 1;
    add_if(wraps, -m_per_row, at.x);
    add_if(wraps, rows, at.y);
    add_if(wraps, rows * m_pitch - m_per_row * Each, at.offset);
  }

  /// The bits of n <= 64 pixels of a row.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t excluded_from(std::int64_t y, std::int64_t x,
                                                            int n) const {
    if (m_image.excluded.words == nullptr) return 0;
    const std::uint64_t* word = m_image.excluded.words + y * m_image.excluded.per_row + x / 64;
    const auto first = static_cast<int>(x % 64);
    std::uint64_t bits = word[0] >> first;
    if (first + n > 64) bits |= word[1] << (64 - first);
    return bits;
  }

  const CellImage<T>& m_image;
  const Cell& m_cell;
  T* m_ring;
  int m_rank, m_size;
  const T* m_begin;
  bool m_is_near, m_packed;
  bool m_has_asked = false;  ///< for the first chunk of a clean read
  bool m_turns;              ///< the steps are whole rows
  bool m_has_ceilings;
  int m_pitch;
  int m_per_row;           ///< parts
  int m_parts;             ///< of this thread
  int m_y, m_x;            ///< of this thread's first part
  int m_step_y, m_step_x;  ///< from one part to the next
};

}  // namespace kastor::detail

#endif
