// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FILL_EXCLUDER_HPP
#define KASTOR_APPS_FIND_FILL_EXCLUDER_HPP

#include <kastor/constant_fill.hpp>
#include <kastor/image.hpp>
#include <kastor/threshold.hpp>
#include <limits>
#include <string>
#include <vector>

namespace kastor::cli {

/// The usable pixels and their complement. Both are empty if all pixels are usable. Pixels that are
/// not finite may be in either.
template <class Exec>
struct UsablePixels {
  BitMask<Exec> usable;
  BitMask<Exec> excluded;
};

/// Takes the constants that fill a part of an image out of its usable pixels. Keeps the masks for
/// the next image of the same shape.
template <class Exec>
class FillExcluder {
 public:
  explicit FillExcluder(const Exec& space) : m_space(space) {}

  /// \param given  the pixels that are usable whatever they hold
  /// \param seed   a constant above so many times the noise is no fill
  template <class T>
  [[nodiscard]] UsablePixels<Exec> operator()(const ConstImage<T, Exec>& pixels,
                                              const UsablePixels<Exec>& given, double seed) {
    m_fill = find_constant_fill(m_space, pixels, {seed});
    if (m_fill.empty()) return given;
    if (m_left.usable.words.size() == 0) {
      const auto ny = static_cast<std::int64_t>(pixels.extent(0));
      const auto nx = static_cast<std::int64_t>(pixels.extent(1));
      m_left = {make_bit_mask(m_space, ny, nx), make_bit_mask(m_space, ny, nx)};
    }
    if (given.usable.words.size() != 0) {
      Kokkos::deep_copy(m_space, m_left.usable.words, given.usable.words);
      Kokkos::deep_copy(m_space, m_left.excluded.words, given.excluded.words);
    } else {
      threshold_into(m_space, pixels, -std::numeric_limits<double>::infinity(), m_left.usable);
      Kokkos::deep_copy(m_space, m_left.excluded.words, std::uint64_t{0});
    }
    exclude_fill(m_space, pixels, m_fill, m_left.usable, m_left.excluded);
    return m_left;
  }

  /// The constants of the last image.
  [[nodiscard]] const std::vector<FillValue>& fill() const { return m_fill; }

 private:
  Exec m_space;
  UsablePixels<Exec> m_left;
  std::vector<FillValue> m_fill;
};

/// One sentence for each constant that was taken as blank.
[[nodiscard]] std::vector<std::string> fill_notes(const std::vector<FillValue>& fill);

}  // namespace kastor::cli

#endif
