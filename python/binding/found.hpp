// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_FOUND_HPP
#define KASTOR_PYTHON_FOUND_HPP

#include <nanobind/nanobind.h>

#include <kastor/io/fits_image.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "binding/arrays.hpp"
#include "binding/source.hpp"
#include "find/find_outputs.hpp"
#include "find/found_image.hpp"

namespace kastor::python {

/// A map in memory of the host.
using AnyMap =
    std::variant<HostMap<float>, HostMap<double>, HostMap<std::int32_t>, HostMap<std::int64_t>>;

/// Maps in memory, by the names of the options that would write them. A target of
/// `ImageFinder::fill_maps`.
struct MapsInMemory {
  std::vector<std::string> wanted;
  std::map<std::string, AnyMap> maps;

  [[nodiscard]] bool wants(const std::string& option) const;
  template <class HostView>
  void take(const std::string& option, const HostView& map, const std::string& /*unit*/) {
    maps.insert_or_assign(option, AnyMap(copy_of(map)));
  }
};

/// An image that was searched, and its catalogue.
class Found {
 public:
  Found(std::unique_ptr<cli::FoundImage> image, MapsInMemory maps);

  [[nodiscard]] nb::dict islands() const;
  /// None if no components were fitted.
  [[nodiscard]] nb::object components() const;
  [[nodiscard]] nb::dict maps() const;
  [[nodiscard]] std::string text() const { return m_catalogue->text(); }
  [[nodiscard]] std::string json() const { return m_catalogue->json(); }
  [[nodiscard]] std::vector<std::string> notes() const { return m_catalogue->notes(); }
  [[nodiscard]] const cli::FoundImage& image() const { return *m_image; }
  /// Writes what the options ask for, and then lets go of the pixels.
  void write_outputs(cli::FindOutputs& outputs, const io::PictureParams& picture);
  /// Writes the islands, or the components, as `-o` and `--components` do.
  void write(const std::string& path, bool components, const std::string& names, bool overwrite);

 private:
  std::unique_ptr<cli::FoundImage> m_image;
  std::unique_ptr<cli::FoundCatalogue> m_catalogue;
  MapsInMemory m_maps;
};

/// Searches an image. \param arguments  of `kastor find`, without the image
/// \param companions  arrays in place of the files that options name, by the names of the options
[[nodiscard]] std::unique_ptr<Found> find(std::vector<std::string> arguments, const Source& source,
                                          const Companions& companions,
                                          const std::vector<std::string>& maps,
                                          std::optional<bool> components,
                                          const std::optional<std::string>& on);

}  // namespace kastor::python

#endif
