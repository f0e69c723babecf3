// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_CELLS_ON_DEVICE_HPP
#define KASTOR_TESTS_CELLS_ON_DEVICE_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include "background/cell_image.hpp"
#include "device.hpp"
#include "map_on.hpp"
#include "naive.hpp"

namespace testing_support {

/// An image divided into cells, in the memory of a backend: as it is, as a cut-out, or in bands.
template <class Exec, class T>
class CellsOnDevice {
 public:
  enum class Rows { plain, cut_out, bands };

  CellsOnDevice(const HostImage<T>& host, const kastor::detail::Shape& cell,
                Rows rows = Rows::plain, const HostMask& exclude = {})
      : m_cut_out(to_device_cut_out<Exec>(host)) {
    if (rows == Rows::plain) m_plain = to_device<Exec>(host);
    const auto whole = kastor::detail::rows_of<T, Exec>(
        rows == Rows::plain ? kastor::ConstImage<T, Exec>(m_plain) : m_cut_out.image);
    m_cells.rows.one = {whole.data, whole.pitch, 0};
    if (rows == Rows::bands) {
      std::vector<kastor::core::BandRows<T>> bands;
      for (std::int64_t y = 0; y < host.ny; y += 5)
        bands.push_back({whole.data + y * whole.pitch, whole.pitch, y});
      m_bands = to_device_list<Exec>(bands);
      m_cells.rows.bands = m_bands.data();
      m_cells.rows.count = static_cast<std::int64_t>(bands.size());
    }
    if (!exclude.values.empty()) {
      m_mask = to_device_mask<Exec>(exclude);
      m_cells.excluded = {m_mask.words.data(), m_mask.words_per_row()};
    }
    m_cells.image = {host.ny, host.nx};
    m_cells.cell = {std::min(cell.ny, host.ny), std::min(cell.nx, host.nx)};
    m_cells.mesh = {(host.ny - 1) / m_cells.cell.ny + 1, (host.nx - 1) / m_cells.cell.nx + 1};
  }

  [[nodiscard]] const kastor::detail::CellImage<T>& operator*() const { return m_cells; }

  /// The good pixels of a cell, in order.
 private:
  CutOut<Exec, T> m_cut_out;
  kastor::Image<T, Exec> m_plain;
  DeviceList<Exec, kastor::core::BandRows<T>> m_bands;
  kastor::BitMask<Exec> m_mask;
  kastor::detail::CellImage<T> m_cells;
};

}  // namespace testing_support

#endif
