// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_GIVEN_PIXELS_HPP
#define KASTOR_APPS_FIND_GIVEN_PIXELS_HPP

#include <sys/types.h>

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/island.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/island_options.hpp"
#include "cli/run/backends.hpp"
#include "find/relative_weights.hpp"
#include "find/same_sky.hpp"

namespace kastor::cli {

/// Pixels of one file, whatever the name they were read by.
struct PixelOrigin {
  const char* option = "";  ///< that gave them
  dev_t device = 0;
  ino_t file = 0;
  int hdu = 0;
  std::optional<std::int64_t> plane;
};

/// The masks, maps and detection image of the user for one image, in its unit and on the host.
template <class T>
struct GivenOnHost {
  /// Within the box, not masked, and usable in all maps; empty if all pixels are.
  BitMask<Kokkos::DefaultHostExecutionSpace> usable;
  std::optional<io::HostPixels<T>> level, rms;  ///< those that are images
  std::optional<RelativeWeights<T>> weights;
  std::optional<io::HostPixels<T>> detection;  ///< in its own unit
  io::FitsImage detection_header;              ///< without pixels; of use if it was given
  std::vector<std::string> notes;              ///< one sentence each
  std::vector<PixelOrigin> origins;
};
/// Reads them. \throws Error if one cannot be read, is the image itself, or has another shape or a
/// unit of another kind; if a variance or weight is negative; if the box is not within the image,
/// or no pixel is left
template <class T>
[[nodiscard]] GivenOnHost<T> read_given(const IslandOptions& options, const io::FitsImage& image);
extern template GivenOnHost<float> read_given(const IslandOptions&, const io::FitsImage&);
extern template GivenOnHost<double> read_given(const IslandOptions&, const io::FitsImage&);

/// \throws Error if one of these is the image itself
void refuse_itself(const std::vector<PixelOrigin>& origins, const io::FitsImage& image);

/// BUNIT as the header has it, whatever --unit says; empty if there is none.
[[nodiscard]] std::string stated_unit(const io::FitsImage& image);

/// Whether a mask or map is read from a file at all.
[[nodiscard]] bool has_given_files(const IslandOptions& options);
/// Whether a mask or map is in the image's own file.
[[nodiscard]] bool has_own_parts(const IslandOptions& options);

/// The masks and maps of the user where `Exec` can read them. They are read once for images of the
/// same units, unless each image has its own.
template <class Exec, class T>
class GivenPixels {
 public:
  explicit GivenPixels(const IslandOptions& options) : m_options(options) {}

  /// Reads them for this image, if need be. \throws Error as `read_given()`
  void read_for(const Exec& space, const io::FitsImage& image) {
    const std::pair units(image.hdu.unit, stated_unit(image));
    if (m_units == units && !has_own_parts(m_options)) {
      refuse_itself(m_read.origins, image);
      return look_at_detection(image);
    }
    m_units.reset();
    m_read = {};
    m_read = read_given<T>(m_options, image);
    take_masks(space);
    level = map_of(space, m_options.background, m_read.level, m_level);
    rms = map_of(space, m_options.rms, m_read.rms, m_rms);
    take_weights(space);
    if (m_read.detection) m_detection = readable_on(space, *std::exchange(m_read.detection, {}));
    look_at_detection(image);
    m_units = units;
  }

  /// Both are empty if all pixels are usable.
  BitMask<Exec> usable, excluded;
  /// Of no use unless they were given.
  PixelMap<Exec, T> level, rms;
  /// Of the weights w: sqrt(w), and 1 / sqrt(w).
  Image<T, Exec> root_weight, relative_noise;
  /// w at the peaks of islands; empty without weights.
  [[nodiscard]] std::vector<double> weights_at(const Islands& islands) const {
    std::vector<double> weights;
    if (!m_options.photometry.weight) return weights;
    for (const Island& island : islands) {
      const auto root = static_cast<double>(m_roots(island.y_peak, island.x_peak));
      weights.push_back(root * root);
    }
    return weights;
  }
  /// Of use if it was given.
  [[nodiscard]] ConstImage<T, Exec> detection() const { return m_detection; }
  [[nodiscard]] const io::FitsImage& detection_header() const { return m_read.detection_header; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return m_notes; }

 private:
  void look_at_detection(const io::FitsImage& image) {
    m_notes = m_read.notes;
    if (!m_options.detection.image) return;
    const auto note = check_same_sky(m_read.detection_header, image);
    if (!note.empty()) m_notes.push_back(note);
  }

  void take_masks(const Exec& space) {
    const auto host = std::exchange(m_read.usable, {});
    usable = excluded = {};
    if (host.words.size() == 0) return;
    usable = make_bit_mask(space, host.ny, host.nx);
    excluded = make_bit_mask(space, host.ny, host.nx);
    const auto inverse = make_bit_mask(Kokkos::DefaultHostExecutionSpace{}, host.ny, host.nx);
    for (std::size_t y = 0; y < host.words.extent(0); ++y) {
      for (std::size_t w = 0; w < host.words.extent(1); ++w)
        inverse.words(y, w) = ~host.words(y, w);
      // Bits beyond the width are 0.
      if (host.nx % 64 != 0)
        inverse.words(y, host.words.extent(1) - 1) &= ~std::uint64_t{0} >> (64 - host.nx % 64);
    }
    Kokkos::deep_copy(space, usable.words, host.words);
    Kokkos::deep_copy(space, excluded.words, inverse.words);
    space.fence("kastor::app: the mask is where it is used");
  }

  void take_weights(const Exec& space) {
    if (!m_read.weights) return;
    root_weight = readable_on(space, m_read.weights->root);
    relative_noise = readable_on(space, m_read.weights->noise);
    m_roots = m_read.weights->root;
    m_read.weights.reset();
  }

  static PixelMap<Exec, T> map_of(const Exec& space, const std::optional<GivenMap>& given,
                                  std::optional<io::HostPixels<T>>& read, Image<T, Exec>& memory) {
    if (!given) return {};
    if (const auto* number = std::get_if<double>(&*given)) return PixelMap<Exec, T>(*number);
    memory = readable_on(space, *read);
    read.reset();
    return PixelMap<Exec, T>(ConstImage<T, Exec>(memory));
  }

  IslandOptions m_options;
  GivenOnHost<T> m_read;
  Image<T, Exec> m_level, m_rms, m_detection;
  io::HostPixels<T> m_roots;
  std::vector<std::string> m_notes;
  /// The unit of the image that they were read for, and that of its header; none if not read.
  std::optional<std::pair<std::string, std::string>> m_units;
};

}  // namespace kastor::cli

#endif
