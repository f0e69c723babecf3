// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <kastor/detail/stretch_host.hpp>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

#define KASTOR_LOOPS "stretch_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

}  // namespace

template <class T>
SumsOfStretch<T> sum_stretch_on_host(HostLevel level, const Stretch<T>& stretch) {
  KASTOR_RETURN_AT_LEVEL(level, sum_stretch(stretch));
}

template SumsOfStretch<float> sum_stretch_on_host<float>(HostLevel, const Stretch<float>&);
template SumsOfStretch<double> sum_stretch_on_host<double>(HostLevel, const Stretch<double>&);

}  // namespace kastor::detail
