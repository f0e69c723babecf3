// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <kastor/detail/sift_host.hpp>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

#define KASTOR_LOOPS "sift_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

}  // namespace

template <class T>
void sift_on_host(HostLevel level, const TailBounds<T>& bounds, const T* pixels, std::int64_t n,
                  SiftedTails<T>& sifted) {
  KASTOR_RETURN_AT_LEVEL(level, sift_blocks<T>(bounds, pixels, n / 64, sifted));
}

template void sift_on_host<float>(HostLevel, const TailBounds<float>&, const float*, std::int64_t,
                                  SiftedTails<float>&);
template void sift_on_host<double>(HostLevel, const TailBounds<double>&, const double*,
                                   std::int64_t, SiftedTails<double>&);

}  // namespace kastor::detail
