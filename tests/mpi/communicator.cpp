// SPDX-License-Identifier: Apache-2.0
// Tests of kastor::mpi::Communicator, which every process runs: mpirun -n N communicator N

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <kastor/error.hpp>
#include <kastor/mpi/communicator.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

int expected_size = 0;
int failing_code = MPI_SUCCESS;  // what the functions below return, unless it is success
int messages = 0;                // that this process has sent by MPI_Send
int collectives = 0;

}  // namespace

// MPI lets a program stand between: what MPI_X does is also called PMPI_X.
extern "C" {
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (failing_code != MPI_SUCCESS) return failing_code;
  ++messages;
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  if (failing_code != MPI_SUCCESS) return failing_code;
  ++collectives;
  return PMPI_Allreduce(mine, all, count, type, op, comm);
}
int MPI_Allgatherv(const void* mine, int count, MPI_Datatype type, void* all, const int counts[],
                   const int places[], MPI_Datatype all_type, MPI_Comm comm) {
  if (failing_code != MPI_SUCCESS) return failing_code;
  ++collectives;
  return PMPI_Allgatherv(mine, count, type, all, counts, places, all_type, comm);
}
int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (failing_code != MPI_SUCCESS) return failing_code;
  return PMPI_Mprobe(from, tag, comm, message, status);
}
}

namespace {

using kastor::Error;
using kastor::mpi::Communicator;
using Bytes = std::vector<std::byte>;

/// Bytes that only this rank and this length have.
Bytes bytes_of(int rank, std::size_t length) {
  Bytes bytes(length);
  std::uint32_t state = static_cast<std::uint32_t>(rank) * 2654435761U + 1U;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  return bytes;
}

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

/// With messages of the length that is used, and with short ones that stand for those above 2^31.
class OfBytes : public testing::TestWithParam<std::int64_t> {
 protected:
  Communicator ranks{MPI_COMM_WORLD, GetParam()};
  const std::size_t most = static_cast<std::size_t>(GetParam());
};

TEST_P(OfBytes, KnowsTheRanks) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_EQ(ranks.rank(), rank);
  ASSERT_EQ(ranks.size(), expected_size);
  EXPECT_FALSE(ranks.machine().empty());
}

TEST_P(OfBytes, SumsModulo2To64) {
  const auto n = static_cast<std::uint64_t>(ranks.size());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  for (const std::size_t length : {0U, 1U, 2U, 3U, 9U}) {
    std::vector<std::uint64_t> words(length);
    for (std::size_t i = 0; i < length; ++i) words[i] = (rank << 40U) + i - 1;
    collectives = 0;
    ranks.sum(words);
    EXPECT_EQ(static_cast<std::size_t>(collectives), (length + most / 8 - 1) / (most / 8));
    for (std::size_t i = 0; i < length; ++i) {
      ASSERT_EQ(words[i], ((n * (n - 1) / 2) << 40U) + n * (i - 1)) << i;
    }
  }
}

TEST_P(OfBytes, GathersPiecesOfAnyLength) {
  const auto length = [&](int rank, std::size_t factor) {
    return static_cast<std::size_t>((rank + 1) % 3) * factor;
  };
  for (const std::size_t factor : {1U, 8U, 11U}) {
    const Communicator::Pieces all =
        ranks.gather(bytes_of(ranks.rank(), length(ranks.rank(), factor)));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks.size()));
    for (int i = 0; i < ranks.size(); ++i) {
      EXPECT_EQ(all[static_cast<std::size_t>(i)], bytes_of(i, length(i, factor))) << i;
    }
  }
}

TEST_P(OfBytes, GathersInOneRoundWhatFits) {
  collectives = 0;
  static_cast<void>(ranks.gather(bytes_of(0, ranks.rank() == 0 ? 17 : 0)));
  EXPECT_EQ(collectives, most < 17 ? 2 : 1);
  collectives = 0;
  static_cast<void>(ranks.gather({}));
  EXPECT_EQ(collectives, 0);
}

TEST_P(OfBytes, SumsBefore) {
  const std::int64_t rank = ranks.rank();
  EXPECT_EQ(ranks.sum_before(rank - 2), rank * (rank - 1) / 2 - 2 * rank);
}

