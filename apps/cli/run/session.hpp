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
#include "cli/run/blank_pixels.hpp"

namespace kastor::cli {

/// Whether a subcommand also needs the pixels of the image on the host.
enum class HostPixels { needed, not_needed };

/// One run of a subcommand: Kokkos, the timings and the progress line.
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

  /// Runs `job`. If an allocation fails, the message adds the memory that was free before.
  void with_memory_explained(const std::function<void()>& job) const;
  /// The same, with the name that `image` has when the allocation fails.
  void with_memory_explained(const io::FitsImage& image, const std::function<void()>& job) const;

  /// Reads an image into the memory of the chosen backend, sets `image` to its description, and
  /// calls `job(space, pixels)`. `image` has pixels if the backend is a CPU backend or if they are
  /// needed. `blanked()` then says how many pixels --blank-value made blank.
  template <class Job>
  void on_image(const InputOptions& input, HostPixels host, io::FitsImage& image, Job&& job) {
    cli::on_backend(m_kokkos->backend(), [&](const auto& space) {
      using Exec = std::decay_t<decltype(space)>;
      if constexpr (!is_host_space_v<Exec>) {
        if (host == HostPixels::not_needed && !input.blank) {
          const auto pixels = read_to_device(space, input, image);
          with_memory_explained(
              image, [&] { std::visit([&](const auto& view) { job(space, view); }, pixels); });
          return;
        }
      }
      {
        const ScopedStep step(m_steps, "read");
        image = io::read_image(input.path, input.read);
        m_blanked = blank_out(input, image);
      }
      with_memory_explained(image, [&] {
        std::visit([&](const auto& view) { job(space, upload(space, view)); }, image.pixels);
      });
    });
  }

  [[nodiscard]] std::int64_t blanked() const { return m_blanked; }

  /// Shows this text in the progress line, instead of the current step.
  void show(std::function<std::string()> text);
  /// Erases the progress line for now, before a result or a failure is printed.
  void make_room() const;
  /// Erases the progress line for good, before the results are printed.
  void end_progress() { m_progress.reset(); }
  /// Prints to stderr at the end: a note, unless --quiet is given, and the timings, if asked for.
  void close(const std::string& note, std::int64_t pixels);

 private:
  /// `readable_on()`, timed as a step if there is something to copy.
  template <class Exec, class HostView>
  [[nodiscard]] auto upload(const Exec& space, const HostView& host) {
    if constexpr (is_host_space_v<Exec>) {
      return readable_on(space, host);
    } else {
      const ScopedStep step(m_steps, "upload");
      return readable_on(space, host);
    }
  }

  /// Reads and copies at the same time. The intermediate buffers are freed when it returns.
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
  std::int64_t m_blanked = 0;
};

}  // namespace kastor::cli

#endif
