// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_KERNEL_SEQUENCE_HPP
#define KASTOR_DETAIL_KERNEL_SEQUENCE_HPP

/// The kernels of a plan that is called again and again. A GPU begins a kernel about a microsecond
/// sooner after the one before if it knows them all (a CUDA graph), sooner still if it need not
/// wait for the end of that one, and a call has some fifteen.
namespace kastor::detail {

/// Of an execution space without such a thing; that of CUDA is in cuda_graph.hpp.
template <class Exec>
class KernelSequence {
 public:
  KernelSequence(const Exec&, bool) {}
  /// Enqueues what `enqueue()` does.
  template <class Enqueue>
  void operator()(const void*, const Enqueue& enqueue) {
    enqueue();
  }
  /// Whether the last call's kernels were launched as a graph.
  [[nodiscard]] static bool is_recorded() { return false; }
};

/// For a KernelSequence: where an image in one band lies; null if it has several.
template <class BandsOfImage>
[[nodiscard]] const void* place_of(const BandsOfImage& bands) {
  return bands.size() == 1 ? bands.front().data() : nullptr;
}

}  // namespace kastor::detail

#endif
