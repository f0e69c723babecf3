// SPDX-License-Identifier: Apache-2.0
#include "find/find_many.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <kastor/io/output_set.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/report/streams.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "find/folder_outputs.hpp"
#include "find/image_loader.hpp"
#include "find/image_names.hpp"
#include "find/image_queue.hpp"
#include "find/outcome_log.hpp"
#include "find/read_ahead_finder.hpp"
#include "find/work_queue.hpp"

namespace kastor::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Outcome failed(const std::string& why) {
  Outcome outcome;
  outcome.state = Outcome::State::failed;
  outcome.failure = why;
  return outcome;
}

/// Writes the catalogues of one image, all or none, and returns the outcome. The JSON is that of
/// `kastor find` on this image alone. \throws kastor::Error
Outcome write_found(const FoundImage& found, OutputFolders& folders) {
  io::OutputSet outputs;
  std::vector<std::string> inputs = given_files_of(found.options);
  inputs.push_back(found.options.input.path);
  const auto stage = [&](FolderOutputs& folder) {
    return folder.add_to(outputs, folder.of(found.index), overwrite_policy(found.options.overwrite),
                         inputs);
  };
  const StagedCatalogues staged{stage(folders.islands), stage(folders.components)};
  Outcome outcome;
  outcome.state = Outcome::State::found;
  outcome.unit = found.image.hdu.unit;
  outcome.pixels = pixels_of(found.image);
  outcome.seconds = found.seconds;
  outcome.sources = found.sources();
  outcome.level = found.level();
  if (!staged.empty() || found.options.json) {
    const FoundCatalogue catalogue(found);
    catalogue.write(staged);
    if (found.options.json) outcome.json = catalogue.json();
  }
  outputs.commit();
  return outcome;
}

/// Reading ahead more than a few GiB of images would gain nothing.
ImageQueueParams queue_params(int readers) {
  const std::int64_t memory =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return {readers, static_cast<std::size_t>(2 * readers + 2),
          std::min(memory / 4, std::int64_t{4} << 30), memory / 2};
}

struct FileThreads {
  int readers, writers;
};
/// The threads that read and write files while the backend searches an image.
FileThreads file_threads() {
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  return {io::reads_in_parallel() ? std::clamp(threads / 4, 1, 4) : 1,
          std::clamp(threads / 8, 1, 2)};
}

bool is_one_folder(const std::vector<std::string>& outputs) {
  return outputs.size() == 1 && names_folder(outputs.front());
}

class ManyImages {
 public:
  ManyImages(std::vector<std::string> images, FindOptions options)
      : m_images(std::move(images)),
        m_options(std::move(options)),
        m_outputs(m_images, m_options),
        m_log(m_images),
        m_session(m_options.run) {}

  void run() {
    m_start = Clock::now();
    m_session.show(
        [this] { return progress_bar(m_log.known(), m_log.size(), seconds_since(m_start)); });
    m_session.on_backend([this](const auto& space) { run_on(space); });
    m_session.end_progress();
    if (!m_options.json && (!m_options.run.quiet || m_outputs.empty())) {
      const bool lesson = m_options.islands.preset == Preset::lesson;
      print_result(m_log.table(lesson ? "threshold" : "noise", seconds_since(m_start)));
    }
    m_session.close(m_options.json ? "" : note(), m_log.pixels());
    const auto failures = m_log.count(Outcome::State::failed);
    if (failures > 0) {
      throw Error(
          fmt::format("{} of {} images failed; expected none to fail", failures, m_log.size()));
    }
  }

 private:
  template <class Exec>
  void run_on(const Exec& space) {
    const auto [readers, writers] = file_threads();
    ImageLoader loader(
        m_images, m_options, m_outputs,
        is_host_space_v<Exec> ? ImageLoader::Pixels::as_read : ImageLoader::Pixels::pinned);
    ReadAheadFinder<Exec> finder(space, m_session.steps());
    WorkQueue write_queue(writers, 64);
    ImageQueue images(m_images.size(), queue_params(readers),
                      [&](ReadImage& image) { loader.load(image); });
    for (std::size_t i = 0; i < m_images.size(); ++i) {
      m_session.steps().begin("wait for the image");
      ReadImage& image = images.next();
      m_session.steps().end();
      take(image, finder, write_queue);
      images.release(image);
      tell();
    }
    m_session.steps().begin("wait for the catalogues");
    write_queue.finish();
    m_session.steps().end();
    tell();
  }

  template <class Exec>
  void take(ReadImage& image, ReadAheadFinder<Exec>& finder, WorkQueue& write_queue) {
    const std::size_t index = image.index;
    if (!image.failure.empty()) return m_log.set(index, failed(image.failure));
    if (image.up_to_date) {
      Outcome outcome;
      outcome.state = Outcome::State::up_to_date;
      return m_log.set(index, outcome);
    }
    const auto found = std::make_shared<FoundImage>();
    const auto why = failure_of(m_images[index], [&] { *found = finder(image); });
    if (!why.empty()) return m_log.set(index, failed(why));
    write_queue.add([this, found] {
      Outcome outcome;
      const auto why_not =
          failure_of(m_images[found->index], [&] { outcome = write_found(*found, m_outputs); });
      m_log.set(found->index, why_not.empty() ? std::move(outcome) : failed(why_not));
    });
  }

  /// Prints the news to stdout and stderr; only this thread does so.
  void tell() {
    const auto news = m_log.news(m_options.json);
    if (news.results.empty() && news.failures.empty()) return;
    m_session.make_room();
    if (!news.results.empty()) print_result(news.results);
    for (const auto& failure : news.failures) std::fprintf(stderr, "kastor: %s\n", failure.c_str());
  }

  [[nodiscard]] std::string note() const {
    if (m_outputs.empty()) return "";
    const auto found = m_log.count(Outcome::State::found);
    const auto skipped = m_log.count(Outcome::State::up_to_date);
    std::string text;
    if (found > 0 || skipped == 0)
      text = "wrote the catalogues of " + count_of(found, "image") + " to " + m_outputs.names();
    if (skipped > 0) {
      text += (text.empty() ? "" : "; ") + std::string("skipped ") + count_of(skipped, "image") +
              ", whose catalogues were up to date";
    }
    return text;
  }

  std::vector<std::string> m_images;
  FindOptions m_options;
  OutputFolders m_outputs;
  OutcomeLog m_log;
  Clock::time_point m_start;
  Session m_session;  // last, since its progress line reads the log
};

}  // namespace

bool is_of_many(const FindOptions& options) {
  return options.images.size() > 1 || is_list(options.images.front()) || options.resume ||
         !options.formats.empty() || is_one_folder(options.outputs) ||
         is_one_folder(options.islands.components.files);
}

void find_many(FindOptions options) {
  check_options_of_many(options);
  options.reports_components = options.json;
  auto images = image_names(options.images);
  options.images.clear();
  ManyImages(std::move(images), std::move(options)).run();
}

}  // namespace kastor::cli
