// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <kastor/error.hpp>
#include <kastor/mpi/communicator.hpp>
#include <limits>

namespace kastor::mpi {

namespace {

constexpr int tag = 0;  // the duplicate has no other messages

/// Throws what MPI says of a code that is none of success.
void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  text.resize(static_cast<std::size_t>(length));
  throw Error(std::string(call) + ": " +
              (text.empty() ? "error " + std::to_string(code) + " of MPI" : text));
}

[[nodiscard]] bool is_initialised() {
  int flag = 0;
  return MPI_Initialized(&flag) == MPI_SUCCESS && flag != 0;
}

[[nodiscard]] bool is_finalised() {
  int flag = 0;
  return MPI_Finalized(&flag) != MPI_SUCCESS || flag != 0;
}

/// What may be duplicated. MPI would end the program for any other.
[[nodiscard]] MPI_Comm checked(MPI_Comm comm) {
  constexpr const char* who = "kastor::mpi::Communicator";
  KASTOR_EXPECTS(who, is_initialised(), "MPI is not initialised; expected MPI_Init before");
  KASTOR_EXPECTS(who, !is_finalised(), "MPI is finalised; expected MPI_Finalize after");
  KASTOR_EXPECTS(who, comm != MPI_COMM_NULL, "the communicator is MPI_COMM_NULL");
  int joins_two_groups = 0;
  check(MPI_Comm_test_inter(comm, &joins_two_groups), "MPI_Comm_test_inter");
  KASTOR_EXPECTS(who, joins_two_groups == 0,
                 "the communicator joins two groups; expected one of a single group");
  return comm;
}

[[nodiscard]] std::size_t checked_bytes(std::int64_t most_bytes) {
  KASTOR_EXPECTS("kastor::mpi::Communicator",
                 most_bytes >= 8 && most_bytes <= std::numeric_limits<int>::max(),
                 "messages of " + std::to_string(most_bytes) + " bytes; expected 8 to 2^31 - 1");
  return static_cast<std::size_t>(most_bytes);
}

/// MPI takes some numbers below 0 for "any rank" and "no rank".
void expect_another(const kastor::Communicator& ranks, int other, const char* who) {
  KASTOR_EXPECTS(who, other >= 0 && other < ranks.size() && other != ranks.rank(),
                 "rank " + std::to_string(other) + " on rank " + std::to_string(ranks.rank()) +
                     " of " + std::to_string(ranks.size()) + "; expected another rank");
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, std::int64_t most_bytes)
    : m_exceptions(std::uncaught_exceptions()), m_most_bytes(checked_bytes(most_bytes)) {
  check(MPI_Comm_dup(checked(comm), &m_comm), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(m_comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(m_comm, &m_rank), "MPI_Comm_rank");
  check(MPI_Comm_size(m_comm, &m_size), "MPI_Comm_size");
}

Communicator::~Communicator() {
  if (std::uncaught_exceptions() > m_exceptions || is_finalised()) return;
  MPI_Comm_free(&m_comm);
}

std::string Communicator::machine() const {
  std::string name(MPI_MAX_PROCESSOR_NAME, '\0');
  int length = 0;
  if (MPI_Get_processor_name(name.data(), &length) != MPI_SUCCESS) length = 0;
  name.resize(static_cast<std::size_t>(length));
  return name;
}

void Communicator::sum(std::span<std::uint64_t> words) {
  const std::size_t most = m_most_bytes / sizeof(std::uint64_t);
  while (!words.empty()) {
    const std::size_t count = std::min(words.size(), most);
    check(MPI_Allreduce(MPI_IN_PLACE, words.data(), static_cast<int>(count), MPI_UINT64_T, MPI_SUM,
                        m_comm),
          "MPI_Allreduce");
    words = words.subspan(count);
  }
}

std::vector<std::uint64_t> Communicator::lengths_of_all(std::size_t mine) {
  const std::uint64_t length = mine;
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(m_size));
  check(MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, m_comm),
        "MPI_Allgather");
  return lengths;
}

// In rounds of at most m_most_bytes: each takes what is left of the ranks, in their order, until it
// is full. So counts and places are int, and all ranks make the same rounds.
Communicator::Pieces Communicator::gather(std::span<const std::byte> mine) {
  const std::vector<std::uint64_t> lengths = lengths_of_all(mine.size());
  const std::size_t n = lengths.size();
  Pieces pieces(n);
  for (std::size_t i = 0; i < n; ++i) pieces[i].reserve(lengths[i]);
  std::vector<std::byte> round;
  std::vector<int> counts(n);
  std::vector<int> places(n);
  for (;;) {
    std::size_t filled = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t left = lengths[i] - pieces[i].size();
      const std::size_t count = std::min(left, m_most_bytes - filled);
      counts[i] = static_cast<int>(count);
      places[i] = static_cast<int>(filled);
      filled += count;
    }
    if (filled == 0) return pieces;
    round.resize(filled);
    const auto me = static_cast<std::size_t>(m_rank);
    check(MPI_Allgatherv(mine.data() + pieces[me].size(), counts[me], MPI_BYTE, round.data(),
                         counts.data(), places.data(), MPI_BYTE, m_comm),
          "MPI_Allgatherv");
    for (std::size_t i = 0; i < n; ++i) {
      const auto first = round.begin() + places[i];
      pieces[i].insert(pieces[i].end(), first, first + counts[i]);
    }
  }
}

// The last message is the first that is shorter than m_most_bytes, perhaps empty: what is short
// takes one message.
void Communicator::send(int to, std::span<const std::byte> bytes) {
  expect_another(*this, to, "kastor::mpi::Communicator::send");
  for (;;) {
    const std::size_t count = std::min(bytes.size(), m_most_bytes);
    check(MPI_Send(bytes.data(), static_cast<int>(count), MPI_BYTE, to, tag, m_comm), "MPI_Send");
    if (count < m_most_bytes) return;
    bytes = bytes.subspan(count);
  }
}

std::vector<std::byte> Communicator::receive(int from) {
  expect_another(*this, from, "kastor::mpi::Communicator::receive");
  std::vector<std::byte> bytes;
  for (;;) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Mprobe(from, tag, m_comm, &message, &status), "MPI_Mprobe");
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(count));
    check(MPI_Mrecv(bytes.data() + before, count, MPI_BYTE, &message, MPI_STATUS_IGNORE),
          "MPI_Mrecv");
    if (static_cast<std::size_t>(count) < m_most_bytes) return bytes;
  }
}

}  // namespace kastor::mpi
