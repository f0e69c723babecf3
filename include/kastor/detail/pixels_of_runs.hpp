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

/// As they were kept. On a device several are under way from memory at once.
class PixelsKept {
 public:
  KOKKOS_FUNCTION PixelsKept(const Run& run, const KeptPixel* places)
      : m_run(run), m_places(places) {}

  template <class Visit>
  KOKKOS_FUNCTION void for_each(const Visit& visit) const {
    KOKKOS_IF_ON_HOST((for (std::int32_t x = m_run.begin; x < m_run.end; ++x) {
      const KeptPixel& p = m_places[x - m_run.begin];
      visit(x, p.value, p.sky, p.noise);
    }))
    KOKKOS_IF_ON_DEVICE((visit_some_at_once(visit);))
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_each_without_noise(const Visit& visit) const {
    for_each([&](std::int32_t x, double value, double sky, double) { visit(x, value, sky); });
  }

 private:
  template <class Visit>
  KOKKOS_FUNCTION void visit_some_at_once(const Visit& visit) const {
    constexpr int some = 4;
    KASTOR_KEEP_LOOP
    for (std::int32_t x = m_run.begin; x < m_run.end; x += some) {
      KeptPixel pixel[some];
      KASTOR_UNROLL
      for (int k = 0; k < some; ++k) {
        if (x + k < m_run.end) pixel[k] = m_places[x + k - m_run.begin];
      }
      KASTOR_UNROLL
      for (int k = 0; k < some; ++k) {
        if (x + k < m_run.end) visit(x + k, pixel[k].value, pixel[k].sky, pixel[k].noise);
      }
    }
  }

  const Run& m_run;
  const KeptPixel* m_places;
};

}  // namespace kastor::detail

#endif
