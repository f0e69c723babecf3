// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_FITS_WRITER_HPP
#define KASTOR_IO_FITS_WRITER_HPP

#include <array>
#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/header_card.hpp>
#include <kastor/io/provenance.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace kastor::io {

/// Pixels in host memory, x fastest; rows begin `row_stride` elements apart.
template <class T>
struct PixelRows {
  const T* data = nullptr;      ///< pixel (0, 0)
  std::int64_t ny = 0;          ///< rows
  std::int64_t nx = 0;          ///< columns
  std::int64_t row_stride = 0;  ///< distance between the beginnings of two rows [element]
};

/// The rows of a rank-2 LayoutRight View that the host can read.
template <class V>
[[nodiscard]] auto pixel_rows(const V& view) {
  static_assert(V::rank == 2, "kastor: pixel_rows needs a rank-2 View, indexed (y, x)");
  static_assert(std::is_same_v<typename V::array_layout, Kokkos::LayoutRight>,
                "kastor: pixel_rows needs a Kokkos::LayoutRight View (x fastest)");
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible,
                "kastor: pixel_rows needs a View that the host can read");
  // The stride of a View with a single row is not meaningful.
  const auto stride = view.extent(0) > 1 ? view.stride(0) : view.extent(1);
  return PixelRows<typename V::non_const_value_type>{
      view.data(), static_cast<std::int64_t>(view.extent(0)),
      static_cast<std::int64_t>(view.extent(1)), static_cast<std::int64_t>(stride)};
}

/// The cards of an input's header that remain true for a 2-D image on the same pixels: its
/// celestial or linear coordinates, the beam, and the description of the observation. `fits_axes`
/// are the axes of the input that became x and y (`FitsImage::fits_axes`); cards of other axes are
/// dropped, and so is the beam if CASAMBM gives each plane its own. If the coordinates cannot be
/// reduced to two axes, all of them are dropped and a HISTORY card says why.
[[nodiscard]] std::vector<std::string> kept_cards(const std::vector<std::string>& cards,
                                                  const std::array<int, 2>& fits_axes);

/// The cards for an image in which everything lies (dx, dy) pixels further along x and y than in
/// the input: every reference pixel (CRPIXn, of all alternative descriptions) is moved. If the
/// input has coordinates but no CRPIXn, which means 0, one is added.
[[nodiscard]] std::vector<std::string> moved_cards(const std::vector<std::string>& cards, double dx,
                                                   double dy);

/// The cards without the beam (BMAJ, BMIN, BPA), for an image to which that beam does not apply.
[[nodiscard]] std::vector<std::string> cards_without_beam(const std::vector<std::string>& cards);

/// Writes a FITS file with one primary image and replaces what is there (pass the temporary name of
/// an `OutputSet`). `cards` (see `kept_cards()`; none for an image without an input) are written as
/// they are; one that is not valid FITS is repaired, or else left out, and a HISTORY card says so.
/// Then `extra`, then the provenance. Pixels are converted in pieces, never copied as a whole.
/// \throws kastor::Error
void write_image(const std::string& path, const PixelRows<float>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra = {});
void write_image(const std::string& path, const PixelRows<double>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra = {});
void write_image(const std::string& path, const PixelRows<std::int32_t>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra = {});
void write_image(const std::string& path, const PixelRows<std::int64_t>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra = {});

}  // namespace kastor::io

#endif
