// SPDX-License-Identifier: Apache-2.0
#include "find/folder_outputs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <kastor/error.hpp>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "cli/run/errors.hpp"
#include "find/image_names.hpp"

namespace kastor::cli {
namespace {

bool is_there(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// The formats of the catalogues in folders, if there are any.
std::vector<CatalogueFormat> formats_of_many(const FindOptions& options) {
  std::vector<CatalogueFormat> formats;
  if (options.outputs.empty() && options.islands.components.files.empty()) return formats;
  for (const auto& word : options.formats) formats.push_back(catalogue_format_named(word));
  if (formats.empty()) formats.push_back(catalogue_format_named("fits"));
  return formats;
}

/// Identifies a file, whatever its name.
using Identity = std::pair<dev_t, ino_t>;
Identity identity_of(const struct stat& info) { return {info.st_dev, info.st_ino}; }

}  // namespace

bool names_folder(const std::string& output) {
  return output.ends_with('/') || (is_folder(output) && !catalogue_format_of(output));
}

void check_options_of_many(const FindOptions& options) {
  const auto refuse_if_given = [](const char* option, const std::optional<std::string>& path) {
    if (!path) return;
    throw UsageError(std::string(option) +
                     ": found with several images or a folder; expected one image, and files as "
                     "outputs");
  };
  for (const auto& [option, path] : fits_maps_of(options)) refuse_if_given(option, path);
  refuse_if_given("--picture", options.picture);
  const auto& components = options.islands.components.files;
  for (const auto& [name, values] :
       {std::pair("-o", &options.outputs), std::pair("--components", &components)}) {
    if (values->size() <= 1) continue;
    throw UsageError(std::string(name) +
                     ": given more than once with several images; expected one folder, and a "
                     "--format for each kind of catalogue");
  }
  for (const char* name : {"--format", "--resume"}) {
    const bool given = name == std::string("--resume") ? options.resume : !options.formats.empty();
    if (given && options.outputs.empty() && components.empty())
      throw UsageError(std::string(name) + ": found without -o; expected -o FOLDER/");
  }
  if (std::set<std::string>(options.formats.begin(), options.formats.end()).size() <
      options.formats.size()) {
    throw UsageError("--format: found the same format twice; expected different formats");
  }
  check_names(options.names, formats_of_many(options));
  if (options.resume && options.formats == std::vector<std::string>{"csv"}) {
    throw UsageError(
        "--resume: found with --format csv alone, which records no options; expected another "
        "--format beside it");
  }
}

FolderOutputs::FolderOutputs(const std::vector<std::string>& images, const FindOptions& options,
                             Of of)
    : m_of(of) {
  const auto& outputs = of == Of::islands ? options.outputs : options.islands.components.files;
  if (outputs.empty()) return;
  const std::string& output = outputs.front();
  if (!output.ends_with('/') && !is_folder(output)) {
    throw UsageError(std::string(option()) + ": found '" + output +
                     "' with several images, --format or --resume; expected a folder that exists, "
                     "or a name that ends with a slash");
  }
  const auto& words = options.formats;
  for (const auto& word : words.empty() ? std::vector<std::string>{"fits"} : words)
    m_formats.push_back({"." + word, of == Of::islands ? table_or_regions_of("--format", "." + word)
                                                       : catalogue_format_named(word)});
  for (const auto& image : images) m_stems.push_back(stem_of(image));
  check_stems(images);
  take_folder(output);
  check_targets(images, given_files_of(options), options.overwrite || options.resume);
}

FolderOutputs::~FolderOutputs() { remove_made(); }

std::vector<StagedCatalogue> FolderOutputs::of(std::size_t image) const {
  std::vector<StagedCatalogue> targets;
  if (empty()) return targets;
  for (const auto& [ending, format] : m_formats)
    targets.push_back({m_folder + m_stems[image] + ending, format});
  return targets;
}

void FolderOutputs::check_stems(const std::vector<std::string>& images) const {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto [other, is_new] = seen.insert({m_stems[i], i});
    if (is_new) continue;
    throw UsageError(std::string(option()) + ": found '" + images[other->second] + "' and '" +
                     images[i] + "', whose catalogues would both be called '" + m_stems[i] +
                     m_formats.front().ending + "'; expected images with different names");
  }
}

void FolderOutputs::take_folder(const std::string& output) {
  m_folder = output.ends_with('/') ? output : output + "/";
  if (is_folder(m_folder)) {
    if (::access(m_folder.c_str(), W_OK | X_OK) == 0) return;
    if (errno != ENOENT)
      throw Error(one_line(m_folder) + ": cannot be written to; expected a writable folder");
  }
  make_folder();
}

void FolderOutputs::make_folder() {
  const std::filesystem::path folder(m_folder.substr(0, m_folder.find_last_not_of('/') + 1));
  std::error_code error;
  // Another run may remove one of the folders while this one makes the next.
  for (int attempt = 0; attempt < 10 && !is_folder(m_folder); ++attempt) {
    for (auto path = folder; !path.empty() && !is_there(path.string()); path = path.parent_path())
      m_made.insert(path.string());
    std::filesystem::create_directories(folder, error);
    if (error && error != std::errc::no_such_file_or_directory) break;
  }
  if (is_folder(m_folder)) return;
  remove_made();
  const std::string reason = error ? error.message() : "something else has that name";
  throw Error(one_line(m_folder) + ": cannot be created: " + reason + "; expected a folder");
}

void FolderOutputs::remove_made() {
  // A folder comes behind the one around it. Those that are not empty stay.
  for (auto folder = m_made.rbegin(); folder != m_made.rend(); ++folder)
    (void)::rmdir(folder->c_str());
  m_made.clear();
}

std::vector<StagedCatalogue> FolderOutputs::add_to(io::OutputSet& outputs,
                                                   const std::vector<StagedCatalogue>& targets,
                                                   io::OverwritePolicy policy,
                                                   const std::vector<std::string>& inputs) {
  std::vector<StagedCatalogue> staged;
  const auto add = [&](const std::string& path) { return outputs.add(path, policy, inputs); };
  for (const auto& [path, format] : targets) {
    std::string name;
    // The first file in the folder keeps it, so the folder can be lost only before that.
    for (int attempt = 0; name.empty() && attempt < 10; ++attempt) {
      try {
        name = add(path);
      } catch (const Error&) {
        if (is_folder(m_folder)) break;
        const std::scoped_lock lock(m_mutex);
        make_folder();
      }
    }
    staged.push_back({name.empty() ? add(path) : name, format});
  }
  return staged;
}

void FolderOutputs::check_targets(const std::vector<std::string>& images,
                                  const std::vector<std::string>& others, bool may_exist) const {
  std::map<Identity, std::string> inputs;
  for (const auto* names : {&images, &others}) {
    for (const auto& name : *names) {
      struct stat info {};
      if (::stat(name.c_str(), &info) == 0) inputs.insert({identity_of(info), name});
    }
  }
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (const auto& [path, format] : of(i)) {
      struct stat info {};
      if (::stat(path.c_str(), &info) != 0) continue;
      const auto fail = [&target = path](const std::string& found) {
        throw Error(one_line(target) + ": " + found);
      };
      if (const auto input = inputs.find(identity_of(info)); input != inputs.end()) {
        fail("is the input '" + input->second + "'; expected another file");
      }
      if (!S_ISREG(info.st_mode))
        fail("exists and is not a regular file; expected a new file or a regular one");
      if (!may_exist) fail("exists already; expected a new file, --overwrite or --resume");
    }
  }
}

OutputFolders::OutputFolders(const std::vector<std::string>& images, const FindOptions& options)
    : islands(images, options), components(images, options, FolderOutputs::Of::components) {
  if (islands.empty() || components.empty()) return;
  struct stat one {};
  struct stat other {};
  if (::stat(islands.folder().c_str(), &one) != 0 ||
      ::stat(components.folder().c_str(), &other) != 0 || identity_of(one) != identity_of(other))
    return;
  throw UsageError("--components: found '" + components.folder() +
                   "', the folder of -o, where both catalogues of an image would have one name; "
                   "expected another folder");
}

std::vector<StagedCatalogue> OutputFolders::of(std::size_t image) const {
  auto targets = islands.of(image);
  const auto more = components.of(image);
  targets.insert(targets.end(), more.begin(), more.end());
  return targets;
}

std::string OutputFolders::names() const {
  if (islands.empty()) return components.folder();
  return islands.folder() + (components.empty() ? "" : " and " + components.folder());
}

}  // namespace kastor::cli
