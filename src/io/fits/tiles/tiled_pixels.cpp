// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/tiled_pixels.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstring>
#include <kastor/error.hpp>
#include <limits>
#include <new>
#include <string_view>

#include "io/fits/hdu_info.hpp"
#include "io/fits/host_pieces.hpp"
#include "io/fits/tiles/tile_decoder.hpp"

namespace kastor::io::detail {
namespace {

// Only files made to exhaust memory have a higher tile compression ratio.
constexpr std::int64_t k_max_tile_gain = 1'000'000;

void check_gain(const StoredImage& stored, const TileTable& table) {
  const FitsFile& file = stored.file;
  const HduInfo& hdu = stored.about.hdu;
  const auto unit = file.data_unit();
  const auto unpacked = bytes_of(hdu.axes, bytes_per_pixel(hdu.bitpix));
  // Room for what a pixel takes in memory, up to 24 bytes instead of 1.
  if (!unpacked || *unpacked > std::numeric_limits<std::int64_t>::max() / 32 ||
      *unpacked / k_max_tile_gain > unit.end - unit.start) {
    file.fail(
        fmt::format("{} bytes of compressed data cannot be an image of {}; expected a valid header",
                    table.bytes(), axes_text(hdu)));
  }
}

/// Memory that reading takes [byte].
struct TileMemory {
  std::int64_t section = 0;
  std::int64_t tile = 0;  // of one thread

  /// Threads that fit into the limit, at least 1.
  [[nodiscard]] int threads_within(std::int64_t limit, int wanted) const {
    const std::int64_t fitting = (limit - section) / std::max<std::int64_t>(1, tile);
    return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, wanted));
  }
};

/// \param rows  of pixels that are held at a time
TileMemory memory_of(const StoredImage& stored, const TileCoding& coding, std::int64_t rows) {
  const std::int64_t pixel = stored.is_float() ? 4 : 8;
  const bool unpacks = coding.method == TileMethod::gzip_1 || coding.method == TileMethod::gzip_2 ||
                       coding.method == TileMethod::hcompress || coding.gzip != nullptr;
  TileMemory memory;
  // No overflow: the image and its tiles, which are parts of it, have passed check_gain.
  memory.section = pixel * stored.section.nx * rows;
  memory.tile = unpacks ? 16 : pixel + 4;
  for (const std::int64_t length : coding.tile) memory.tile *= length;
  return memory;
}

/// Length of a tile along the axis that became y.
std::int64_t height_of_tile(const StoredImage& stored, const TileCoding& coding) {
  return coding.tile[static_cast<std::size_t>(stored.section.fits_axes[1] - 1)];
}

void check_memory(const StoredImage& stored, const TileCoding& coding, Access access) {
  const bool by_rows = access == Access::by_rows;
  const auto memory =
      memory_of(stored, coding, by_rows ? height_of_tile(stored, coding) : stored.section.ny);
  const std::int64_t limit = stored.file.unpacked_limit();
  if (memory.section > limit || memory.tile > limit - memory.section) {
    stored.file.fail(
        fmt::format("{} unpacks to {} bytes, and a tile of it to {} on the way; expected at "
                    "most {} in all, or a higher limit (--max-unpacked)",
                    by_rows ? "a row of tiles" : "the image", memory.section, memory.tile, limit));
  }
}

/// A tile of the image: where it begins along each axis, and how long it is there.
struct TileBox {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> length;
  TileShape shape;
};

/// The tiles of which the section has a part, in some rows of tiles.
class SectionTiles {
 public:
  SectionTiles(const TileCoding& coding, const Section& section, const TileRows& rows)
      : m_coding(coding), m_section(section), m_rows(rows) {
    for (std::size_t i = 0; i < coding.axes.size(); ++i)
      if (!is_plane_axis(i)) m_count *= is_y_axis(i) ? rows.count : along(i);
  }

  [[nodiscard]] std::int64_t count() const { return m_count; }

