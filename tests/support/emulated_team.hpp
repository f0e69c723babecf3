// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_EMULATED_TEAM_HPP
#define KASTOR_TESTS_EMULATED_TEAM_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/image.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "team_threads.hpp"

/// Teams of as many threads as a device's, on any host: so the kernels that are written for devices
/// run, and are checked by sanitizers, where there is no device. One team after the other.
namespace testing_support {

/// In the place of an execution space.
struct EmulatedTeams {
  using memory_space = Kokkos::HostSpace;
};

/// What the threads of a team share.
struct EmulatedTeam {
  static constexpr int garbage = 0xa5;

  explicit EmulatedTeam(int size, std::size_t scratch_bytes)
      : threads(make_team_threads(size)),
        values(static_cast<std::size_t>(size)),
        scratch(scratch_bytes) {}

  std::unique_ptr<TeamThreads> threads;
  std::vector<void*> values;  ///< each thread's, while they are joined
  std::vector<std::byte> scratch;
};

/// A thread's view of its team, as Kokkos' own.
class EmulatedMember {
 public:
  EmulatedMember(EmulatedTeam& team, int league_rank, int league_size, int rank, int size)
      : m_team(&team),
        m_league_rank(league_rank),
        m_league_size(league_size),
        m_rank(rank),
        m_size(size) {}

  [[nodiscard]] KOKKOS_FUNCTION int league_rank() const { return m_league_rank; }
  [[nodiscard]] KOKKOS_FUNCTION int league_size() const { return m_league_size; }
  [[nodiscard]] KOKKOS_FUNCTION int team_rank() const { return m_rank; }
  [[nodiscard]] KOKKOS_FUNCTION int team_size() const { return m_size; }
  KOKKOS_FUNCTION void team_barrier() const { KOKKOS_IF_ON_HOST((m_team->threads->wait();)) }

  /// Hands out one piece after the other, as Kokkos does.
  struct ScratchMemory {
    std::byte* begin;
    std::size_t size;
    std::size_t* used;
    /// Null if there is not so much left.
    KOKKOS_FUNCTION void* get_shmem_aligned(std::ptrdiff_t bytes, std::ptrdiff_t alignment) const {
      const auto address = reinterpret_cast<std::uintptr_t>(begin + *used);
      const auto step = static_cast<std::uintptr_t>(alignment);
      const std::size_t at = *used + ((address + step - 1) / step * step - address);
      if (at + static_cast<std::size_t>(bytes) > size) return nullptr;
      *used = at + static_cast<std::size_t>(bytes);
      return begin + at;
    }
  };
  [[nodiscard]] KOKKOS_FUNCTION ScratchMemory team_scratch(int) const {
    ScratchMemory memory{nullptr, 0, nullptr};
    KOKKOS_IF_ON_HOST((memory = {m_team->scratch.data(), m_team->scratch.size(), &m_used};))
    return memory;
  }

  template <class Reducer>
  KOKKOS_FUNCTION void team_reduce(const Reducer& reducer) const {
    KOKKOS_IF_ON_HOST((reduce(reducer);))
  }
  /// The sum of the values of lower ranks.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V team_scan(const V& value) const {
    V sum{};
    KOKKOS_IF_ON_HOST((sum = sum_before(value);))
    return sum;
  }

 private:
  /// Hands `change` a list of where each thread's value is.
  template <class V, class Change>
  void exchange(V& mine, const Change& change) const {
    m_team->values[static_cast<std::size_t>(m_rank)] = &mine;
    m_team->threads->wait();
    if (m_rank == 0) {
      change([this](int rank) -> V& {
        return *static_cast<V*>(m_team->values[static_cast<std::size_t>(rank)]);
      });
    }
    m_team->threads->wait();
  }
  template <class Reducer>
  void reduce(const Reducer& reducer) const {
    exchange(reducer.reference(), [&](const auto& value_of) {
      for (int rank = 1; rank < m_size; ++rank) reducer.join(value_of(0), value_of(rank));
      for (int rank = 1; rank < m_size; ++rank) value_of(rank) = value_of(0);
    });
  }
  template <class V>
  [[nodiscard]] V sum_before(const V& value) const {
    V mine = value;
    exchange(mine, [&](const auto& value_of) {
      V sum{};
      for (int rank = 0; rank < m_size; ++rank) {
        const V of_rank = value_of(rank);
        value_of(rank) = sum;
        sum += of_rank;
      }
    });
    return mine;
  }

  EmulatedTeam* m_team;
  int m_league_rank, m_league_size, m_rank, m_size;
  mutable std::size_t m_used = 0;  ///< of the scratch memory
};

/// Runs a kernel at once, as kastor::detail::TeamLauncher enqueues one.
struct EmulatedLauncher {
  /// Of a device's team, some of which Kokkos takes for its own reductions.
  static constexpr int scratch_of_device = 48 * 1024;

  template <class Kernel>
  void operator()(const char* label, int league, const Kernel& kernel) const {
    const int for_reductions = (Kernel::threads + 3) * static_cast<int>(sizeof(double));
    if (kernel.scratch_bytes + for_reductions > scratch_of_device)
      throw std::length_error(std::string(label) + " needs too much scratch memory");
    EmulatedTeam team(Kernel::threads, static_cast<std::size_t>(kernel.scratch_bytes));
    team.threads->run([&](int rank) {
      for (int i = 0; i < league; ++i) {
        // What the team before left must be of no use.
        if (rank == 0)
          std::fill(team.scratch.begin(), team.scratch.end(), std::byte{EmulatedTeam::garbage});
        team.threads->wait();
        kernel(EmulatedMember(team, i, league, rank, Kernel::threads));
        team.threads->wait();
      }
    });
  }
};

}  // namespace testing_support

template <>
inline constexpr bool kastor::is_host_space_v<testing_support::EmulatedTeams> = false;

template <>
struct kastor::detail::Teams<testing_support::EmulatedTeams> {
  using Member = testing_support::EmulatedMember;
};

#endif
