// SPDX-License-Identifier: Apache-2.0
#include <KokkosKernels_config.h>

#include <Kokkos_Core.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/library_versions.hpp>
#include <kastor/version.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/report/format.hpp"
#include "cli/report/report.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/session.hpp"
#include "device/probe.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct InfoOptions {
  std::optional<std::string> path;  ///< none: show this build
  std::int64_t max_unpacked = 0;    ///< as in `io::ReadOptions`
  RunOptions run;
  bool json = false;
};

bool parse(Arguments arguments, InfoOptions& options) {
  CommandLine line("kastor info",
                   "Without FILE, show the backends, devices and libraries of this build.\n"
                   "With FILE, list the HDUs of a FITS file without reading its data.\n");
  line.optional_positional("FILE", options.path, "FITS file: plain, .gz, .bz2 or tile-compressed.");
  line.heading("Input");
  add_unpacked_option(line, options.max_unpacked);
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "Example:\n"
      "  kastor info\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor info sky.fits");
  return line.parse(arguments);
}

std::string dotted(int version, int major, int minor) {
  return fmt::format("{}.{}.{}", version / major, version % major / minor, version % minor);
}

BuildInfo build_info(const KokkosSession& kokkos) {
  BuildInfo info;
  info.version = version();
  for (const auto& backend : compiled_backends()) {
    const bool usable = kokkos.usable(backend);
    int concurrency = 0;
    if (usable) {
      on_backend(backend.name, [&](const auto& space) { concurrency = space.concurrency(); });
    }
    info.backends.push_back({backend.name, usable, usable ? "" : device::probe().trouble,
                             backend.name == kokkos.standard_backend(), concurrency});
  }
  info.devices = device::probe().names;
  info.libraries = {{"kokkos", dotted(KOKKOS_VERSION, 10000, 100)},
                    {"kokkos_kernels", dotted(KOKKOSKERNELS_VERSION, 10000, 100)}};
  for (const auto& library : io::library_versions())
    info.libraries.push_back({library.name, library.version});
  info.libraries.insert(info.libraries.end(), {{"fmt", dotted(FMT_VERSION, 10000, 100)},
                                               {"cli11", command_line_library_version()},
                                               {"nlohmann_json", json_library_version()}});
  return info;
}

void print_hdus(const std::string& path, std::int64_t max_unpacked, bool json) {
  std::string unread;
  const auto hdus = io::list_hdus(path, max_unpacked, &unread);
  std::vector<std::string> notes;
  if (!unread.empty()) notes.push_back("what follows cannot be read: " + unread);
  print_result(json ? hdus_json(path, hdus, notes) : hdus_text(path, hdus, notes));
}

}  // namespace

void run_info(Arguments arguments) {
  InfoOptions options;
  if (!parse(arguments, options)) return;
  Session session(options.run);
  if (options.path) {
    session.steps().begin("list");
    print_hdus(*options.path, options.max_unpacked, options.json);
    session.steps().end();
  } else {
    const BuildInfo info = build_info(session.kokkos());
    print_result(options.json ? build_json(info) : build_text(info));
  }
  session.close("", 0);
}

}  // namespace kastor::cli
