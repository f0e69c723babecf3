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

# `cmake --build build/openmp --target site` writes a site of docs/*.md, the notebooks and the reference of the Python
# package into build/openmp/site, by Sphinx with tests/python/requirements.txt.
if(KASTOR_ENABLE_PYTHON)
  add_custom_target(site VERBATIM COMMENT "Writing the site into ${PROJECT_BINARY_DIR}/site"
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python ${Python_EXECUTABLE} -m sphinx -W -n -q
            -c ${PROJECT_SOURCE_DIR}/docs/sphinx ${PROJECT_SOURCE_DIR}/docs ${PROJECT_BINARY_DIR}/site)
  add_dependencies(site _kastor)
endif()
