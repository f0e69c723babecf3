# SPDX-License-Identifier: Apache-2.0
# Builds and runs one consumer project and checks what it prints.
include(${CMAKE_CURRENT_LIST_DIR}/run_command.cmake)

set(without_device 0)
if(NEEDS_DEVICE AND KASTOR)
  execute_process(COMMAND ${KASTOR} info --json --on ${NEEDS_DEVICE} RESULT_VARIABLE without_device
                  OUTPUT_QUIET ERROR_VARIABLE reason OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

file(REMOVE_RECURSE ${WORK_DIR})
set(arguments -G ${GENERATOR} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -D CMAKE_CXX_COMPILER=${CXX_COMPILER})
set(targets "")
if(WAY STREQUAL find_package)
  list(APPEND arguments -D CMAKE_BUILD_TYPE=${CONFIG})
  run(${CMAKE_COMMAND} --install ${KASTOR_BUILD_DIR} --config ${CONFIG} --prefix ${WORK_DIR}/prefix)
  list(APPEND arguments -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
  if(KASTOR)
    foreach(file IN ITEMS man/man1/kastor.1 man/man1/kastor-simulate-sky.1 bash-completion/completions/kastor
                          zsh/site-functions/_kastor fish/vendor_completions.d/kastor.fish)
      if(NOT EXISTS ${WORK_DIR}/prefix/share/${file})
        message(FATAL_ERROR "share/${file} was not installed")
      endif()
    endforeach()
  endif()
else()
  # Compiles the library once more: in little time, and not at all for a device that is not here.
  list(APPEND arguments -D Kokkos_DIR=${KOKKOS_DIR} -D KokkosKernels_DIR=${KOKKOS_KERNELS_DIR}
       -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 -D KASTOR_UNITE_SOURCES=ON)
  set(CONFIG Debug)
  if(without_device)
    set(targets --target consumer_source)
  endif()
endif()
run(${CMAKE_COMMAND} ${arguments})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} ${targets})

if(without_device)
  message(STATUS "Built, but not run: ${reason}")
  return()
endif()
run(${WORK_DIR}/build/consumer)
foreach(line IN ITEMS
    "kastor ${VERSION} found 3 sources"
    "source 1: 5 pixels, sum 4.0, centre (10.0, 10.0)"
    "source 3: 5 pixels, sum 4.0, centre (50.0, 34.0)")
  string(FIND "${output}" "${line}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "The consumer did not print\n${line}\nbut\n${output}")
  endif()
endforeach()
message(STATUS "${output}")
