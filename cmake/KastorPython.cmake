# SPDX-License-Identifier: Apache-2.0
# What the Python module is built with, beside what the library needs (KastorDependencies.cmake).
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind 3, with which the Python module is built: install nanobind "
    "and nanobind-backend there, or name another Python with -D Python_EXECUTABLE=...")
endif()
find_package(nanobind 3 CONFIG REQUIRED)
