// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_KEYED_SUMS_HPP
#define KASTOR_CORE_KEYED_SUMS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::core {

/// Adds up what one thread has to say about sets, so that a set of very many members is not where
/// all threads meet: `add(set, part)` is called once for stretches of one set, and between them for
/// others. A set that comes twice in a row among the others takes the place. `Part` has
/// `operator+=`, whose order must not matter.
template <class Part, class Add>
class KeyedSums {
 public:
  KOKKOS_FUNCTION explicit KeyedSums(const Add& add) : m_add(add) {}

  KOKKOS_FUNCTION void take(std::uint32_t set, const Part& part) {
    if (m_any && set == m_set) {
      m_part += part;
    } else if (!m_any || set == m_other) {
      flush();
      m_any = true;
      m_set = set;
      m_part = part;
    } else {
      m_add(set, part);
      m_other = set;
    }
  }
  /// After the last one.
  KOKKOS_FUNCTION void flush() {
    if (m_any) m_add(m_set, m_part);
    m_any = false;
  }

 private:
  const Add& m_add;
  Part m_part{};
  std::uint32_t m_set = 0;
  std::uint32_t m_other = ~std::uint32_t{0};
  bool m_any = false;
};

}  // namespace kastor::core

#endif