/// Sends and receives around a ring; the last rank begins with receiving, so that it cannot jam.
void go_around(Communicator& ranks, std::size_t length) {
  const int size = ranks.size();
  const int next = (ranks.rank() + 1) % size;
  const int before = (ranks.rank() + size - 1) % size;
  const auto send = [&] { ranks.send(next, bytes_of(ranks.rank(), length)); };
  if (ranks.rank() + 1 < size) send();
  EXPECT_EQ(ranks.receive(before), bytes_of(before, length));
  if (ranks.rank() + 1 == size) send();
}

TEST_P(OfBytes, SendsAroundARing) {
  if (ranks.size() == 1) return;
  for (const std::size_t length : {0U, 15U, 16U, 17U, 100U}) {
    messages = 0;
    go_around(ranks, length);
    EXPECT_EQ(static_cast<std::size_t>(messages), length / most + 1) << length;
  }
}

TEST_P(OfBytes, KeepsTheOrderOfMessages) {
  if (ranks.rank() > 0) {
    for (std::size_t i = 0; i < 3; ++i) ranks.send(0, bytes_of(ranks.rank(), 16 * i));
    return;
  }
  for (int from = ranks.size() - 1; from > 0; --from) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ranks.receive(from), bytes_of(from, 16 * i));
  }
}

TEST_P(OfBytes, AgreesThatNoneHasFailed) {
  collectives = 0;
  ranks.agree(nullptr, "read");
  EXPECT_LE(collectives, most < 24 ? 2 : 1);
}

TEST_P(OfBytes, AFailureIsThatOfAllRanks) {
  const auto failure = std::make_exception_ptr(Error("no such file"));
  const int last = ranks.size() - 1;
  const std::string text =
      failure_of([&] { ranks.agree(ranks.rank() == last ? failure : nullptr, "opened"); });
  if (ranks.rank() == last) {
    EXPECT_EQ(text, "no such file");
  } else {
    EXPECT_EQ(text, "rank " + std::to_string(last) + " (" + ranks.machine() + "): no such file");
  }
}

TEST_P(OfBytes, TheFirstOfSeveralFailuresIsTold) {
  const auto failure = std::make_exception_ptr(Error("failure " + std::to_string(ranks.rank())));
  const bool fails = ranks.rank() % 2 == 1;
  const std::string text = failure_of([&] { ranks.agree(fails ? failure : nullptr); });
  if (ranks.size() == 1) {
    EXPECT_EQ(text, "no failure");
  } else if (fails) {
    EXPECT_EQ(text, "failure " + std::to_string(ranks.rank()));
  } else {
    EXPECT_EQ(text, "rank 1 (" + ranks.machine() + "): failure 1");
  }
}

TEST_P(OfBytes, RanksThatEndDifferentPartsFail) {
  if (ranks.size() == 1) return;
  EXPECT_THAT(failure_of([&] { ranks.agree(nullptr, ranks.rank() == 0 ? "read" : "written"); }),
              testing::StartsWith("the ranks have gone different ways"));
}

INSTANTIATE_TEST_SUITE_P(Communicator, OfBytes, testing::Values(16, 1 << 30),
                         testing::PrintToStringParamName());

