// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_SESSION_HPP
#define KASTOR_APPS_CLI_RUN_SESSION_HPP

#include <cstdint>
#include <functional>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/image_reader.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "cli/options/options.hpp"
#include "cli/report/progress.hpp"
#include "cli/report/steps.hpp"
#include "cli/run/backends.hpp"

namespace kastor::cli {

/// Whether a subcommand looks at the image's pixels itself, too.
enum class HostPixels { needed, not_needed };

/// One run of a subcommand: Kokkos, the timings and what the user sees meanwhile.
class Session {
 public:
  explicit Session(const RunOptions& options);

  [[nodiscard]] StepRecorder& steps() { return m_steps; }
  [[nodiscard]] const KokkosSession& kokkos() const { return *m_kokkos; }

  /// Calls `visit(space)` on the chosen backend.
  template <class Visitor>
  void on_backend(Visitor&& visit) {
    with_memory_explained(
        [&] { cli::on_backend(m_kokkos->backend(), std::forward<Visitor>(visit)); });
  }

  /// Runs `job`; adds to a failed allocation what was free before it.
  static void with_memory_explained(const std::function<void()>& job);
  /// The same, the failure under the name that `image` has by then.
  static void with_memory_explained(const io::FitsImage& image, const std::function<void()>& job);

  /// Reads an image to where the chosen backend works and calls `job(space, pixels)`. Before that
  /// `image` is set to what the file says of it; it has pixels if the backend is a host's, or they
  /// are needed.
  template <class Job>
  void on_image(const InputOptions& input, HostPixels host, io::FitsImage& image, Job&& job) {
    cli::on_backend(m_kokkos->backend(), [&](const auto& space) {
      using Exec = std::decay_t<decltype(space)>;
      if constexpr (!is_host_space_v<Exec>) {
        if (host == HostPixels::not_needed) {
          const auto pixels = read_to_device(space, input, image);
          with_memory_explained(
              image, [&] { std::visit([&](const auto& view) { job(space, view); }, pixels); });
          return;
        }
      }
      {
        const ScopedStep step(m_steps, "read");
        image = io::read_image(input.path, input.read);
      }
      with_memory_explained(image, [&] {
        std::visit([&](const auto& view) { job(space, upload(space, view)); }, image.pixels);
      });
    });
  }

  /// Shows another text than the step at work in the progress line.
  void show(std::function<std::string()> text);
  /// Erases the progress line for now, where a result or a failure is to be printed.
  void make_room() const;
  /// Erases the progress line: from here on the terminal is for results.
  void end_progress() { m_progress.reset(); }
  /// The last words, on stderr: a note (not with --quiet) and the timings (if asked for).
  void close(const std::string& note, std::int64_t pixels);

 private:
  /// `readable_on()` as a step of its own, where there is something to copy.
  template <class Exec, class HostView>
  [[nodiscard]] auto upload(const Exec& space, const HostView& host) {
    if constexpr (is_host_space_v<Exec>) {
      return readable_on(space, host);
    } else {
      const ScopedStep step(m_steps, "upload");
      return readable_on(space, host);
    }
  }

  /// Reading and copying at once; the buffers between are gone when it returns.
  template <class Exec>
  [[nodiscard]] auto read_to_device(const Exec& space, const InputOptions& input,
                                    io::FitsImage& image) {
    const ScopedStep step(m_steps, "read and upload");
    io::LoadedImage<Exec> loaded;
    with_memory_explained(loaded.about, [&] {
      io::ImageReader<Exec> reader(space);
      reader(input.path, input.read, loaded);
    });
    image = std::move(loaded.about);
    return loaded.pixels;
  }

  RunOptions m_options;
  StepRecorder m_steps;
  std::optional<KokkosSession> m_kokkos;
  std::optional<ProgressLine> m_progress;
};

}  // namespace kastor::cli

#endif
