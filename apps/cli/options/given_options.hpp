// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_GIVEN_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_GIVEN_OPTIONS_HPP

#include <kastor/io/fits_image.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "cli/options/command_line.hpp"

namespace kastor::cli {

/// An image that the user gives for another one: a mask, or a map of its background or noise.
struct GivenFile {
  std::optional<std::string> path;  ///< as typed; none: the file of the image itself
  io::ReadOptions part;             ///< the HDU and the plane
  std::shared_ptr<const io::FitsImage> memory =
      nullptr;  ///< read already; `path` is what it is called
};

/// Replaces the map of the mesh: a number, or an image.
using GivenMap = std::variant<double, GivenFile>;

/// What the pixels of a noise map are.
enum class RmsKind {
  rms,
  variance,  ///< the square of the noise
  weight     ///< the inverse of the variance
};
[[nodiscard]] const char* name_of(RmsKind kind);

/// `NAME-hdu` and `NAME-plane`, the part of the image that the option NAME gives.
void add_given_part(CommandLine& line, const std::string& name, io::ReadOptions& part);

/// After parsing: the image that NAME gives, by `path` or by an HDU of the image's own file; none
/// if neither is given. \throws UsageError if only a plane is
[[nodiscard]] std::optional<GivenFile> given_file(const std::string& name,
                                                  const std::optional<std::string>& path,
                                                  const io::ReadOptions& part);
/// The same for what may be a number. \param value  its text as typed
/// \throws UsageError also if a number has a part
[[nodiscard]] std::optional<GivenMap> given_map(const std::string& name,
                                                const std::optional<std::string>& value,
                                                const io::ReadOptions& part, bool positive);

/// Whether the user means a number rather than a file; "nan" and "inf" count, with or without a
/// sign.
[[nodiscard]] bool looks_like_a_number(const std::string& text);

/// Checks the value of NAME by itself. \throws UsageError
void check_given_map(const std::string& name, const std::string& value, bool positive);

/// The options as typed, each with a blank before it, for the provenance of an output.
[[nodiscard]] std::string given_as_typed(const std::string& name, const GivenFile& given);
[[nodiscard]] std::string given_as_typed(const std::string& name, const GivenMap& given);

/// "FILE" as typed, "FILE[HDU]" or "FILE[HDU], plane K". \param own  the file of the image itself
[[nodiscard]] std::string given_name(const GivenFile& given, const std::string& own);

}  // namespace kastor::cli

#endif
