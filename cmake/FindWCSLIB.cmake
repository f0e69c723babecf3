# SPDX-License-Identifier: Apache-2.0
# Finds wcslib, which comes with a pkg-config file, and defines the target WCSLIB::WCSLIB. Installed
# with Kastor's package file, since projects that link kastor::io statically need wcslib too.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_WCSLIB QUIET wcslib)
endif()

# The parent folder of the headers: names such as wcs.h and log.h are too general for an include
# path.
find_path(WCSLIB_INCLUDE_DIR NAMES wcslib/wcs.h HINTS ${PC_WCSLIB_INCLUDEDIR})
find_library(WCSLIB_LIBRARY NAMES wcs HINTS ${PC_WCSLIB_LIBRARY_DIRS})
mark_as_advanced(WCSLIB_INCLUDE_DIR WCSLIB_LIBRARY)

if(WCSLIB_INCLUDE_DIR)
  file(STRINGS ${WCSLIB_INCLUDE_DIR}/wcslib/wcsconfig.h line REGEX "#define WCSLIB_VERSION +[0-9.]+" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9][0-9.]*" WCSLIB_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WCSLIB
  REQUIRED_VARS WCSLIB_LIBRARY WCSLIB_INCLUDE_DIR VERSION_VAR WCSLIB_VERSION)

if(WCSLIB_FOUND AND NOT TARGET WCSLIB::WCSLIB)
  add_library(WCSLIB::WCSLIB UNKNOWN IMPORTED)
  set_target_properties(WCSLIB::WCSLIB PROPERTIES
    IMPORTED_LOCATION ${WCSLIB_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${WCSLIB_INCLUDE_DIR})
  if(WCSLIB_LIBRARY MATCHES "\\.a$")
    set_property(TARGET WCSLIB::WCSLIB PROPERTY INTERFACE_LINK_LIBRARIES m)
  endif()
endif()
