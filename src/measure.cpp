// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/measure_impl.hpp>

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::Measurer<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE

#define KASTOR_INSTANTIATE(EXEC)                    \
  template kastor::Catalogue kastor::to_host<EXEC>( \
      const EXEC&, const Kokkos::View<const kastor::Source*, EXEC::memory_space>&);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
