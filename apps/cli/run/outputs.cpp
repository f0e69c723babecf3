// SPDX-License-Identifier: Apache-2.0
#include "cli/run/outputs.hpp"

#include <kastor/version.hpp>

#include "cli/run/errors.hpp"

namespace kastor::cli {

void require_fits_ending(const std::string& option, const std::string& path) {
  if (io::table_format_of(path) != io::TableFormat::fits) {
    throw UsageError(option + ": found '" + path +
                     "', whose suffix names no image format; expected .fits or .fit");
  }
}

io::OverwritePolicy overwrite_policy(bool overwrite) {
  return overwrite ? io::OverwritePolicy::replace : io::OverwritePolicy::refuse;
}

std::string name_of(const io::FitsImage& image) {
  return image.path + "[" + std::to_string(image.hdu.index) + "]";
}

std::int64_t pixels_of(const io::FitsImage& image) { return image.ny * image.nx; }

io::Provenance provenance_of(const io::FitsImage& image, const std::string& options,
                             const std::string& unit) {
  io::Provenance provenance;
  provenance.version = version();
  provenance.command_line = options;
  provenance.input = image.path;
  provenance.input_datasum = image.datasum;
  provenance.input_hdu = image.hdu.index;
  provenance.unit = unit;
  return provenance;
}

std::string wrote_note(const std::vector<std::string>& paths) {
  std::string note;
  for (const auto& path : paths) note += (note.empty() ? "wrote " : ", ") + path;
  return note;
}

std::string without_function(const std::string& message) {
  if (!message.starts_with("kastor::")) return message;
  const auto end = message.find(": ");
  return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace kastor::cli
