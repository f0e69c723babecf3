# SPDX-License-Identifier: Apache-2.0
# What all targets of Kastor have in common.

# Kastor promises the same bits on every backend. A CPU without FMA instructions cannot reproduce a
# GPU that fuses a product and a sum, so contraction is off everywhere. The two other flags give up
# floating-point exception flags and errno, which no code here reads; in return, loops with
# comparisons vectorise.
set(kastor_float_flags -ffp-contract=off -fno-trapping-math -fno-math-errno)
set(kastor_warnings -Wall -Wextra -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND kastor_warnings -Wno-restrict)  # GCC 12 warns about its own std::string
elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # Clang warns about what std::stable_sort of GCC 12 calls.
  list(APPEND kastor_warnings -Wno-deprecated-declarations)
  # Clang warns about loops that a build with sanitizers does not transform.
  list(APPEND kastor_warnings -Wno-pass-failed)
endif()

# A small source spends most of its compile time on the headers of Kokkos and fmt. With
# KASTOR_UNITE_SOURCES, `group` sources of a target are compiled as one; CMake's own UNITY_BUILD
# does not do that for CUDA before 3.31. Names in anonymous namespaces must then differ within the
# target.
function(kastor_unite_sources target kind language group)
  set(united "")
  set(text "")
  set(in_text 0)
  set(last "")
  if(ARGN)
    list(GET ARGN -1 last)
  endif()
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    string(APPEND text "#include \"${path}\"\n#undef KASTOR_INSTANTIATE\n")
    math(EXPR in_text "${in_text} + 1")
    if(in_text EQUAL group OR source STREQUAL last)
      list(LENGTH united number)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/united/${target}_${kind}_${number}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND united ${file})
      set(text "")
      set(in_text 0)
    endif()
  endforeach()
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
  set_source_files_properties(${united} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE ${language})
  target_sources(${target} PRIVATE ${united})
endfunction()

# kastor_set_up_target(<target> [UNITE <number>] [PLAIN_CXX <source>...])
# Sets C++20, Kastor's compile options and sanitizers. If Kokkos is compiled as CUDA, so are the
# sources of the target, except those after PLAIN_CXX, which must not include Kokkos. UNITE: with
# KASTOR_UNITE_SOURCES, so many sources are compiled as one. To be called after all sources have been
# added.
function(kastor_set_up_target target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" UNITE PLAIN_CXX)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # A static library of Kastor may become part of a shared one.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)

  set(release $<CONFIG:Release,RelWithDebInfo>)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${kastor_float_flags};${kastor_warnings}>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${KASTOR_ENABLE_WERROR}>>:-Werror>
    # GCC 12 vectorises little at -O2, the level of RelWithDebInfo.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,${release}>:-O3>)

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  if(arg_PLAIN_CXX)
    list(REMOVE_ITEM sources ${arg_PLAIN_CXX})
  endif()
  set(language CXX)
  if(KASTOR_CUDA_LANGUAGE)
    set(language CUDA)
    # CMake 3.25 does not know the features of nvcc 13, so cuda_std_20 cannot be used.
    target_compile_options(${target} PUBLIC $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    # fmt 9 assumes that nvcc has no constexpr, and then contradicts itself.
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CUDA)
    list(JOIN kastor_float_flags , host_flags)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=${host_flags}>
      $<$<AND:$<COMPILE_LANGUAGE:CUDA>,${release}>:-Xcompiler=-O3>)
  elseif(Kokkos_ENABLE_CUDA AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Kokkos' compiler wrapper passes it to nvcc.
    target_compile_options(${target} PRIVATE --fmad=false)
  endif()

  if(KASTOR_UNITE_SOURCES AND arg_UNITE)
    kastor_unite_sources(${target} kokkos ${language} ${arg_UNITE} ${sources})
    if(arg_PLAIN_CXX)
      kastor_unite_sources(${target} plain CXX ${arg_UNITE} ${arg_PLAIN_CXX})
    endif()
  endif()

  if(KASTOR_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${KASTOR_SANITIZE};-fno-sanitize-recover=undefined;-fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE -fsanitize=${KASTOR_SANITIZE})
  endif()
  if(KASTOR_COVERAGE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--coverage>)
    target_link_options(${target} PRIVATE --coverage)
  endif()
endfunction()
