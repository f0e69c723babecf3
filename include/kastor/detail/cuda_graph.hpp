// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CUDA_GRAPH_HPP
#define KASTOR_DETAIL_CUDA_GRAPH_HPP

#include <Kokkos_Core.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <cstddef>
#include <cstdint>
#include <exception>
#include <kastor/detail/kernel_sequence.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace kastor::detail {

/// First each call notes what kernels it would enqueue, with all bytes of their arguments. When a
/// call's are those of the call before, they are recorded as a graph, and as long as they stay the
/// same the graph is launched. So what the graph does is what the call would have done, whatever
/// its arguments come from. Where a tool listens to Kokkos, which would not see the kernels of a
/// graph, all are enqueued one by one; so they are where Kokkos fences after each, as it does to
/// check bounds.
template <>
class KernelSequence<Kokkos::Cuda> {
 public:
  /// `wanted`: if not, all are enqueued one by one. While a graph is recorded, CUDA refuses that
  /// another thread waits for the whole device.
  KernelSequence(const Kokkos::Cuda& space, bool wanted) : m_space(space) {
#ifndef KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK
    if (wanted) m_recorder = std::make_unique<Recorder>(space);
#endif
  }
  KernelSequence(const KernelSequence&) = delete;
  KernelSequence& operator=(const KernelSequence&) = delete;
  ~KernelSequence() { forget(); }

  /// `input`: if it is null or another one than the call before had, nothing is noted. `enqueue`
  /// may be called twice. Its kernels go through enqueue_kernel; what else it enqueues, on a first
  /// call, may come before all of them.
  template <class Enqueue>
  void operator()(const void* input, const Enqueue& enqueue) {
    const bool is_known = input != nullptr && input == m_input;
    m_input = input;
    if (!is_known || m_recorder == nullptr || current() != nullptr ||
        Kokkos::Tools::profileLibraryLoaded() || is_being_recorded(m_space)) {
      forget();
      return enqueue();
    }
    m_notes.clear();
    work(Mode::noting, enqueue);
    if (m_notes.empty() || m_notes != m_last_notes) {
      forget();
      m_last_notes = m_notes;
      return enqueue();
    }
    if (m_graph == nullptr) record(enqueue);
    if (m_graph == nullptr) return enqueue();
    if (cudaGraphLaunch(m_graph, m_space.cuda_stream()) != cudaSuccess) {
      give_up();
      enqueue();
    }
  }

  [[nodiscard]] bool is_recorded() const { return m_graph != nullptr; }

  /// Of this thread.
  [[nodiscard]] static KernelSequence*& current() {
    thread_local KernelSequence* sequence = nullptr;
    return sequence;
  }
  /// `starts_early`: it waits for the end of the kernel before by itself (StartedEarly).
  template <class Kernel, class Launch>
  void take(std::int64_t size, const Kernel& kernel, const Launch& launch, bool starts_early) {
    if (m_mode == Mode::recording) {
      if (m_recorded > 0 && starts_early && m_lets_start_early) start_next_early();
      m_lets_start_early = starts_early;
      ++m_recorded;
      return launch(m_recorder->space);
    }
    static const char kind = 0;  // another one for every type
    const char* const kind_of_this = &kind;
    note(kind_of_this);
    note(size);
    Kernel copy(kernel);
#if __has_builtin(__builtin_clear_padding)
    // What lies between the members is not the same from call to call.
    __builtin_clear_padding(&copy);
#endif
    note(copy);
  }

 private:
  enum class Mode { noting, recording };

  /// A stream that nothing else waits for.
  struct Stream {
    cudaStream_t stream = nullptr;
    explicit Stream(const Kokkos::Cuda& space) {
      int device = 0;
      cudaGetDevice(&device);
      cudaSetDevice(space.cuda_device());
      const cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      cudaSetDevice(device);
      if (error != cudaSuccess)
        throw std::runtime_error(std::string("kastor: no stream for a CUDA graph: ") +
                                 cudaGetErrorString(error));
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(stream); }
  };
  /// An instance with such a stream.
  struct Recorder {
    Stream own;
    Kokkos::Cuda space;
    explicit Recorder(const Kokkos::Cuda& of) : own(of), space(own.stream) {}
  };

  /// By the owner of the instance.
  [[nodiscard]] static bool is_being_recorded(const Kokkos::Cuda& space) {
    auto status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(space.cuda_stream(), &status) == cudaSuccess)
      return status != cudaStreamCaptureStatusNone;
    (void)cudaGetLastError();
    return true;
  }
  template <class Enqueue>
  void work(Mode mode, const Enqueue& enqueue) {
    struct AtWork {
      explicit AtWork(KernelSequence* sequence) { current() = sequence; }
      ~AtWork() { current() = nullptr; }
    };
    m_mode = mode;
    const AtWork at_work(this);
    enqueue();
  }
  /// Leaves no graph if it cannot be done.
  template <class Enqueue>
  void record(const Enqueue& enqueue) {
    const auto stream = m_recorder->own.stream;
    m_recorded = 0;
    cudaGraph_t recorded = nullptr;
    bool works = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess;
    if (works) {
      try {
        work(Mode::recording, enqueue);
      } catch (const std::exception&) {  // as where another thread has spoilt it
        works = false;
      }
      works = (cudaStreamEndCapture(stream, &recorded) == cudaSuccess) && works;
    }
    // Nothing but the kernels.
    std::size_t nodes = 0;
    works = works && cudaGraphGetNodes(recorded, nullptr, &nodes) == cudaSuccess &&
            nodes == m_recorded && cudaGraphInstantiate(&m_graph, recorded, 0) == cudaSuccess;
    if (recorded != nullptr) cudaGraphDestroy(recorded);
    if (!works) give_up();
  }
  /// What is recorded next is started without the end of the kernel before, where kernels can wait
  /// for that themselves.
  void start_next_early() const {
#if CUDART_VERSION >= 13000 && (defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL))
    if (m_space.cuda_device_prop().major < 9) return;
    const auto stream = m_recorder->own.stream;
    auto status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* last = nullptr;
    std::size_t count = 0;
    if (cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &count) !=
        cudaSuccess) {
      (void)cudaGetLastError();  // so that Kokkos does not find it
      return;
    }
    if (status != cudaStreamCaptureStatusActive || count != 1) return;
    cudaGraphNode_t before = *last;
    cudaGraphEdgeData edge{};
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
    edge.type = cudaGraphDependencyTypeProgrammatic;
    if (cudaStreamUpdateCaptureDependencies(stream, &before, &edge, 1,
                                            cudaStreamSetCaptureDependencies) != cudaSuccess)
      (void)cudaGetLastError();
#endif
  }
  void give_up() {
    forget();
    m_recorder.reset();
    (void)cudaGetLastError();  // so that Kokkos does not find it
  }
  template <class V>
  void note(const V& value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    m_notes.insert(m_notes.end(), first, first + sizeof(V));
  }
  void forget() {
    m_last_notes.clear();
    if (m_graph != nullptr) cudaGraphExecDestroy(m_graph);
    m_graph = nullptr;
  }

  Kokkos::Cuda m_space;
  Mode m_mode = Mode::noting;
  const void* m_input = nullptr;
  std::vector<std::byte> m_notes, m_last_notes;
  std::unique_ptr<Recorder> m_recorder;  ///< null: not wanted, or it does not work
  std::size_t m_recorded = 0;            ///< kernels
  bool m_lets_start_early = false;       ///< the last of them
  cudaGraphExec_t m_graph = nullptr;
};

}  // namespace kastor::detail
#endif

#endif
