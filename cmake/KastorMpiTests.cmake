# SPDX-License-Identifier: Apache-2.0
# Tests of several processes.
set(KASTOR_SECOND_MPI "" CACHE STRING "Compiler of another MPI, as in mpicc.mpich: kastor::mpi is tested with it, too")

# kastor_use_mpi_launcher(<mpicc>)
# Sets KASTOR_MPI_NAME (openmpi, hydra or other) and KASTOR_MPI_LAUNCHER, the launcher that belongs to a compiler: that
# of another MPI would start processes that do not find each other.
function(kastor_use_mpi_launcher mpicc)
  cmake_path(GET mpicc FILENAME compiler)
  cmake_path(GET mpicc PARENT_PATH folder)
  string(REPLACE mpicc mpirun program "${compiler}")
  find_program(launcher NAMES ${program} HINTS ${folder} NO_CACHE)
  if(program STREQUAL compiler OR NOT launcher)
    set(launcher ${MPIEXEC_EXECUTABLE})
  endif()
  execute_process(COMMAND ${launcher} --version OUTPUT_VARIABLE version ERROR_QUIET)
  set(name other)
  if(version MATCHES "Open ?MPI|OpenRTE")
    set(name openmpi)
  elseif(version MATCHES "HYDRA")
    set(name hydra)
  endif()
  set(KASTOR_MPI_NAME ${name} PARENT_SCOPE)
  set(KASTOR_MPI_LAUNCHER ${launcher} PARENT_SCOPE)
endfunction()

# kastor_mpi_command(<variable> <n>)
# The words before a program that start it in n processes, more than there are cores if need be.
function(kastor_mpi_command variable n)
  set(command ${KASTOR_MPI_LAUNCHER})
  if(KASTOR_MPI_NAME STREQUAL openmpi)
    list(APPEND command -q --oversubscribe --bind-to none)
  endif()
  set(${variable} ${command} -n ${n} PARENT_SCOPE)
endfunction()

# For processes of tests, which may be root's, in a container, and more than there are cores. A launcher ends itself and
# all that it has started before ctest would end it alone.
set(kastor_mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none MPIEXEC_TIMEOUT=50)

# kastor_add_mpi_test(<name> <n> <command>...)
# The ctest mpi.<name>.<MPI>.<n>: the command, the first word of which may be a target, in n processes.
function(kastor_add_mpi_test name n program)
  set(test mpi.${name}.${KASTOR_MPI_NAME}.${n})
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  kastor_mpi_command(command ${n})
  add_test(NAME ${test} COMMAND ${command} ${program} ${ARGN})
  set_tests_properties(${test} PROPERTIES LABELS mpi TIMEOUT 60 PROCESSORS ${n}
    ENVIRONMENT "${kastor_test_environment};${kastor_mpi_environment};OMP_NUM_THREADS=1")
endfunction()

# kastor_add_second_mpi(<target>)
# The MPI of the compiler KASTOR_SECOND_MPI as a target; FindMPI knows one MPI at a time.
function(kastor_add_second_mpi target)
  execute_process(COMMAND ${KASTOR_SECOND_MPI} -show OUTPUT_VARIABLE words COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${words}")
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.*)")
      target_include_directories(${target} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-[LlW]")
      target_link_libraries(${target} INTERFACE ${word})
    endif()
  endforeach()
endfunction()
