// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_EMULATED_TEAM_HPP
#define KASTOR_TESTS_EMULATED_TEAM_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/image.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

  explicit EmulatedTeam(int threads, std::size_t scratch_bytes)
      : barrier(threads), reduced(static_cast<std::size_t>(threads)), scratch(scratch_bytes) {}

  std::barrier<> barrier;
  std::vector<void*> reduced;  ///< each thread's value
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
  KOKKOS_FUNCTION void team_barrier() const {
    KOKKOS_IF_ON_HOST((m_team->barrier.arrive_and_wait();))
  }

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
  template <class Reducer>
  void reduce(const Reducer& reducer) const {
    using Value = typename Reducer::value_type;
    const auto value_of = [this](int rank) -> const Value& {
      return *static_cast<const Value*>(m_team->reduced[static_cast<std::size_t>(rank)]);
    };
    m_team->reduced[static_cast<std::size_t>(m_rank)] = &reducer.reference();
    m_team->barrier.arrive_and_wait();
    Value all = value_of(0);
    for (int rank = 1; rank < m_size; ++rank) reducer.join(all, value_of(rank));
    m_team->barrier.arrive_and_wait();
    reducer.reference() = all;
  }
  template <class V>
  [[nodiscard]] V sum_before(const V& value) const {
    V mine = value;
    m_team->reduced[static_cast<std::size_t>(m_rank)] = &mine;
    m_team->barrier.arrive_and_wait();
    V sum{};
    for (int rank = 0; rank < m_rank; ++rank)
      sum += *static_cast<const V*>(m_team->reduced[static_cast<std::size_t>(rank)]);
    m_team->barrier.arrive_and_wait();
    return sum;
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
    const auto work = [&](int rank) {
      for (int i = 0; i < league; ++i) {
        // What the team before left must be of no use.
        if (rank == 0)
          std::fill(team.scratch.begin(), team.scratch.end(), std::byte{EmulatedTeam::garbage});
        team.barrier.arrive_and_wait();
        kernel(EmulatedMember(team, i, league, rank, Kernel::threads));
        team.barrier.arrive_and_wait();
      }
    };
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < Kernel::threads; ++rank) threads.emplace_back(work, rank);
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
