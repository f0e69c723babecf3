// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/sample_host.hpp>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

#define KASTOR_LOOPS "sample_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

}  // namespace

template <class T>
void near_bins_on_host(HostLevel level, const NearBins& near, const T* pixels, int n,
                       std::int32_t* bins) {
  KASTOR_RETURN_AT_LEVEL(level, near_bins<T>(near, pixels, n, bins));
}

template void near_bins_on_host<float>(HostLevel, const NearBins&, const float*, int,
                                       std::int32_t*);
template void near_bins_on_host<double>(HostLevel, const NearBins&, const double*, int,
                                        std::int32_t*);

}  // namespace kastor::detail
