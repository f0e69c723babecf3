// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_RUNTIME_HPP
#define KASTOR_PYTHON_RUNTIME_HPP

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <kastor/error.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "cli/run/backends.hpp"
#include "find/image_finder.hpp"

namespace kastor::python {

/// There is no such backend, or it has no device, or it cannot be used after a fork.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Says that a backend of the host cannot use an array on a GPU. \throws DeviceError
[[noreturn]] void refuse_device_array();

/// The name of the fastest backend that needs no device.
[[nodiscard]] std::string fastest_of_host();

/// After a fork, the thread that forked cannot start a parallel region of OpenMP: it would wait for
/// threads that are not there any more. Kokkos starts one even for Serial, where it copies or fills
/// a View of the host. While this lives, such regions have one thread.
class RegionsOfOneThread {
 public:
  explicit RegionsOfOneThread(bool is_fork);
  ~RegionsOfOneThread();
  RegionsOfOneThread(const RegionsOfOneThread&) = delete;
  RegionsOfOneThread& operator=(const RegionsOfOneThread&) = delete;

 private:
  int m_levels_before = -1;  // negative: not changed
};

/// What one call at a time works with: an instance, and the plan of the last search.
template <class Exec>
struct Workplace {
  explicit Workplace(const Exec& instance) : space(instance), finder(instance, steps) {}

  Exec space;
  cli::StepRecorder steps{cli::StepRecorder::Purpose::nothing};
  cli::ImageFinder<Exec> finder;
  std::string finds_by;  ///< the options that `finder` was used with
};

/// Kokkos in a Python process, from the first use to the exit. Calls on Serial run side by side,
/// each on an instance of its own; those on OpenMP wait for each other. After a fork the child has
/// Serial alone, since OpenMP's threads are not there any more.
class Runtime {
 public:
  [[nodiscard]] static Runtime& get();

  /// \param threads  of OpenMP; none: OMP_NUM_THREADS, else all cores
  /// \param device   false: no GPU is started, so that forked processes can search
  /// \throws Error if Kokkos runs already with another number of threads, or with a GPU
  void start(std::optional<int> threads, bool device = true);
  [[nodiscard]] bool is_started() const { return m_session.has_value(); }
  /// The fastest that can be used if none is wanted. \throws DeviceError
  [[nodiscard]] std::string backend(const std::optional<std::string>& wanted);
  /// Those that can be used here and now; Kokkos is started.
  [[nodiscard]] std::vector<std::string> backends();
  /// At the exit of Python. Ends Kokkos if no other thread is left; if one is, as a daemon thread,
  /// its calls do not return any more: Python would end it in the middle of C++.
  void finish(bool is_alone);
  /// Frees the memory that calls keep for the next one.
  void release();
  /// Waits for the jobs of other threads, and lets none begin until `after_fork()`: a lock that one
  /// of them held would stay locked in the child. Not to be called with the interpreter's lock.
  void before_fork();
  void after_fork(bool is_child);

  /// While it lives, no other thread forks: a lock of Kokkos that this one holds would stay locked
  /// in the child. Also where a View is released. One within another changes nothing.
  class RunningJob {
   public:
    explicit RunningJob(Runtime& runtime);
    ~RunningJob();
    RunningJob(const RunningJob&) = delete;
    RunningJob& operator=(const RunningJob&) = delete;

   private:
    Runtime& m_runtime;
  };

  /// Calls `job(workplace)` on the backend of this name.
  /// \param stream  of CUDA; 0 is the default one
  template <class Job>
  void run(const std::string& backend, std::uintptr_t stream, const Job& job) {
    start({});
#define KASTOR_PYTHON_RUN(NAME, EXEC) \
  if (backend == NAME) return run_on<EXEC>(stream, job);
    KASTOR_FOR_EACH_NAMED_EXEC(KASTOR_PYTHON_RUN)
#undef KASTOR_PYTHON_RUN
  }

 private:
  template <class Exec>
  struct Pool {
    std::vector<std::unique_ptr<Workplace<Exec>>> idle;
    std::mutex one_at_a_time;
  };

  /// Takes a workplace out of the pool, and gives it back if the job ends well.
  template <class Exec, class Job>
  void run_on(std::uintptr_t stream, const Job& job) {
    std::unique_lock<std::mutex> alone(pool<Exec>().one_at_a_time, std::defer_lock);
    if constexpr (!std::is_same_v<Exec, Kokkos::Serial>) alone.lock();
    const RunningJob running(*this);
    const RegionsOfOneThread regions(m_is_fork);
    auto place = take<Exec>(stream);
    job(*place);
    const std::lock_guard lock(m_lock);
    if (m_session) pool<Exec>().idle.push_back(std::move(place));
  }

  /// Whether the calling thread is one that Python's exit has left behind.
  [[nodiscard]] bool is_left_behind() const {
    return m_is_ended && std::this_thread::get_id() != m_ender;
  }

  template <class Exec>
  std::unique_ptr<Workplace<Exec>> take([[maybe_unused]] std::uintptr_t stream) {
    const std::lock_guard lock(m_lock);
    auto& idle = pool<Exec>().idle;
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
      auto* const wanted = reinterpret_cast<cudaStream_t>(stream);
      for (auto& place : idle) {
        if (stream != 0 && place->space.cuda_stream() != wanted) continue;
        if (stream == 0 && place->space.cuda_stream() != Exec{}.cuda_stream()) continue;
        std::swap(place, idle.back());
        auto taken = std::move(idle.back());
        idle.pop_back();
        return taken;
      }
      return std::make_unique<Workplace<Exec>>(stream != 0 ? Exec(wanted) : Exec{});
    }
#endif
    if (!idle.empty()) {
      auto taken = std::move(idle.back());
      idle.pop_back();
      return taken;
    }
    if constexpr (std::is_same_v<Exec, Kokkos::Serial>) {
      return std::make_unique<Workplace<Exec>>(Exec(Kokkos::NewInstance{}));
    } else {
      return std::make_unique<Workplace<Exec>>(Exec{});
    }
  }

  template <class Exec>
  Pool<Exec>& pool() {
    static auto* const of_process = new Pool<Exec>;  // never destroyed: see `finish()`
    return *of_process;
  }

  std::mutex m_lock;
  std::optional<cli::KokkosSession> m_session;
  std::optional<int> m_threads;
  std::atomic<bool> m_is_fork = false;
  std::atomic<bool> m_is_ended = false;
  std::thread::id m_ender;
  int m_running = 0;  // jobs
  int m_forking = 0;  // threads that fork, or wait to
};

}  // namespace kastor::python

#endif
