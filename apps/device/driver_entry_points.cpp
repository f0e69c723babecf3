// SPDX-License-Identifier: Apache-2.0
// Kokkos calls three functions of the CUDA driver library, libcuda.so.1. A program that links to
// that library does not start on a machine without a driver, such as a login node, not even to
// compute on the CPU. So the program defines these three functions. When they are called, they get
// the real ones from the CUDA runtime, which starts without a driver.
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace {

/// \param since  the CUDA version that introduced the variant that Kokkos calls; later variants
///               have other parameters
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

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {  // cuda.h renames it to cuCtxPushCurrent_v2
  static auto* const real = driver_function<CUresult(CUcontext)>("cuCtxPushCurrent", 4000);
  return real == nullptr ? CUDA_ERROR_NOT_INITIALIZED : real(context);
}

#undef cuStreamGetCtx
CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext* context) {
  static auto* const real = driver_function<CUresult(CUstream, CUcontext*)>("cuStreamGetCtx", 9020);
  return real == nullptr ? CUDA_ERROR_NOT_INITIALIZED : real(stream, context);
}

}  // extern "C"
