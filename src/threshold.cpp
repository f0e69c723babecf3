// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/threshold_impl.hpp>

#define KASTOR_INSTANTIATE(EXEC, T)                                                              \
  template void kastor::threshold_into<EXEC, T>(const EXEC&, const kastor::ConstImage<T, EXEC>&, \
                                                double, const kastor::BitMask<EXEC>&,            \
                                                std::int64_t);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE

#define KASTOR_INSTANTIATE(EXEC)                                                        \
  template kastor::BitMask<EXEC> kastor::make_bit_mask<EXEC>(const EXEC&, std::int64_t, \
                                                             std::int64_t);             \
  template std::int64_t kastor::count_foreground<EXEC>(const EXEC&, const kastor::BitMask<EXEC>&);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
