// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_SOURCE_LABELS_HPP
#define KASTOR_APPS_FIND_SOURCE_LABELS_HPP

#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/label.hpp>
#include <kastor/source_finder.hpp>
#include <limits>
#include <string>
#include <vector>

#include "cli/run/backends.hpp"
#include "find/beam_cards.hpp"

namespace kastor::cli {

template <class Label, class Exec>
void write_source_labels_as(const Exec& space, const std::string& path, const io::FitsImage& image,
                            const RunLabels<Exec>& labels, const FindResult& result,
                            const io::Provenance& provenance) {
  const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space> pixels(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::labels"),
      static_cast<std::size_t>(image.ny), static_cast<std::size_t>(image.nx));
  write_labels<Exec, Label>(space, labels, pixels);
  const auto host = readable_on_host(space, pixels);
  std::vector<io::HeaderCard> extra{
      {"NSOURCES", static_cast<std::int64_t>(result.sources.size()), "number of labels"},
      {"THRESH", result.threshold, "pixels above this value are foreground"}};
  const auto beam = beam_cards(io::read_beam(image));
  extra.insert(extra.end(), beam.begin(), beam.end());
  io::write_image(path, io::pixel_rows(host),
                  io::cards_without_beam(io::kept_cards(image.header_cards, image.fits_axes)),
                  provenance, extra);
}

/// Writes the image of labels, as int32, or as int64 if there are too many. Returns the name of the
/// type.
template <class Exec>
const char* write_source_labels(const Exec& space, const std::string& path,
                                const io::FitsImage& image, const RunLabels<Exec>& labels,
                                const FindResult& result, io::Provenance provenance) {
  provenance.unit.clear();
  if (labels.components > std::numeric_limits<std::int32_t>::max()) {
    write_source_labels_as<std::int64_t>(space, path, image, labels, result, provenance);
    return "int64";
  }
  write_source_labels_as<std::int32_t>(space, path, image, labels, result, provenance);
  return "int32";
}

}  // namespace kastor::cli

#endif
