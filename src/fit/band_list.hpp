// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_BAND_LIST_HPP
#define KASTOR_FIT_BAND_LIST_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <span>
#include <vector>

#include "core/image_rows.hpp"
#include "core/upload.hpp"

namespace kastor::detail {

/// Gives kernels the rows of an image in bands.
template <class Exec, Real T>
class BandList {
 public:
  /// Enqueues only. Valid until the next call.
  [[nodiscard]] core::ImageRows<T> operator()(const Exec& space, Bands<T, Exec> bands) {
    m_host.clear();
    std::int64_t first_row = 0;
    for (const auto& band : bands) {
      const auto rows = rows_of<T, Exec>(band);
      if (rows.ny > 0) m_host.push_back({rows.data, rows.pitch, first_row});
      first_row += rows.ny;
    }
    core::ImageRows<T> rows;
    rows.count = static_cast<std::int64_t>(m_host.size());
    if (rows.count == 1) rows.one = m_host.front();
    if (rows.count < 2) return rows;
    core::upload_to(m_there, space, "kastor::fit::bands",
                    std::span<const core::BandRows<T>>(m_host));
    rows.bands = m_there.data();
    return rows;
  }

 private:
  std::vector<core::BandRows<T>> m_host;
  Kokkos::View<core::BandRows<T>*, typename Exec::memory_space> m_there;
};

}  // namespace kastor::detail

#endif
