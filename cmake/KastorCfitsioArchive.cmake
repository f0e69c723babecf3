# SPDX-License-Identifier: Apache-2.0
# kastor_link_cfitsio_archive(<target>): CFITSIO becomes part of a program, where that is possible. Debian's shared CFITSIO
# loads libcurl and 27 more libraries, which takes longer than finding the sources of a 2048 x 2048 image. The program never
# opens a URL, so it brings stand-ins for what CFITSIO calls of libcurl (apps/no_network.cpp).
# The archive beside the shared library is of the same version.
get_filename_component(cfitsio_folder ${CFITSIO_LIBRARY} DIRECTORY)
find_library(CFITSIO_ARCHIVE NAMES libcfitsio.a PATHS ${cfitsio_folder} NO_DEFAULT_PATH)
mark_as_advanced(CFITSIO_ARCHIVE)

function(kastor_link_cfitsio_archive target)
  if(NOT CFITSIO_ARCHIVE OR BUILD_SHARED_LIBS OR NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
    return()
  endif()
  set(stand_ins ${PROJECT_SOURCE_DIR}/apps/no_network.cpp)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cfitsio_archive.cpp CONTENT [[
#include <fitsio.h>
int main() {
  fitsfile* file = nullptr;
  int status = 0;
  return fits_open_diskfile(&file, "", READONLY, &status);
}
]])
  try_compile(KASTOR_CFITSIO_ARCHIVE_LINKS
    SOURCES ${PROJECT_BINARY_DIR}/cfitsio_archive.cpp ${stand_ins}
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${CFITSIO_INCLUDE_DIR}
    LINK_LIBRARIES ${CFITSIO_ARCHIVE} z bz2 m Threads::Threads)
  if(KASTOR_CFITSIO_ARCHIVE_LINKS)
    target_sources(${target} PRIVATE ${stand_ins})
    # Whole: what needs it stands behind it on the command line, in the libraries of Kastor.
    target_link_libraries(${target} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${CFITSIO_ARCHIVE}> z bz2)
    target_link_options(${target} PRIVATE LINKER:--as-needed)
  endif()
endfunction()
