# SPDX-License-Identifier: Apache-2.0
# Installs Kastor, with the Kokkos that it was built with, into a prefix far from here, and works from there alone: nothing
# installed names the source or the build folder, a consumer that lies elsewhere is built and run, and so is the command.
# Where Linux lets this process have mounts of its own, the source folder is hidden meanwhile, and the build folder too.
include(${CMAKE_CURRENT_LIST_DIR}/run_command.cmake)

run(mktemp -d -t kastor-installed-XXXXXX)
string(STRIP "${output}" WORK_DIR)
set(prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --config ${CONFIG} --prefix ${prefix})
file(COPY ${CONSUMER_DIR}/ DESTINATION ${WORK_DIR}/consumer)
file(COPY ${SCRIPT_DIR}/use_installed.sh DESTINATION ${WORK_DIR})

# The one path of the build machine that belongs there is where its Kokkos is.
set(kokkos_prefix ${KOKKOS_DIR})
while(NOT EXISTS ${kokkos_prefix}/include/Kokkos_Core.hpp)
  cmake_path(GET kokkos_prefix PARENT_PATH parent)
  if(parent STREQUAL kokkos_prefix)
    message(FATAL_ERROR "No Kokkos_Core.hpp above ${KOKKOS_DIR}")
  endif()
  set(kokkos_prefix ${parent})
endwhile()
# Whoever uses an installed Kastor needs no Kokkos Kernels.
file(COPY ${kokkos_prefix}/include ${kokkos_prefix}/lib DESTINATION ${WORK_DIR}/kokkos
  REGEX "/(KokkosKernels|KokkosBatched|KokkosBlas|libkokkoskernels)[^/]*$" EXCLUDE)

file(GLOB_RECURSE installed ${prefix}/*)
set(trouble "")
foreach(file IN LISTS installed)
  set(looked_at ${file})
  if(file MATCHES "/(lib[^/]*\\.(a|so[.0-9]*)|bin/[^/]*)$")
    set(looked_at ${WORK_DIR}/without_debug)
    execute_process(COMMAND ${STRIP} --strip-debug -o ${looked_at} ${file} RESULT_VARIABLE result ERROR_QUIET)
    if(result)
      set(looked_at ${file})  # a script
    endif()
  endif()
  execute_process(COMMAND grep -a -o -e ${SOURCE_DIR}[^[:cntrl:]]* -e ${BUILD_DIR}[^[:cntrl:]]* ${looked_at}
    OUTPUT_VARIABLE found)
  # Messages of Kokkos' name the file that they come from, which may be one that ./bootstrap has put there.
  string(REGEX REPLACE "${SOURCE_DIR}/\\.deps/[^\n]*/Kokkos[A-Za-z0-9_]+\\.[ch]pp\n" "" found "${found}")
  if(file MATCHES "/kastorConfig.cmake$")
    execute_process(COMMAND grep -F -e ${SOURCE_DIR} -e ${BUILD_DIR} ${looked_at} OUTPUT_VARIABLE found)
    string(REGEX REPLACE "[^\n]*HINTS \"${KOKKOS_DIR}\"\\)\n" "" found "${found}")
  endif()
  if(found)
    string(APPEND trouble "${file} names\n${found}")
  endif()
endforeach()
file(REMOVE ${WORK_DIR}/without_debug)
list(LENGTH installed count)
if(count LESS 50)
  string(APPEND trouble "only ${count} files were installed\n")
endif()
if(trouble)
  message(FATAL_ERROR "${trouble}")
endif()
message(STATUS "${count} installed files name neither ${SOURCE_DIR} nor ${BUILD_DIR}")

# From here on nothing of the source folder is needed.
set(ENV{PREFIX} ${prefix})
set(ENV{KOKKOS} ${WORK_DIR}/kokkos)
set(ENV{CMAKE} ${CMAKE_COMMAND})
set(ENV{GENERATOR} ${GENERATOR})
set(ENV{CXX} ${CXX_COMPILER})
set(ENV{CONFIG} ${CONFIG})
set(ENV{HIDDEN} "${SOURCE_DIR} ${BUILD_DIR}")
set(ENV{NEEDS_DEVICE} "${NEEDS_DEVICE}")
set(ENV{VERSION} ${VERSION})
run(bash ${WORK_DIR}/use_installed.sh)
message(STATUS "${output}")
file(REMOVE_RECURSE ${WORK_DIR})
