# SPDX-License-Identifier: Apache-2.0
# Writes <build>/include/kastor/detail/instantiations.hpp: the backends for which the library is
# compiled, according to the Kokkos that was found. No other file of the build names backends.
#
# Each line: Kokkos' name of the device, its execution space, its name in the command. The first one
# that is enabled is the reference: all others must give the same bits.
set(kastor_known_backends
  "SERIAL Kokkos::Serial serial"
  "OPENMP Kokkos::OpenMP openmp"
  "CUDA Kokkos::Cuda cuda")

set(for_each_exec "")
set(for_each_exec_and_real "")
set(for_each_named_exec "")
set(backend_types "")
foreach(line IN LISTS kastor_known_backends)
  separate_arguments(words UNIX_COMMAND "${line}")
  list(GET words 0 device)
  list(GET words 1 exec)
  list(GET words 2 name)
  if(device IN_LIST Kokkos_DEVICES)
    list(APPEND for_each_exec "MACRO(${exec})")
    list(APPEND for_each_exec_and_real "MACRO(${exec}, float)" "MACRO(${exec}, double)")
    list(APPEND for_each_named_exec "MACRO(\"${name}\", ${exec})")
    list(APPEND backend_types ${exec})
  endif()
endforeach()
if(NOT backend_types)
  message(FATAL_ERROR "The Kokkos found has the backends '${Kokkos_DEVICES}', of which Kastor supports none")
endif()

set(continued " \\\n  ")
list(JOIN for_each_exec "${continued}" KASTOR_EXEC_LINES)
list(JOIN for_each_exec_and_real "${continued}" KASTOR_EXEC_AND_REAL_LINES)
list(JOIN for_each_named_exec "${continued}" KASTOR_NAMED_EXEC_LINES)
list(JOIN backend_types ", " KASTOR_BACKEND_TYPES)

set(KASTOR_GENERATED_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
configure_file(${CMAKE_CURRENT_LIST_DIR}/instantiations.hpp.in
               ${KASTOR_GENERATED_INCLUDE_DIR}/kastor/detail/instantiations.hpp @ONLY)
