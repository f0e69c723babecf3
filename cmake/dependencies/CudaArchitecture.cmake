# Kokkos' name for the architecture of the first GPU here; HOPPER90 where there is none.
function(kastor_find_cuda_architecture result)
  set(names 70=VOLTA70 72=VOLTA72 75=TURING75 80=AMPERE80 86=AMPERE86 87=AMPERE87 89=ADA89 90=HOPPER90
            100=BLACKWELL100 120=BLACKWELL120)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  RESULT_VARIABLE failed OUTPUT_VARIABLE capability ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(found HOPPER90)
  if(NOT failed AND capability MATCHES "^([0-9]+)\\.([0-9]+)")
    set(number ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    set(known OFF)
    foreach(name IN LISTS names)
      if(name MATCHES "^${number}=(.+)$")
        set(found ${CMAKE_MATCH_1})
        set(known ON)
      endif()
    endforeach()
    if(NOT known)
      message(FATAL_ERROR "The GPU here has compute capability ${capability}, for which no name in Kokkos is known; "
                          "give one with -D KASTOR_CUDA_ARCH=...")
    endif()
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()
