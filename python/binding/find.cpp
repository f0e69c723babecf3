// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <algorithm>
#include <kastor/io/image_reader.hpp>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "binding/found.hpp"
#include "binding/runtime.hpp"
#include "binding/source.hpp"
#include "cli/run/errors.hpp"
#include "find/find_outputs.hpp"
#include "find/search_image.hpp"

namespace kastor::python {
namespace {

/// Options by the arguments that they were read from. Reading takes longer than searching a small
/// image. The interpreter's lock is held.
cli::FindOptions options_of(std::vector<std::string> arguments, const std::string& name,
                            const std::string& key) {
  static auto* const read = new std::map<std::string, cli::FindOptions>;
  const auto place = read->find(key + name);
  if (place != read->end()) return place->second;
  arguments.push_back("--");
  arguments.push_back(name);
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  cli::FindOptions options;
  if (!cli::parse_find(pointers, options))
    throw cli::UsageError("found an option that prints; expected options of a search");
  options.input.path = name;
  constexpr std::size_t most = 64;
  if (read->size() >= most) read->clear();
  return (*read)[key + name] = options;
}

}  // namespace

std::unique_ptr<Found> find(std::vector<std::string> arguments, const Source& source,
                            const Companions& companions, const std::vector<std::string>& maps,
                            std::optional<bool> components, const std::optional<std::string>& on) {
  const std::string file = source.name;
  std::string key;
  for (const auto& argument : arguments) key += argument + '\0';
  auto found = std::make_unique<cli::FoundImage>();
  found->options = options_of(std::move(arguments), file, key);
  cli::FindOptions& options = found->options;
  options.json = true;  // the report needs the hash of the components
  options.reports_components = components.value_or(true);
  if (components == true) {
    if (options.islands.preset == cli::Preset::lesson) {
      throw cli::UsageError(
          "components: found True with preset='lesson'; expected preset='radio' or 'sextractor'");
    }
    options.islands.components.reports = true;
  }
  describe(source, found->image);
  take_companions(companions, options.islands);

  MapsInMemory in_memory{maps, {}};
  Runtime& runtime = Runtime::get();
  std::unique_ptr<Found> result;
  {
    const nb::gil_scoped_release released;
    const Runtime::RunningJob running(runtime);
    auto searched = std::move(found);  // its Views are released here, too, if this fails
    cli::FindOutputs outputs(options);
    if (options.run.threads) runtime.start(options.run.threads);
    const auto backend = runtime.backend(on);
    runtime.run(backend, source.stream, [&](auto& place) {
      using Exec = std::remove_cvref_t<decltype(place.space)>;
      // A plan is made for its options; files and arrays beside the image may change.
      const auto& islands = searched->options.islands;
      const bool is_kept = !cli::has_given_files(islands) &&
                           !std::holds_alternative<cli::FilterFile>(islands.detection.kernel);
      if (place.finds_by != key || !is_kept) place.finder.release();
      place.finds_by = is_kept ? key : std::string();
      with_pixels(place.space, source, *searched, [&](const auto& pixels, std::int64_t blanked) {
        cli::search_image<Exec>(place.finder, pixels, blanked, *searched);
        place.finder.write_maps(pixels, *searched, outputs);
        place.finder.fill_maps(pixels, *searched, in_memory);
      });
      if (!is_kept) place.finder.release();
    });
    const auto picture = cli::find_picture_params();
    result = std::make_unique<Found>(std::move(searched), std::move(in_memory));
    result->write_outputs(outputs, picture);
  }
  return result;
}

}  // namespace kastor::python
