# SPDX-License-Identifier: Apache-2.0
# Every package that Kastor uses, with the oldest version that it accepts.

# A Kokkos that the enclosing project provides is used as it is.
if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos 4.5 CONFIG REQUIRED)
endif()
# So is its Kokkos Kernels. Only headers of it are used, and only to build Kastor: nothing is linked, and whoever links
# Kastor needs none.
if(NOT TARGET KokkosKernels::kokkoskernels)
  get_target_property(kokkos_is_installed Kokkos::kokkos IMPORTED)
  if(NOT kokkos_is_installed)
    message(FATAL_ERROR "Kokkos is a part of this build, but Kokkos Kernels 4.4 or newer, the headers of which Kastor is "
      "built with, is not (no target KokkosKernels::kokkoskernels): add it to the build before Kastor")
  endif()
  find_package(KokkosKernels CONFIG QUIET HINTS ${Kokkos_DIR}/../KokkosKernels)
  set(found nothing)
  if(KokkosKernels_FOUND)
    # The package file of 4.4 does not say its version.
    get_target_property(folders KokkosKernels::kokkoskernels INTERFACE_INCLUDE_DIRECTORIES)
    find_file(kokkos_kernels_header KokkosKernels_config.h PATHS ${folders} REQUIRED NO_DEFAULT_PATH NO_CACHE)
    file(STRINGS ${kokkos_kernels_header} version REGEX "^#define KOKKOSKERNELS_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+$" version "${version}")
    set(found "${version} in ${KokkosKernels_DIR}")
  endif()
  if(NOT KokkosKernels_FOUND OR version LESS 40400)
    message(FATAL_ERROR "Kokkos Kernels 4.4 or newer, the headers of which Kastor is built with, was found neither beside "
      "Kokkos (${Kokkos_DIR}) nor elsewhere (found: ${found}); name its prefix with -D KokkosKernels_ROOT=..., or build it "
      "with cmake/dependencies, as docs/install.md says")
  endif()
endif()
# To be linked after Kokkos::kokkos: the prefix of Kokkos Kernels may have the headers of another Kokkos.
add_library(kastor_kokkos_kernels INTERFACE IMPORTED GLOBAL)
target_include_directories(kastor_kokkos_kernels INTERFACE
  $<TARGET_PROPERTY:KokkosKernels::kokkoskernels,INTERFACE_INCLUDE_DIRECTORIES>)
if(NOT DEFINED Kokkos_DEVICES)  # inside another build there is no package file that sets it
  foreach(device IN ITEMS SERIAL OPENMP CUDA)
    if(Kokkos_ENABLE_${device})
      list(APPEND Kokkos_DEVICES ${device})
    endif()
  endforeach()
endif()
foreach(device IN LISTS KASTOR_REQUIRE_DEVICES)
  if(NOT device IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR "The Kokkos found has the backends '${Kokkos_DEVICES}'; ${device} is required (${Kokkos_DIR})")
  endif()
endforeach()

# If Kokkos was built so, CMake treats every source that includes it as CUDA.
set(KASTOR_CUDA_LANGUAGE OFF)
if(Kokkos_ENABLE_CUDA AND Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE)
  set(KASTOR_CUDA_LANGUAGE ON)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
  endif()
  enable_language(CUDA)
endif()

if(KASTOR_ENABLE_FITS)
  find_package(BZip2 1.0.6 REQUIRED)
  find_package(CFITSIO 3.47 REQUIRED)
  find_package(EXPAT 2.4 REQUIRED)
  find_package(fmt 9 CONFIG REQUIRED)
  find_package(Freetype 2.10 REQUIRED)
  find_package(nanoflann 1.4 CONFIG REQUIRED)
  find_package(PNG 1.6 REQUIRED)
  find_package(WCSLIB 7 REQUIRED)
  find_package(ZLIB 1.2.11 REQUIRED)
  # Kastor searches again at run time: a build machine needs no font.
  find_file(KASTOR_FONT DejaVuSans.ttf DOC "Font of the text in pictures, unless another is named at run time"
    PATHS /usr/share/fonts /usr/local/share/fonts
    PATH_SUFFIXES truetype/dejavu dejavu-sans-fonts dejavu TTF truetype ttf-dejavu)
  if(NOT KASTOR_FONT)
    set(KASTOR_FONT /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf CACHE FILEPATH "" FORCE)
  endif()
endif()
if(KASTOR_ENABLE_MPI)
  enable_language(C)  # MPI is looked for as a library of C's
  find_package(MPI 3 REQUIRED COMPONENTS C)
endif()
if(KASTOR_ENABLE_APPS OR KASTOR_ENABLE_TESTS)
  find_package(nlohmann_json 3.10 CONFIG REQUIRED)
endif()
if(KASTOR_ENABLE_APPS)
  find_package(CLI11 2.1 CONFIG REQUIRED)
  find_package(Threads REQUIRED)
  find_package(tomlplusplus 3.3 CONFIG REQUIRED)  # its headers alone
endif()
if(KASTOR_ENABLE_TESTS)
  find_package(GTest 1.11 CONFIG REQUIRED)
  find_package(Python3 3.8 COMPONENTS Interpreter)
endif()
