# SPDX-License-Identifier: Apache-2.0
# kastor_add_mpi_library(<target> <MPI target>)
# The sources of kastor::mpi, compiled for one MPI. They include nothing of Kokkos.
function(kastor_add_mpi_library target mpi)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/*.cpp)
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC kastor::kastor ${mpi})
  # Without the C++ bindings, which would need a library more and were dropped by MPI 3.0.
  target_compile_definitions(${target} PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  kastor_set_up_target(${target} PLAIN_CXX ${sources})
endfunction()
