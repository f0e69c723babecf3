// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/convolve_impl.hpp>
#include <kastor/detail/instantiations.hpp>

#define KASTOR_INSTANTIATE(EXEC, T)                                                          \
  template class kastor::Convolver<EXEC, T>;                                                 \
  template void kastor::convolve_signal_into<EXEC, T>(                                       \
      const EXEC&, const kastor::ConstSignal<T, EXEC>&, const kastor::ConstSignal<T, EXEC>&, \
      const kastor::MutableSignal<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
