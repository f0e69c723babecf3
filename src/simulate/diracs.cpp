// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <kastor/detail/instantiations.hpp>
#include <kastor/simulate.hpp>
#include <string>

#include "core/group.hpp"
#include "core/writable_rows.hpp"

namespace kastor::detail {

/// A group fills pieces of rows: first zeros, then the ones.
template <class Exec, class T>
struct PlaceDiracs {
  static constexpr std::int64_t piece = 4096;
  core::WritableRows<T> image;
  std::int64_t spacing;
  std::int64_t first_row;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pieces_per_row() const {
    return (image.nx + piece - 1) / piece;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pieces() const { return image.ny * pieces_per_row(); }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    for (std::int64_t i = group.index(); i < pieces(); i += group.count()) {
      const std::int64_t y = i / pieces_per_row();
      const std::int64_t x = i % pieces_per_row() * piece;
      fill(group, y, x, image.nx - x < piece ? image.nx - x : piece);
    }
  }

 private:
  KOKKOS_FUNCTION void fill(const core::Group<Exec>& group, std::int64_t y, std::int64_t x,
                            std::int64_t width) const {
    T* row = image.data + y * image.pitch + x;
    group.for_each(width, [&](std::int64_t j) { row[j] = T{0}; });
    const std::int64_t first = (spacing / 2 + spacing - x % spacing) % spacing;
    if ((first_row + y) % spacing != spacing / 2 || first >= width) return;
    group.barrier();
    group.for_each((width - 1 - first) / spacing + 1,
                   [&](std::int64_t k) { row[first + k * spacing] = T{1}; });
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
void simulate_diracs(const Exec& space, std::int64_t spacing, const Image<T, Exec>& image,
                     std::int64_t first_row) {
  KASTOR_EXPECTS("kastor::simulate_diracs", spacing >= 1,
                 "the spacing is " + std::to_string(spacing) + "; expected 1 pixel or more");
  KASTOR_EXPECTS("kastor::simulate_diracs", first_row >= 0,
                 "the first row is " + std::to_string(first_row) + "; expected 0 or more");
  const detail::PlaceDiracs<Exec, T> kernel{core::writable_rows_of(image), spacing, first_row};
  core::for_each_group<128>("kastor::simulate::place_diracs", space,
                            {std::min<std::int64_t>(kernel.pieces(), 1 << 20), 0}, kernel);
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                         \
  template void kastor::simulate_diracs<EXEC, T>(const EXEC&, std::int64_t, \
                                                 const kastor::Image<T, EXEC>&, std::int64_t);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
