# SPDX-License-Identifier: Apache-2.0
# Installs Kastor, and builds and starts a project that uses kastor::mpi; one that knows no C is told why it cannot.
include(${CMAKE_CURRENT_LIST_DIR}/run_command.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${KASTOR_BUILD_DIR} --config ${CONFIG} --prefix ${WORK_DIR}/prefix)
set(arguments -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX_COMPILER} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} ${arguments} -S ${SOURCE_DIR} -B ${WORK_DIR}/build)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG})
run(${LAUNCH} ${WORK_DIR}/build/consumer)
if(NOT output MATCHES "3 ranks, 10 rows before the last")
  message(FATAL_ERROR "The consumer printed\n${output}")
endif()

file(READ ${SOURCE_DIR}/CMakeLists.txt text)
string(REPLACE "LANGUAGES C CXX" "LANGUAGES CXX" text "${text}")
file(WRITE ${WORK_DIR}/without_c/CMakeLists.txt "${text}")
execute_process(COMMAND ${CMAKE_COMMAND} ${arguments} -S ${WORK_DIR}/without_c -B ${WORK_DIR}/without_c/build
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(result EQUAL 0 OR NOT output MATCHES "a library of C's: project")
  message(FATAL_ERROR "Without C, CMake ended with ${result} and said\n${output}")
endif()
