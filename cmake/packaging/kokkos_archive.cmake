# SPDX-License-Identifier: Apache-2.0
# cmake -D KASTOR_DEPS_DIR=... [-D KASTOR_KOKKOS_SDIST=...] -P kokkos_archive.cmake prints the path of the archive with the
# sources of Kokkos and Kokkos Kernels, checked; it is downloaded by pip where it is not there.
include(${CMAKE_CURRENT_LIST_DIR}/../dependencies/KokkosSource.cmake)
kastor_obtain_sdist(archive newest)
execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${archive})
