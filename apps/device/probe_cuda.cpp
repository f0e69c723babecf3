// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "device/probe.hpp"

namespace kastor::device {

const Probe& probe() {
  static const Probe found = [] {
    Probe p;
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
      p.trouble = cudaGetErrorString(error);
      (void)cudaGetLastError();
      return p;
    }
    for (int i = 0; i < count; ++i) {
      cudaDeviceProp properties{};
      if (cudaGetDeviceProperties(&properties, i) == cudaSuccess)
        p.names.emplace_back(properties.name);
    }
    if (p.names.empty()) p.trouble = "no CUDA-capable device is detected";
    return p;
  }();
  return found;
}

Memory memory() {
  Memory m;
  if (probe().names.empty() || cudaMemGetInfo(&m.free_bytes, &m.total_bytes) != cudaSuccess)
    return {};
  return m;
}

}  // namespace kastor::device
