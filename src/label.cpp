// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/label_impl.hpp>

#define KASTOR_INSTANTIATE_WRITE(EXEC, LABEL)      \
  template void kastor::write_labels<EXEC, LABEL>( \
      const EXEC&, const kastor::RunLabels<EXEC>&, \
      const Kokkos::View<LABEL**, Kokkos::LayoutRight, EXEC::memory_space>&);
#define KASTOR_INSTANTIATE(EXEC)               \
  template class kastor::Labeller<EXEC>;       \
  KASTOR_INSTANTIATE_WRITE(EXEC, std::int32_t) \
  KASTOR_INSTANTIATE_WRITE(EXEC, std::int64_t)
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
