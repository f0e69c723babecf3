// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/sigma_clip_impl.hpp>

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::SigmaClipper<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
