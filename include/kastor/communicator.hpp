// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_COMMUNICATOR_HPP
#define KASTOR_COMMUNICATOR_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kastor {

/// The processes (*ranks*, as MPI calls them) that search one image together. The library itself
/// needs no MPI: `kastor::mpi::Communicator` is the implementation for MPI, and a program may give
/// its own.
///
/// All functions but `send` and `receive` are collective: every rank calls them, in the same order.
/// They work on memory of the host. Each rank uses its communicator from one thread at a time.
class Communicator {
 public:
  /// What each rank gave, by rank.
  using Pieces = std::vector<std::vector<std::byte>>;

  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator();

  /// This process among the others [0 to size() - 1].
  [[nodiscard]] virtual int rank() const = 0;
  /// The number of ranks [>= 1].
  [[nodiscard]] virtual int size() const = 0;
  /// The machine that this rank runs on, for texts; empty if it is not worth a word.
  [[nodiscard]] virtual std::string machine() const;

  /// Replaces each word by its sum over all ranks, modulo 2^64. \param words  equally many on each
  virtual void sum(std::span<std::uint64_t> words) = 0;
  /// What every rank gives, on every rank. Pieces may differ in length, and be empty.
  [[nodiscard]] virtual Pieces gather(std::span<const std::byte> mine) = 0;
  /// Sends bytes to another rank, which calls `receive`; may wait until it does.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  /// The next bytes that `from` has sent to this rank; waits for them.
  [[nodiscard]] virtual std::vector<std::byte> receive(int from) = 0;

  /// The sum of the values of all ranks before this one. Collective.
  [[nodiscard]] std::int64_t sum_before(std::int64_t mine);
  /// Ends a part of the work that may fail on one rank alone, such as a read of a file. If it has
  /// failed on any rank, all ranks throw: those that have failed their own failure, the others an
  /// `Error` with the text of the first rank that has failed, after `rank 3 (machine): `. So none
  /// waits for a rank that has given up. If the ranks name different parts, they no longer do the
  /// same work, and all throw an `Error` that says so. Collective.
  /// \param failure  null if this rank has succeeded
  /// \param part  a name of the part, the same on all ranks, as in "read"
  void agree(const std::exception_ptr& failure, std::string_view part = {});
  /// Whether `agree` has thrown: all ranks know that one has failed.
  [[nodiscard]] bool has_failed() const { return m_has_failed; }

 private:
  bool m_has_failed = false;
};

}  // namespace kastor

#endif