TEST(Communicator, TakesLargePieces) {
  Communicator ranks(MPI_COMM_WORLD);
  constexpr std::size_t length = 200'001;
  const Communicator::Pieces all = ranks.gather(bytes_of(ranks.rank(), length));
  for (int i = 0; i < ranks.size(); ++i) {
    EXPECT_TRUE(all[static_cast<std::size_t>(i)] == bytes_of(i, length)) << i;
  }
  std::vector<std::uint64_t> words(20'000, 1);
  ranks.sum(words);
  EXPECT_EQ(std::count(words.begin(), words.end(), static_cast<std::uint64_t>(ranks.size())),
            20'000);
  if (ranks.size() > 1) go_around(ranks, length);
}

TEST(Communicator, IsOfTheGroupThatItIsGiven) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;  // of odd and even ranks, each the other way round
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  Communicator ranks(part);
  MPI_Comm_free(&part);
  const int size = (expected_size + 1 - rank % 2) / 2;
  EXPECT_EQ(ranks.size(), size);
  EXPECT_EQ(ranks.rank(), size - 1 - rank / 2);
  EXPECT_EQ(ranks.sum_before(rank % 2 + 1), (rank % 2 + 1) * ranks.rank());
}

TEST(Communicator, ItsMessagesDoNotMeetThoseOfTheProgram) {
  Communicator ranks(MPI_COMM_WORLD);
  if (ranks.rank() == 1) {
    const int mine = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&mine, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    ranks.send(0, bytes_of(1, 16));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (ranks.rank() == 0 && ranks.size() > 1) {
    EXPECT_EQ(ranks.receive(1), bytes_of(1, 16));
    int mine = 0;
    MPI_Recv(&mine, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(mine, 1);
  }
}

TEST(Communicator, ErrorsOfMpiAreErrors) {
  Communicator ranks(MPI_COMM_WORLD);
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(MPI_ERR_TRUNCATE, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  const int other = ranks.rank() == 0 ? 1 : 0;
  const Bytes one(1);
  failing_code = MPI_ERR_TRUNCATE;
  std::vector<std::uint64_t> words(1);
  EXPECT_EQ(failure_of([&] { ranks.sum(words); }), "MPI_Allreduce: " + text);
  failing_code = MPI_SUCCESS;
  MPI_Barrier(MPI_COMM_WORLD);
  failing_code = MPI_ERR_TRUNCATE;
  EXPECT_EQ(failure_of([&] { static_cast<void>(ranks.gather(one)); }), "MPI_Allgatherv: " + text);
  if (ranks.size() > 1) {
    EXPECT_EQ(failure_of([&] { ranks.send(other, one); }), "MPI_Send: " + text);
    EXPECT_EQ(failure_of([&] { static_cast<void>(ranks.receive(other)); }), "MPI_Mprobe: " + text);
  }
  failing_code = MPI_SUCCESS;
}

TEST(Communicator, MpiReportsErrorsOfTheDuplicateAlone) {
  const auto handler_of_world = [] {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    return handler;
  };
  const Communicator ranks(MPI_COMM_WORLD);
  EXPECT_TRUE(handler_of_world() == MPI_ERRORS_ARE_FATAL);
}

TEST(Communicator, RefusesWrongArguments) {
  Communicator ranks(MPI_COMM_WORLD);
  for (const int other : {-2, -1, ranks.rank(), ranks.size()}) {
    EXPECT_THAT(failure_of([&] { ranks.send(other, {}); }), testing::EndsWith("another rank"));
    EXPECT_THAT(failure_of([&] { static_cast<void>(ranks.receive(other)); }),
                testing::EndsWith("another rank"));
  }
  EXPECT_THAT(failure_of([] { Communicator(MPI_COMM_NULL); }), testing::HasSubstr("MPI_COMM_NULL"));
  for (const std::int64_t bytes : {std::int64_t{7}, std::int64_t{1} << 31}) {
    EXPECT_THAT(failure_of([&] { Communicator(MPI_COMM_WORLD, bytes); }),
                testing::HasSubstr("expected 8 to 2^31 - 1"));
  }
}

TEST(Communicator, RefusesACommunicatorOfTwoGroups) {
  if (expected_size < 2) return;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, 0, &part);
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 7, &both);
  EXPECT_THAT(failure_of([&] { const Communicator ranks(both); }),
              testing::HasSubstr("two groups"));
  MPI_Comm_free(&both);
  MPI_Comm_free(&part);
}

TEST(Communicator, IsNotFreedWhileAnExceptionIsThrown) {
  const auto fail = [] {
    const Communicator ranks(MPI_COMM_WORLD);
    if (ranks.rank() == 0) throw Error("alone");
    // MPI_Comm_free may wait for rank 0 here, so no other rank is destroyed in another way.
    throw Error("with it");
  };
  EXPECT_THROW(fail(), Error);
}

/// Tells failures of all ranks; what has passed, rank 0 tells.
class FailuresOfRank : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank,
                 result.file_name() != nullptr ? result.file_name() : "", result.line_number(),
                 result.message());
  }
};

/// Whether the failure without MPI is as expected.
bool is_told(const char* expected) {
  const std::string text = failure_of([] { const Communicator ranks(MPI_COMM_WORLD); });
  if (text.find(expected) != std::string::npos) return true;
  std::fprintf(stderr, "expected \"%s\", found \"%s\"\n", expected, text.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "expected the number of processes\n");
    return 2;
  }
  expected_size = std::atoi(argv[1]);
  bool passed = is_told("MPI is not initialised");
  MPI_Init(&argc, &argv);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank > 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOfRank);
  }
  passed = RUN_ALL_TESTS() == 0 && passed;
  const int failed = passed ? 0 : 1;
  int any_failed = 1;
  PMPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  std::optional<Communicator> longer_than_mpi(std::in_place, MPI_COMM_WORLD);
  MPI_Finalize();
  longer_than_mpi.reset();  // calls nothing of MPI's
  return is_told("MPI is finalised") && any_failed == 0 ? 0 : 1;
}
