// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_RANKS_HPP
#define KASTOR_CORE_RANKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <exception>
#include <kastor/communicator.hpp>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

/// What ranks tell each other. `ranks` is null where there is only one.
namespace kastor::core {

/// Does work that may fail on one rank alone; then all ranks throw. Collective. \param part  its
/// name
template <class Work>
void agree_on(Communicator* ranks, std::string_view part, const Work& work) {
  if (ranks == nullptr) {
    work();
    return;
  }
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  ranks->agree(failure, part);
}

/// Replaces words by their sums over all ranks.
inline void sum_over(Communicator* ranks, std::span<std::uint64_t> words) {
  if (ranks != nullptr) ranks->sum(words);
}

/// The lists of all ranks, one after another.
template <class V>
[[nodiscard]] std::vector<std::vector<V>> gather_lists(Communicator& ranks,
                                                       std::span<const V> mine) {
  static_assert(std::is_trivially_copyable_v<V>);
  const Communicator::Pieces pieces = ranks.gather(std::as_bytes(mine));
  std::vector<std::vector<V>> lists(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    lists[i].resize(pieces[i].size() / sizeof(V));
    if (!lists[i].empty()) std::memcpy(lists[i].data(), pieces[i].data(), pieces[i].size());
  }
  return lists;
}

/// Joins a value with those of all ranks by `operator+=`, whose order must not matter.
template <class V>
void join_over(Communicator* ranks, V& value) {
  if (ranks == nullptr) return;
  const auto lists = gather_lists<V>(*ranks, std::span<const V>(&value, 1));
  value = V{};
  for (const auto& list : lists) value += list.front();
}

/// The same as `sum_over` for counts in the memory of `Exec`. Fences.
template <class Exec, class Word>
void sum_counts_over(Communicator* ranks, const Exec& space, Word* counts, std::int64_t n) {
  using Host = Kokkos::View<Word*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Device =
      Kokkos::View<Word*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (ranks == nullptr) return;
  const auto size = static_cast<std::size_t>(n);
  std::vector<Word> mine(size);
  Kokkos::deep_copy(space, Host(mine.data(), size), Device(counts, size));
  space.fence("kastor::core: counts of this rank");
  std::vector<std::uint64_t> words(mine.begin(), mine.end());
  ranks->sum(words);
  for (std::size_t i = 0; i < size; ++i) mine[i] = static_cast<Word>(words[i]);
  Kokkos::deep_copy(space, Device(counts, size), Host(mine.data(), size));
  space.fence("kastor::core: counts of all ranks");
}

}  // namespace kastor::core

#endif
