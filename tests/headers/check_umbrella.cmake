# SPDX-License-Identifier: Apache-2.0
# kastor/kastor.hpp includes every public header of the algorithms.
file(GLOB headers RELATIVE ${INCLUDE_DIR} ${INCLUDE_DIR}/kastor/*.hpp)
list(REMOVE_ITEM headers kastor/kastor.hpp)
file(READ ${INCLUDE_DIR}/kastor/kastor.hpp umbrella)
if(NOT headers)
  message(FATAL_ERROR "${INCLUDE_DIR}/kastor has no headers")
endif()
foreach(header IN LISTS headers)
  string(FIND "${umbrella}" "#include <${header}>" position)
  if(position EQUAL -1)
    message(SEND_ERROR "kastor/kastor.hpp does not include ${header}")
  endif()
endforeach()
