// SPDX-License-Identifier: Apache-2.0
#include "cli/run/truth_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <kastor/error.hpp>

#include "cli/report/format.hpp"
#include "io/text.hpp"

namespace kastor::cli {
namespace {

std::string_view name_of(SourceShape shape) {
  switch (shape) {
    case SourceShape::disk:
      return "disk";
    case SourceShape::ring:
      return "ring";
    case SourceShape::lobes:
      return "lobes";
    case SourceShape::moffat:
      return "moffat";
    case SourceShape::gaussian:
      break;
  }
  return "gaussian";
}

}  // namespace

void write_truth(const std::string& path, const std::vector<TrueSource>& truth) {
  errno = 0;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr;
  std::string text = "x,y,flux_peak,flux_int,fwhm,minor,angle,shape,rms,snr,group\n";
  const auto flush = [&] {
    written = written && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    text.clear();
  };
  for (const auto& source : truth) {
    if (text.size() > std::size_t{1} << 16) flush();
    text += fmt::format("{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{},", source.x,
                        source.y, source.flux_peak, source.flux_int, source.fwhm, source.minor,
                        source.angle, name_of(source.shape));
    text += fmt::format("{:.17g},{:.17g},{}\n", source.rms, source.snr, source.group);
  }
  flush();
  // Writing the last bytes may fail only on closing.
  if (file != nullptr) written = (std::fclose(file) == 0) && written;
  if (!written) {
    throw Error(io::detail::shown_output(path) + ": cannot be written (" + std::strerror(errno) +
                "); expected room for a table of " + std::to_string(truth.size()) + " sources");
  }
}

}  // namespace kastor::cli
