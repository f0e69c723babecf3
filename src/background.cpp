// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/background_impl.hpp>
#include <kastor/detail/instantiations.hpp>

#define KASTOR_INSTANTIATE(EXEC, T)                                                      \
  template class kastor::BackgroundEstimator<EXEC, T>;                                   \
  template void kastor::fill_map<EXEC, T>(const EXEC&, const kastor::PixelMap<EXEC, T>&, \
                                          const kastor::MutableImage<T, EXEC>&, std::int64_t);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
