// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FOLDER_OUTPUTS_HPP
#define KASTOR_APPS_FIND_FOLDER_OUTPUTS_HPP

#include <cstddef>
#include <kastor/io/output_set.hpp>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "find/find_options.hpp"
#include "find/find_outputs.hpp"

namespace kastor::cli {

/// Whether -o names a folder, whatever the number of images: it ends with a slash, or it is a
/// folder whose name has no catalogue suffix.
[[nodiscard]] bool names_folder(const std::string& output);

/// Refuses options that make no sense with several images, before any file is accessed.
/// \throws UsageError
void check_options_of_many(const FindOptions& options);

/// The catalogues of many images: FOLDER/STEM.FORMAT each. None without -o, or --components.
class FolderOutputs {
 public:
  enum class Of { islands, components };
  /// Creates the folder if it is missing. \throws UsageError if -o is not a folder or two images
  ///   have the same stem; Error if a catalogue exists (without --overwrite or --resume), is one of
  ///   the images or is not a regular file, or if the folder cannot be created
  FolderOutputs(const std::vector<std::string>& images, const FindOptions& options,
                Of of = Of::islands);
  /// Removes the folders that this object created and that are empty.
  ~FolderOutputs();
  FolderOutputs(const FolderOutputs&) = delete;
  FolderOutputs& operator=(const FolderOutputs&) = delete;

  [[nodiscard]] bool empty() const { return m_folder.empty(); }
  /// The folder, with its final slash.
  [[nodiscard]] const std::string& folder() const { return m_folder; }
  /// The targets of one image.
  [[nodiscard]] std::vector<StagedCatalogue> of(std::size_t image) const;
  /// Adds the targets of an image to `outputs`, and returns them with the names to write to. If the
  /// folder has gone, as that of another run that made it and found nothing to write, it is made
  /// again. May be called from any thread. \throws kastor::Error
  [[nodiscard]] std::vector<StagedCatalogue> add_to(io::OutputSet& outputs,
                                                    const std::vector<StagedCatalogue>& targets,
                                                    io::OverwritePolicy policy,
                                                    const std::vector<std::string>& inputs);

 private:
  struct Format {
    std::string ending;  // with its dot
    CatalogueFormat format;
  };
  void take_folder(const std::string& output);
  void make_folder();
  void remove_made();
  [[nodiscard]] const char* option() const { return m_of == Of::islands ? "-o" : "--components"; }
  void check_stems(const std::vector<std::string>& images) const;
  void check_targets(const std::vector<std::string>& images, const std::vector<std::string>& others,
                     bool may_exist) const;

  Of m_of;
  std::string m_folder;
  std::mutex m_mutex;
  std::set<std::string> m_made;  // folders
  std::vector<Format> m_formats;
  std::vector<std::string> m_stems;
};

/// The folders of a run, of both kinds.
struct OutputFolders {
  /// \throws UsageError also if both are one folder, where names would collide
  OutputFolders(const std::vector<std::string>& images, const FindOptions& options);

  [[nodiscard]] bool empty() const { return islands.empty() && components.empty(); }
  /// The targets of one image in both folders.
  [[nodiscard]] std::vector<StagedCatalogue> of(std::size_t image) const;
  /// "FOLDER/", or both.
  [[nodiscard]] std::string names() const;

  FolderOutputs islands, components;
};

}  // namespace kastor::cli

#endif
