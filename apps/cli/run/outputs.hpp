// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_OUTPUTS_HPP
#define KASTOR_APPS_CLI_RUN_OUTPUTS_HPP

#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/io/provenance.hpp>
#include <string>
#include <vector>

namespace kastor::cli {

/// \throws UsageError unless `path`, given to `option`, ends in .fits or .fit.
void require_fits_ending(const std::string& option, const std::string& path);

[[nodiscard]] io::OverwritePolicy overwrite_policy(bool overwrite);

/// "FILE[HDU]", as failures name an image.
[[nodiscard]] std::string name_of(const io::FitsImage& image);

[[nodiscard]] std::int64_t pixels_of(const io::FitsImage& image);

/// `options` are those that determine the output. They do not include the backend, since the bits
/// are the same on all backends.
[[nodiscard]] io::Provenance provenance_of(const io::FitsImage& image, const std::string& options,
                                           const std::string& unit);

/// "wrote A, B"; empty without outputs.
[[nodiscard]] std::string wrote_note(const std::vector<std::string>& paths);

/// A message of the library, without the name of the function.
[[nodiscard]] std::string without_function(const std::string& message);

/// Runs `job`. An error of the library is reported with the name of the image.
template <class Job>
void about_image(const io::FitsImage& image, Job&& job) {
  try {
    job();
  } catch (const Error& error) {
    throw Error(name_of(image) + ": " + without_function(error.what()));
  }
}

}  // namespace kastor::cli

#endif
