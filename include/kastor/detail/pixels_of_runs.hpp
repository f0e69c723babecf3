// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PIXELS_OF_RUNS_HPP
#define KASTOR_DETAIL_PIXELS_OF_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/kept_pixels.hpp>
#include <kastor/detail/map_along_row.hpp>
#include <kastor/detail/measured_runs.hpp>

/// The pixels of a run and the background there, for sweeps over runs.
namespace kastor::detail {

/// From the image and the maps.
template <class Exec, Real T>
class PixelsOfRun {
 public:
  KOKKOS_FUNCTION PixelsOfRun(const T* row, const Background<Exec, T>& background, const Run& run)
      : m_row(row), m_background(background), m_run(run) {}

  /// `visit(x, value, sky, noise)` from left to right.
  template <class Visit>
  KOKKOS_FUNCTION void for_each(const Visit& visit) const {
    BackgroundAlongRow<Exec, T> along(m_background, m_run.row);
    visit_run_thoroughly(m_row, m_run.begin, m_run.end, [&](std::int32_t x, T pixel) {
      const auto [sky, noise] = along(x);
      visit(x, static_cast<double>(pixel), sky, noise);
    });
  }
  /// `visit(x, value, sky)` from left to right.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_without_noise(const Visit& visit) const {
    MapAlongRow<Exec, T> level(m_background.level, m_run.row);
    visit_run_thoroughly(m_row, m_run.begin, m_run.end, [&](std::int32_t x, T pixel) {
      visit(x, static_cast<double>(pixel), level(x));
    });
  }

 private:
  const T* m_row;
  const Background<Exec, T>& m_background;
  const Run& m_run;
};

/// Where kept pixels of a row are: those from `begin` on.
struct PlacesFrom {
  const KeptPixel* places;
  std::int32_t begin;

  [[nodiscard]] KOKKOS_FUNCTION const KeptPixel& operator[](std::int32_t x) const {
    return places[x - begin];
  }
};
/// The same, and those from `split` on.
struct PlacesInRow {
  const KeptPixel* places;
  std::int32_t begin;
  const KeptPixel* more;
  std::int32_t split;

  [[nodiscard]] KOKKOS_FUNCTION const KeptPixel& operator[](std::int32_t x) const {
    return x < split ? places[x - begin] : more[x - split];
  }
};

template <class Places, class Visit>
KOKKOS_FUNCTION void visit_some_kept_at_once(const Places& places, std::int32_t begin,
                                             std::int32_t end, const Visit& visit) {
  constexpr int some = 4;
  KASTOR_KEEP_LOOP
  for (std::int32_t x = begin; x < end; x += some) {
    KeptPixel pixel[some];
    KASTOR_UNROLL
    for (int k = 0; k < some; ++k) {
      if (x + k < end) pixel[k] = places[x + k];
    }
    KASTOR_UNROLL
    for (int k = 0; k < some; ++k) {
      if (x + k < end) visit(x + k, pixel[k].value, pixel[k].sky, pixel[k].noise);
    }
  }
}
/// Calls `visit(x, value, sky, noise)` for pixels [begin, end) of a row. On a device several are
/// under way from memory at once.
template <class Places, class Visit>
KOKKOS_FUNCTION void visit_kept(const Places& places, std::int32_t begin, std::int32_t end,
                                const Visit& visit) {
  KOKKOS_IF_ON_HOST((for (std::int32_t x = begin; x < end; ++x) {
    const KeptPixel& p = places[x];
    visit(x, p.value, p.sky, p.noise);
  }))
  KOKKOS_IF_ON_DEVICE((visit_some_kept_at_once(places, begin, end, visit);))
}

/// As they were kept, behind one another.
class PixelsKept {
 public:
  KOKKOS_FUNCTION PixelsKept(const Run& run, const KeptPixel* places)
      : m_run(run), m_places(places) {}

  template <class Visit>
  KOKKOS_FUNCTION void for_each(const Visit& visit) const {
    visit_kept(PlacesFrom{m_places, m_run.begin}, m_run.begin, m_run.end, visit);
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_each_without_noise(const Visit& visit) const {
    for_each([&](std::int32_t x, double value, double sky, double) { visit(x, value, sky); });
  }

 private:
  const Run& m_run;
  const KeptPixel* m_places;
};

/// As they were kept, all of them, behind one another within words.
class PixelsOfWords {
 public:
  KOKKOS_FUNCTION PixelsOfWords(const Run& run, const KeptPixels& kept)
      : m_run(run), m_kept(kept) {}

  /// Two words at a time: it is known early where they are, and few runs have more.
  template <class Visit>
  KOKKOS_FUNCTION void for_each(const Visit& visit) const {
    const KeptPixel* places = m_kept.from_pixel(m_run.row, m_run.begin);
    KASTOR_KEEP_LOOP
    for (std::int32_t x = m_run.begin; x < m_run.end;) {
      const std::int32_t split = (x / 64 + 1) * 64;
      const bool has_more = split < m_run.end;
      const PlacesInRow here{places, x, has_more ? m_kept.of_word(m_run.row, split) : places,
                             split};
      const std::int32_t past = split + 64 < m_run.end ? split + 64 : m_run.end;
      visit_kept(here, x, past, visit);
      x = past;
      if (x < m_run.end) places = m_kept.of_word(m_run.row, x);
    }
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_each_without_noise(const Visit& visit) const {
    for_each([&](std::int32_t x, double value, double sky, double) { visit(x, value, sky); });
  }

 private:
  const Run& m_run;
  const KeptPixels& m_kept;
};

}  // namespace kastor::detail

#endif
