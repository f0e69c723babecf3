# SPDX-License-Identifier: Apache-2.0
# `cmake --build build/openmp --target docs` writes the reference of the public headers into
# build/openmp/docs/html; an undocumented declaration is an error. The target exists only if doxygen
# is found; nothing else needs it.
find_package(Doxygen 1.9.4 QUIET)
if(DOXYGEN_FOUND)
  set(KASTOR_DOCS_DIR ${PROJECT_BINARY_DIR}/docs)
  file(MAKE_DIRECTORY ${KASTOR_DOCS_DIR})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  set(KASTOR_DOCS_COMMAND Doxygen::doxygen ${PROJECT_BINARY_DIR}/Doxyfile)
  add_custom_target(docs COMMAND ${KASTOR_DOCS_COMMAND} VERBATIM
                    COMMENT "Writing the reference into ${KASTOR_DOCS_DIR}/html")
endif()
