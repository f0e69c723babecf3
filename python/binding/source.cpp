// SPDX-License-Identifier: Apache-2.0
#include "binding/source.hpp"

#include <memory>

#include "find/given_pixels.hpp"

namespace kastor::python {

void describe(const Source& source, io::FitsImage& image) {
  if (!source.array) return;
  image = image_of(*source.array, source.name);
  image.header_cards = source.cards;
  image.hdu.unit = cli::stated_unit(image);
}

void own_pixels(io::FitsImage& image) {
  std::visit(
      [](auto& view) {
        using View = std::remove_cvref_t<decltype(view)>;
        const View copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::python::image"),
                        view.extent(0), view.extent(1));
        Kokkos::deep_copy(copy, view);
        view = copy;
      },
      image.pixels);
}

void take_companions(const Companions& companions, cli::IslandOptions& options) {
  const auto put = [&](const std::string& option, cli::GivenFile& file) {
    const auto found = companions.find(option);
    if (found == companions.end() || !file.path) return;
    file.memory = std::make_shared<io::FitsImage>(image_of(found->second, *file.path));
  };
  const auto put_map = [&](const std::string& option, std::optional<cli::GivenMap>& given) {
    if (given && std::holds_alternative<cli::GivenFile>(*given))
      put(option, std::get<cli::GivenFile>(*given));
  };
  put_map("--background", options.background);
  put_map("--rms", options.rms);
  if (options.mask) put("--mask", *options.mask);
  if (options.detection.image) put("--detect-image", *options.detection.image);
  if (options.photometry.weight)
    put(options.photometry.weight_option(), *options.photometry.weight);
}

}  // namespace kastor::python
