// SPDX-License-Identifier: Apache-2.0
#include "cli/options/given_options.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "cli/options/options.hpp"
#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

/// Text that looks like a number is a number; none if it is a file name. A file that is named like
/// a number can be given as ./5.
std::optional<double> number_in(const std::string& name, const std::string& text, bool positive) {
  if (text.empty()) throw UsageError(name + ": found ''; expected a number or a FITS file");
  if (!looks_like_a_number(text)) return std::nullopt;
  return positive ? parse_real(name, text, {0, false, largest_real, "a finite number above 0"})
                  : parse_real(name, text, finite_range());
}

}  // namespace

bool looks_like_a_number(const std::string& text) {
  if (text.find_first_not_of("0123456789+-.eE") == std::string::npos) return true;
  std::string word = text.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "nan" || word == "inf" || word == "infinity";
}

const char* name_of(RmsKind kind) {
  switch (kind) {
    case RmsKind::variance:
      return "variance";
    case RmsKind::weight:
      return "weight";
    case RmsKind::rms:
      break;
  }
  return "rms";
}

void add_given_part(CommandLine& line, const std::string& name, io::ReadOptions& part) {
  const std::string hdu = name + "-hdu";
  line.value(
      hdu, "N|NAME[,VER]",
      [&part, hdu](const std::string& text) { part.hdu = checked_hdu(hdu, text); },
      "Select the HDU of " + name + ", as --hdu does.\nWithout " + name +
          " it is in the image's\nown file.");
  line.integer(
      name + "-plane", "K", {0, std::numeric_limits<std::int64_t>::max(), "an integer, 0 or more"},
      [&part](std::int64_t plane) { part.plane = plane; },
      "Select plane K of a cube there, counted from 0.");
}

std::optional<GivenFile> given_file(const std::string& name, const std::optional<std::string>& path,
                                    const io::ReadOptions& part) {
  if (path || part.hdu) return GivenFile{path, part};
  if (!part.plane) return std::nullopt;
  throw UsageError(fmt::format(
      "{0}-plane: found without {0} and {0}-hdu; expected one of them, which names the image",
      name));
}

std::optional<GivenMap> given_map(const std::string& name, const std::optional<std::string>& value,
                                  const io::ReadOptions& part, bool positive) {
  const auto number = value ? number_in(name, *value, positive) : std::nullopt;
  if (!number) {
    auto file = given_file(name, value, part);
    return file ? std::optional<GivenMap>(std::move(*file)) : std::nullopt;
  }
  if (part.hdu || part.plane) {
    throw UsageError(fmt::format("{0}-{1}: found with the number {0} {2}; expected a FITS file",
                                 name, part.hdu ? "hdu" : "plane", *value));
  }
  return *number;
}

void check_given_map(const std::string& name, const std::string& value, bool positive) {
  (void)number_in(name, value, positive);
}

std::string given_as_typed(const std::string& name, const GivenFile& given) {
  std::string text;
  if (given.path) text += fmt::format(" {} {}", name, *given.path);
  if (given.part.hdu) text += fmt::format(" {}-hdu {}", name, *given.part.hdu);
  if (given.part.plane) text += fmt::format(" {}-plane {}", name, *given.part.plane);
  return text;
}

std::string given_as_typed(const std::string& name, const GivenMap& given) {
  if (const auto* number = std::get_if<double>(&given)) return fmt::format(" {} {}", name, *number);
  return given_as_typed(name, std::get<GivenFile>(given));
}

std::string given_name(const GivenFile& given, const std::string& own) {
  std::string text = given.path.value_or(own);
  if (given.part.hdu) text += "[" + *given.part.hdu + "]";
  if (given.part.plane) text += fmt::format(", plane {}", *given.part.plane);
  return text;
}

}  // namespace kastor::cli
