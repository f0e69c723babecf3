// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_TYPED_HPP
#define KASTOR_TESTS_TYPED_HPP

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <kastor/detail/instantiations.hpp>
#include <string>
#include <type_traits>

namespace testing_support {

/// One instantiation of the library.
template <class Exec, class T>
struct Case {
  using exec = Exec;
  using real = T;
};

namespace detail {

template <class List>
struct Expand;

template <template <class...> class List, class First, class... Others>
struct Expand<List<First, Others...>> {
  using first = First;
  using execs = ::testing::Types<First, Others...>;
  using cases = ::testing::Types<Case<First, float>, Case<Others, float>..., Case<First, double>,
                                 Case<Others, double>...>;
};

}  // namespace detail

/// Every enabled execution space.
using Execs = detail::Expand<kastor::detail::Backends>::execs;

/// Every enabled execution space with float and double pixels.
using ExecsAndReals = detail::Expand<kastor::detail::Backends>::cases;

/// The backend whose bits the others must give.
using FirstExec = detail::Expand<kastor::detail::Backends>::first;

/// Names the typed suites: `SigmaClip/OpenMP_float` instead of `SigmaClip/3`.
struct CaseName {
  template <class C>
  static std::string GetName(int index) {
    if constexpr (requires { typename C::exec; }) {
      return std::string(C::exec::name()) +
             (std::is_same_v<typename C::real, float> ? "_float" : "_double");
    } else if constexpr (requires { C::name(); }) {
      return C::name();
    } else {
      return std::to_string(index);
    }
  }
};

}  // namespace testing_support

#endif
