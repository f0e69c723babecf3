# SPDX-License-Identifier: Apache-2.0
# Finds CFITSIO, which comes with a pkg-config file, and defines the target CFITSIO::CFITSIO.
# Installed with Kastor's package file, since projects that link kastor::io statically need CFITSIO
# too.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_CFITSIO QUIET cfitsio)
endif()

find_path(CFITSIO_INCLUDE_DIR NAMES fitsio.h HINTS ${PC_CFITSIO_INCLUDE_DIRS} PATH_SUFFIXES cfitsio)
find_library(CFITSIO_LIBRARY NAMES cfitsio HINTS ${PC_CFITSIO_LIBRARY_DIRS})
mark_as_advanced(CFITSIO_INCLUDE_DIR CFITSIO_LIBRARY)

if(CFITSIO_INCLUDE_DIR)
  unset(CFITSIO_VERSION)
  foreach(part IN ITEMS MAJOR MINOR MICRO)
    file(STRINGS ${CFITSIO_INCLUDE_DIR}/fitsio.h line REGEX "#define CFITSIO_${part} +[0-9]+" LIMIT_COUNT 1)
    string(REGEX MATCH "[0-9]+" number "${line}")
    list(APPEND CFITSIO_VERSION ${number})
  endforeach()
  list(JOIN CFITSIO_VERSION . CFITSIO_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CFITSIO
  REQUIRED_VARS CFITSIO_LIBRARY CFITSIO_INCLUDE_DIR VERSION_VAR CFITSIO_VERSION)

if(CFITSIO_FOUND AND NOT TARGET CFITSIO::CFITSIO)
  add_library(CFITSIO::CFITSIO UNKNOWN IMPORTED)
  set_target_properties(CFITSIO::CFITSIO PROPERTIES
    IMPORTED_LOCATION ${CFITSIO_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${CFITSIO_INCLUDE_DIR})
  if(CFITSIO_LIBRARY MATCHES "\\.a$" AND PC_CFITSIO_STATIC_LIBRARIES)
    set(others ${PC_CFITSIO_STATIC_LIBRARIES})
    list(REMOVE_ITEM others cfitsio)
    set_property(TARGET CFITSIO::CFITSIO PROPERTY INTERFACE_LINK_LIBRARIES ${others})
  endif()
endif()
