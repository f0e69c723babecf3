# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: the libraries, their headers, the package files and the command.
include(CMakePackageConfigHelpers)

set(KASTOR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kastor)
get_target_property(kastor_type kastor_core TYPE)

install(TARGETS kastor_core EXPORT kastorTargets)
install(EXPORT kastorTargets NAMESPACE kastor:: DESTINATION ${KASTOR_PACKAGE_DIR})
if(TARGET kastor_io)
  # A separate export: projects that use only the algorithms need no CFITSIO.
  install(TARGETS kastor_io EXPORT kastorIoTargets)
  install(EXPORT kastorIoTargets NAMESPACE kastor:: DESTINATION ${KASTOR_PACKAGE_DIR})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindCFITSIO.cmake ${PROJECT_SOURCE_DIR}/cmake/FindWCSLIB.cmake
          DESTINATION ${KASTOR_PACKAGE_DIR})
else()
  set(without_io PATTERN io EXCLUDE)
endif()
if(TARGET kastor_mpi)
  install(TARGETS kastor_mpi EXPORT kastorMpiTargets)
  install(EXPORT kastorMpiTargets NAMESPACE kastor:: DESTINATION ${KASTOR_PACKAGE_DIR})
else()
  set(without_mpi PATTERN mpi EXCLUDE)
endif()
if(TARGET kastor)
  install(TARGETS kastor)
  install(FILES ${KASTOR_SCRIPTS} DESTINATION ${CMAKE_INSTALL_DATADIR}/kastor)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/apps/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/kastor COMPONENT clusters
          USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN *.sh)
  include(KastorModulefiles)
endif()
if(KASTOR_MANUAL_DIR)
  install(DIRECTORY ${KASTOR_MANUAL_DIR}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${KASTOR_MANUAL_DIR}/kastor.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kastor)
  install(FILES ${KASTOR_MANUAL_DIR}/_kastor DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${KASTOR_MANUAL_DIR}/kastor.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${KASTOR_GENERATED_INCLUDE_DIR}/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp ${without_io} ${without_mpi})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kastorConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kastorConfig.cmake INSTALL_DESTINATION ${KASTOR_PACKAGE_DIR})
# Before 1.0 a minor version may change the interface, afterwards only a major one.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(kastor_compatibility SameMinorVersion)
else()
  set(kastor_compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kastorConfigVersion.cmake COMPATIBILITY ${kastor_compatibility})
install(FILES ${PROJECT_BINARY_DIR}/kastorConfig.cmake ${PROJECT_BINARY_DIR}/kastorConfigVersion.cmake
        DESTINATION ${KASTOR_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
