# A Kokkos that was built with CUDA as a language of CMake wants its users' sources compiled so.
if(Kokkos_ENABLE_CUDA AND Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
  endif()
  enable_language(CUDA)
  set_source_files_properties(../main.cpp PROPERTIES LANGUAGE CUDA)
endif()
