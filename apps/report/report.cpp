// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <kastor/error.hpp>
#include <kastor/version.hpp>

#include "cli/report/json.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/python_script.hpp"
#include "evaluate/evaluate.hpp"
#include "find/find_one.hpp"
#include "find/find_outputs.hpp"
#include "report/report_options.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

/// The command as typed, in the words of a shell.
std::string typed_command(Arguments arguments) {
  std::string text = "kastor report";
  for (const std::string_view word : arguments) {
    const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("_-./,=:@%+").find(c) != std::string_view::npos;
    });
    text += " ";
    if (is_plain) {
      text += word;
      continue;
    }
    text += "'";
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    text += "'";
  }
  return text;
}

/// The files that the script reads. They are never committed, so they are removed in any case.
class ReportFiles {
 public:
  std::string add(const std::string& name) {
    return m_set.add(temporary_target("report", name), io::OverwritePolicy::refuse);
  }

 private:
  io::OutputSet m_set;
};

/// Searches the image, and adds to `job` what was found.
void search(const ReportOptions& options, Session& session, FoundImage& found,
            const FindOutputs& outputs, Json& job) {
  search_one(session, HostPixels::not_needed, found, outputs);
  const ScopedStep step(session.steps(), "write");
  const FoundCatalogue catalogue(found);
  catalogue.write(outputs.catalogues());
  const auto path_or_null = [](const std::vector<StagedCatalogue>& catalogues) {
    return catalogues.empty() ? Json(nullptr) : Json(catalogues.front().path);
  };
  job["hdu"] = found.image.hdu.index;
  job["plane"] =
      options.find.input.read.plane ? Json(*options.find.input.read.plane) : Json(nullptr);
  job["find"] = Json::parse(catalogue.json());
  job["sources"] = path_or_null(outputs.catalogues().islands);
  job["components"] = path_or_null(outputs.catalogues().components);
  job["background"] = text_or_null(outputs.background_map);
  job["rms"] = text_or_null(outputs.rms_map);
}

/// What `find` writes for the page: all under temporary names.
FindOptions with_outputs(FindOptions options) {
  options.json = true;  // with the hashes
  options.outputs = {temporary_target("report", "sources.fits")};
  auto& islands = options.islands;
  if (islands.preset == Preset::lesson) return options;
  islands.background_map = temporary_target("report", "background.fits");
  islands.rms_map = temporary_target("report", "rms.fits");
  if (islands.components.reports)
    islands.components.files = {temporary_target("report", "components.fits")};
  return options;
}

void write_job(const std::string& path, const Json& job) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary);
  stream << json_line(job);
  stream.close();
  if (!stream) {
    throw Error(path + ": cannot be written (" + std::strerror(errno) +
                "); expected room for it (TMPDIR chooses the folder)");
  }
}

void draw_page(const PythonScript& script, const std::string& job, const std::string& image,
               const std::string& page) {
  bool is_done = false;
  const int code = script.run({"run", job, image, page}, [&](const Json& line) {
    if (line.contains("failed")) throw Error("report.py: " + line.at("failed").get<std::string>());
    is_done = line.contains("done");
  });
  if (code != 0 || !is_done) {
    throw Error("report.py: ended with exit code " + std::to_string(code) +
                " before the page was drawn; expected 0");
  }
}

}  // namespace

void run_report(Arguments arguments) {
  ReportOptions options;
  if (!parse_report(arguments, options)) return;
  io::OutputSet outputs;
  const std::string page =
      outputs.add(options.page, overwrite_policy(options.find.overwrite), options.inputs());
  const PythonScript script({"report", "report.py", "astropy, matplotlib and Jinja2"},
                            options.python);
  ReportFiles files;
  Session session(options.find.run);
  FoundImage found;
  found.options = with_outputs(options.find);
  const FindOutputs searched(found.options);
  const auto& image = options.find.input.path;
  Json job{{"name", std::filesystem::path(image).filename().string()},
           {"command", typed_command(arguments)},
           {"version", version()}};
  search(options, session, found, searched, job);
  if (options.truth) {
    const std::string pairs = files.add("pairs.fits");
    FoundImage again;
    job["evaluation"] = Json::parse(evaluate_image(session, options.evaluation(), pairs, again));
    job["pairs"] = pairs;
  }
  if (options.reference) {
    const auto& written = searched.catalogues();
    const auto& tested = written.components.empty() ? written.islands : written.components;
    const std::string matches = files.add("matches.fits");
    job["comparison"] =
        Json::parse(compare_catalogues(session, options.comparison(tested.front().path), matches));
    job["compared"] = matches;
    job["reference"] = std::filesystem::path(*options.reference).filename().string();
  }
  session.steps().begin("draw");
  const std::string job_path = files.add("job.json");
  write_job(job_path, job);
  draw_page(script, job_path, image, page);
  session.steps().end();
  session.end_progress();
  outputs.commit();
  session.close(wrote_note({options.page}), pixels_of(found.image));
}

}  // namespace kastor::cli
