# SPDX-License-Identifier: Apache-2.0
# kastor_device_probe: what Kastor's programs ask before Kokkos starts: whether there is a device,
# and its name. It is an object library, so that the linker meets its copies of three driver
# functions before the driver library. Then the driver library is not needed to start the program
# (apps/device/driver_entry_points.cpp).
if(Kokkos_ENABLE_CUDA)
  find_package(CUDAToolkit REQUIRED)
  add_library(kastor_device_probe OBJECT EXCLUDE_FROM_ALL
    apps/device/probe_cuda.cpp apps/device/driver_entry_points.cpp)
  target_link_libraries(kastor_device_probe PUBLIC CUDA::cudart_static)
  target_link_options(kastor_device_probe INTERFACE LINKER:--as-needed)
else()
  add_library(kastor_device_probe OBJECT EXCLUDE_FROM_ALL apps/device/probe_none.cpp)
endif()
set_target_properties(kastor_device_probe PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(kastor_device_probe PUBLIC apps)
target_compile_features(kastor_device_probe PUBLIC cxx_std_20)
