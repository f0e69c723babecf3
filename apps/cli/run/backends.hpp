// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_BACKENDS_HPP
#define KASTOR_APPS_CLI_RUN_BACKENDS_HPP

#include <Kokkos_Core.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <kastor/image.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kastor::cli {

/// More threads would overrun a table in Kokkos' OpenMP backend (4.7:
/// OpenMPTraits::MAX_THREAD_COUNT).
inline constexpr int most_threads = 512;

struct Backend {
  std::string name;     ///< as given to --on
  bool device = false;  ///< has its own memory
  int rank = 0;         ///< a faster backend has a higher rank
};

/// The backends that the library was compiled for, in the order of the generated list.
[[nodiscard]] const std::vector<Backend>& compiled_backends();

/// Calls `visit(space)` with the default instance of the backend of that name.
template <class Visitor>
void on_backend(const std::string& name, Visitor&& visit) {
#define KASTOR_CLI_VISIT(NAME, EXEC) \
  if (name == NAME) {                \
    visit(EXEC{});                   \
    return;                          \
  }
  KASTOR_FOR_EACH_NAMED_EXEC(KASTOR_CLI_VISIT)
#undef KASTOR_CLI_VISIT
  throw Error(name + ": no such backend; expected one that is compiled in");
}

/// Kokkos runs from construction to destruction, or longer if it ran before, as in a Python
/// process. It never sees the program's argv.
class KokkosSession {
 public:
  /// \param wanted   a name of `compiled_backends`, or none for the fastest usable one
  /// \param threads  of the CPU backend; none leaves the choice to OMP_NUM_THREADS and the machine
  /// \throws Error if the backend has no usable device
  KokkosSession(const std::optional<std::string>& wanted, std::optional<int> threads);
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;

  [[nodiscard]] const std::string& backend() const { return m_backend; }
  /// The default: the fastest usable backend.
  [[nodiscard]] const std::string& standard_backend() const { return m_standard; }
  /// False for a device if a CPU backend was wanted, since then no device is started.
  [[nodiscard]] bool usable(const Backend& backend) const;
  [[nodiscard]] bool has_device() const { return m_device_usable; }

 private:
  bool m_device_usable = false;
  bool m_is_guest = false;  ///< Kokkos ran before
  std::string m_standard;
  std::string m_backend;
};

/// A host image in memory that `Exec` can read: the image itself, or a copy in device memory.
template <class Exec, class HostView>
[[nodiscard]] auto readable_on(const Exec& space, const HostView& host) {
  using T = typename HostView::non_const_value_type;
  if constexpr (is_host_space_v<Exec>) {
    return host;
  } else {
    Image<T, Exec> device(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::image"),
        host.extent(0), host.extent(1));
    Kokkos::deep_copy(space, device, host);
    space.fence("kastor::app: the image is on the device");
    return device;
  }
}

/// A View that `Exec` wrote, in memory that the host can read. Fences `space`.
template <class Exec, class View>
[[nodiscard]] auto readable_on_host(const Exec& space, const View& view) {
  if constexpr (is_host_space_v<Exec>) {
    space.fence("kastor::app: the host reads");
    return view;
  } else {
    auto host = Kokkos::create_mirror_view(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::HostSpace{}), view);
    Kokkos::deep_copy(space, host, view);
    space.fence("kastor::app: the host reads");
    return host;
  }
}

}  // namespace kastor::cli

#endif
