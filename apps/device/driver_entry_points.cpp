// SPDX-License-Identifier: Apache-2.0
// Kokkos calls three functions of the CUDA driver library, libcuda.so.1, by name. A program linked
// to that library does not start on a machine without a driver (a login node), not even to compute
// on the host. So the program brings these three itself and asks the CUDA runtime, which needs no
// driver to start, for the real ones when they are called.
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace {

/// `since`: the CUDA version that introduced the variant that Kokkos is linked to; newer ones have
/// other parameters.
template <class Function>
Function* driver_function(const char* name, unsigned since) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, since, cudaEnableDefault, &status);
  return error == cudaSuccess && status == cudaDriverEntryPointSuccess
             ? reinterpret_cast<Function*>(function)
             : nullptr;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  static auto* const real = driver_function<CUresult(CUdevice*)>("cuCtxGetDevice", 2000);
  return real == nullptr ? CUDA_ERROR_NOT_INITIALIZED : real(device);
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {  // cuda.h makes it cuCtxPushCurrent_v2
  static auto* const real = driver_function<CUresult(CUcontext)>("cuCtxPushCurrent", 4000);
  return real == nullptr ? CUDA_ERROR_NOT_INITIALIZED : real(context);
}

#undef cuStreamGetCtx
CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext* context) {
  static auto* const real = driver_function<CUresult(CUstream, CUcontext*)>("cuStreamGetCtx", 9020);
  return real == nullptr ? CUDA_ERROR_NOT_INITIALIZED : real(stream, context);
}

}  // extern "C"
