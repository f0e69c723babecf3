# SPDX-License-Identifier: Apache-2.0
# Modulefiles for Lmod (.lua) and for Environment Modules: `module use
# PREFIX/share/kastor/modulefiles`. They contain the prefix, which is known for certain only when
# `cmake --install` runs.
set(modulefile_dir ${PROJECT_BINARY_DIR}/modulefiles)
install(CODE "
  set(KASTOR_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
  set(KASTOR_VERSION \"${PROJECT_VERSION}\")
  set(CMAKE_INSTALL_BINDIR \"${CMAKE_INSTALL_BINDIR}\")
  set(CMAKE_INSTALL_DATADIR \"${CMAKE_INSTALL_DATADIR}\")
  foreach(ending IN ITEMS \"\" .lua)
    configure_file(\"${PROJECT_SOURCE_DIR}/cmake/packaging/modulefiles/kastor\${ending}.in\"
                   \"${modulefile_dir}/${PROJECT_VERSION}\${ending}\" @ONLY)
  endforeach()" COMPONENT clusters)
install(FILES ${modulefile_dir}/${PROJECT_VERSION} ${modulefile_dir}/${PROJECT_VERSION}.lua
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kastor/modulefiles/kastor COMPONENT clusters)
