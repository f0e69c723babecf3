// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_KEYED_SUMS_HPP
#define KASTOR_CORE_KEYED_SUMS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::core {

/// Adds up one thread's contributions to sets, to reduce contention on sets with very many members.
/// Contributions to the current set are added up in registers and handed to `add(set, part)` once;
/// those to other sets are handed on at once. If another set comes twice in succession (not
/// counting the current one), it becomes the current set. `Part` has `operator+=`, whose order must
/// not matter.
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
  /// To be called after the last contribution.
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