  /// \param number  from 0
  void set(std::int64_t number, TileBox& box) const {
    const std::size_t axes = m_coding.axes.size();
    box.first.resize(axes);
    box.length.resize(axes);
    box.shape = {0, 1, 1};
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < axes; ++i) {
      std::int64_t index = 0;
      if (is_plane_axis(i)) {
        index = *m_section.plane / m_coding.tile[i];
      } else if (is_y_axis(i)) {
        index = m_rows.first + number % m_rows.count;
        number /= m_rows.count;
      } else {
        index = number % along(i);
        number /= along(i);
      }
      box.first[i] = index * m_coding.tile[i];
      // Tiles are cut at the image's edge.
      box.length[i] = std::min(m_coding.tile[i], m_coding.axes[i] - box.first[i]);
      box.shape.row += index * stride;
      stride *= along(i);
      (i == 0 ? box.shape.nx : box.shape.ny) *= box.length[i];
    }
  }

  /// Calls `copy(begin in the tile, begin in the rows)` for each line along the first axis.
  template <class Copy>
  void for_each_line(const TileBox& box, const Copy& copy) const {
    const std::size_t axes = m_coding.axes.size();
    std::vector<std::int64_t> at(axes, 0);
    for (std::int64_t line = 0; line < box.shape.ny; ++line) {
      std::int64_t target = 0;
      bool is_inside = true;
      for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t place = box.first[i] + at[i];
        if (is_plane_axis(i)) {
          is_inside = place == *m_section.plane;
        } else if (static_cast<int>(i) + 1 == m_section.fits_axes[0]) {
          target += place;
        } else if (is_y_axis(i)) {
          target += (place - m_rows.first * m_rows.height) * m_section.nx;
        }  // others have the length 1
      }
      if (is_inside) copy(line * box.shape.nx, target);
      for (std::size_t i = 1; i < axes && ++at[i] == box.length[i]; ++i) at[i] = 0;
    }
  }

 private:
  [[nodiscard]] bool is_plane_axis(std::size_t axis) const {
    return m_section.plane.has_value() && axis == m_section.plane_axis;
  }
  [[nodiscard]] bool is_y_axis(std::size_t axis) const {
    return static_cast<int>(axis) + 1 == m_section.fits_axes[1];
  }
  /// Number of tiles along an axis.
  [[nodiscard]] std::int64_t along(std::size_t axis) const {
    return (m_coding.axes[axis] - 1) / m_coding.tile[axis] + 1;
  }

  const TileCoding& m_coding;
  const Section& m_section;
  const TileRows& m_rows;
  std::int64_t m_count = 1;
};

template <class T>
void read_tile(const StoredImage& stored, const TiledLayout& layout, const SectionTiles& tiles,
               const TileBox& box, TileScratch& scratch, T* pixels) {
  // A tile whose lines follow one another in the rows is decoded there.
  std::int64_t begin = -1;
  bool is_whole = true;
  tiles.for_each_line(box, [&](std::int64_t in_tile, std::int64_t in_section) {
    if (begin < 0) begin = in_section - in_tile;
    is_whole = is_whole && in_section - in_tile == begin;
    if (in_tile == 0) is_whole = is_whole && in_section == begin;
  });
  const bool has_plane = stored.section.plane && box.length[stored.section.plane_axis] > 1;
  if (is_whole && !has_plane) {
    decode_tile(stored.file, layout.table, layout.coding, box.shape, scratch, pixels + begin);
    return;
  }
  const auto room = scratch.pixels.of(box.shape.values() * static_cast<std::int64_t>(sizeof(T)));
  T* const values = reinterpret_cast<T*>(room.data());
  decode_tile(stored.file, layout.table, layout.coding, box.shape, scratch, values);
  const auto bytes = static_cast<std::size_t>(box.shape.nx) * sizeof(T);
  tiles.for_each_line(box, [&](std::int64_t in_tile, std::int64_t in_section) {
    std::memcpy(pixels + in_section, values + in_tile, bytes);
  });
}

struct TileJob {
  TileBox box;
  TileScratch scratch;
};

}  // namespace

TiledLayout::TiledLayout(const StoredImage& stored, Access access)
    : table(stored.file),
      coding(tile_coding(stored.file, table, stored.about.hdu.bitpix, stored.about.hdu.axes)) {
  check_gain(stored, table);
  check_memory(stored, coding, access);
  (void)scaling_of(stored.file, stored.about.hdu);
}

TileRows all_tile_rows(const StoredImage& stored, const TiledLayout& layout) {
  const std::int64_t height = height_of_tile(stored, layout.coding);
  return {0, (stored.section.ny - 1) / height + 1, height};
}

template <class T>
void read_tiles(const StoredImage& stored, const TiledLayout& layout, const TileRows& rows,
                int threads, T* pixels) {
  const SectionTiles tiles(layout.coding, stored.section, rows);
  const std::int64_t held = std::min(stored.section.ny, rows.count * rows.height);
  const int most =
      memory_of(stored, layout.coding, held)
          .threads_within(stored.file.unpacked_limit(), threads_for(threads, tiles.count()));
  (void)for_each_piece<TileJob>(
      "kastor::read_image::tiles", most, tiles.count(),
      [&](std::int64_t number, TileJob& job, Datasum&) {
        tiles.set(number, job.box);
        const auto fail = [&](std::string_view what) {
          const bool is_complete = what.find("; expected ") != std::string_view::npos;
          stored.file.fail(fmt::format("reading the compressed image: tile {} of {}: {}{}",
                                       job.box.shape.row + 1, layout.coding.tiles, what,
                                       is_complete ? "" : "; expected a valid one"));
        };
        try {
          read_tile(stored, layout, tiles, job.box, job.scratch, pixels);
        } catch (const ResourceError&) {
          throw;
        } catch (const std::bad_alloc&) {
          fail_without_memory(stored, job.box.shape.values() * 8);
        } catch (const Error& error) {
          fail(error.what());
        }
      });
}

template void read_tiles<float>(const StoredImage&, const TiledLayout&, const TileRows&, int,
                                float*);
template void read_tiles<double>(const StoredImage&, const TiledLayout&, const TileRows&, int,
                                 double*);

}  // namespace kastor::io::detail
