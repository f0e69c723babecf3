// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_MPI_COMMUNICATOR_HPP
#define KASTOR_MPI_COMMUNICATOR_HPP

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <kastor/communicator.hpp>
#include <span>
#include <string>
#include <vector>

/// Kastor over MPI, in the library `kastor::mpi`.
namespace kastor::mpi {

/// The processes of a communicator of MPI's as ranks of Kastor.
///
/// It works on a duplicate, so its messages never meet those of the program. It neither initialises
/// nor finalises MPI: the program does, and makes this object in between; `MPI_THREAD_FUNNELED` is
/// enough if the object is used by the thread that has initialised MPI. An error of MPI's becomes
/// an `Error` with MPI's text; the other ranks may then wait for ever, so a program that catches it
/// calls `MPI_Abort`.
class Communicator final : public kastor::Communicator {
 public:
  /// Collective: all processes of `comm` make one. Throws an `Error` if MPI is not initialised, is
  /// finalised, or `comm` is null or joins two groups.
  /// \param comm  kept by the caller, who may free it at once
  /// \param most_bytes  what is longer goes in several messages; the same on all ranks
  ///   [8 to 2^31 - 1], and smaller than the default only in tests
  explicit Communicator(MPI_Comm comm, std::int64_t most_bytes = std::int64_t{1} << 30);
  /// Frees the duplicate, which is collective; but calls nothing of MPI's if it is finalised or an
  /// exception is thrown, since the other ranks may be elsewhere then.
  ~Communicator() override;

  [[nodiscard]] int rank() const override { return m_rank; }
  [[nodiscard]] int size() const override { return m_size; }
  /// MPI's name of the processor.
  [[nodiscard]] std::string machine() const override;
  void sum(std::span<std::uint64_t> words) override;
  [[nodiscard]] Pieces gather(std::span<const std::byte> mine) override;
  void send(int to, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::vector<std::byte> receive(int from) override;

 private:
  [[nodiscard]] std::vector<std::uint64_t> lengths_of_all(std::size_t mine);

  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_rank = 0;
  int m_size = 1;
  int m_exceptions;  // in flight when this was made
  std::size_t m_most_bytes;
};

}  // namespace kastor::mpi

#endif
