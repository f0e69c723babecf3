// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_STOPWATCH_HPP
#define KASTOR_APPS_BENCH_STOPWATCH_HPP

#include <Kokkos_Core.hpp>
#include <chrono>
#include <kastor/image.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/timing.hpp"
#include "cli/run/backends.hpp"

namespace kastor::bench {

/// Times jobs on one execution space instance, with fences before and after.
template <class Exec>
class Stopwatch {
 public:
  Stopwatch(const Exec& space, const TimingRules& rules) : m_space(space), m_rules(rules) {}

  template <class Job>
  [[nodiscard]] Timing time(const Job& job) const {
    return repeat(m_rules, [&] {
      m_space.fence("kastor::app: before the job");
      const auto start = std::chrono::steady_clock::now();
      job();
      m_space.fence("kastor::app: after the job");
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
  }

  /// Times the job with the copies to and from a device; none on a CPU backend.
  template <class Upload, class Job, class Download>
  [[nodiscard]] std::optional<Timing> time_with_transfers(const Upload& upload, const Job& job,
                                                          const Download& download) const {
    if constexpr (is_host_space_v<Exec>) {
      return std::nullopt;
    } else {
      return time([&] {
        upload();
        job();
        download();
      });
    }
  }

 private:
  Exec m_space;
  TimingRules m_rules;
};

/// Nothing to copy in this direction.
inline constexpr auto no_transfer = [] {};

template <class T, class Exec>
[[nodiscard]] Image<T, Exec> make_image(const Exec& space, std::size_t ny, std::size_t nx) {
  return Image<T, Exec>(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::bench_image"), ny, nx);
}

/// A View of the same shape in host memory, for the copy to the host; on a CPU backend, the View
/// itself.
template <class View>
[[nodiscard]] auto host_twin(const View& view) {
  return Kokkos::create_mirror_view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::HostSpace{}), view);
}

/// All elements of a contiguous View that `Exec` wrote. Fences `space`.
template <class Exec, class View>
[[nodiscard]] auto numbers_of(const Exec& space, const View& view) {
  const auto host = cli::readable_on_host(space, view);
  return std::vector<typename View::non_const_value_type>(host.data(), host.data() + host.size());
}

/// Returns the result of `visit(space)` on the backend of that name.
template <class Result, class Visitor>
[[nodiscard]] Result on_backend(const std::string& backend, const Visitor& visit) {
  Result result;
  cli::on_backend(backend, [&](const auto& space) { result = visit(space); });
  return result;
}

}  // namespace kastor::bench

#endif
