// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <kastor/communicator.hpp>
#include <kastor/error.hpp>
#include <new>
#include <string>
#include <vector>

#include "thread_ranks.hpp"

namespace {

using kastor::Communicator;
using kastor::Error;
using testing_support::Abandoned;
using testing_support::RankCounts;
using testing_support::run_ranks;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The text of the failure of each rank.
std::vector<std::string> failures_of(int size, const std::function<void(Communicator&)>& work) {
  std::vector<std::string> texts(static_cast<std::size_t>(size));
  run_ranks(size, [&](Communicator& ranks) {
    try {
      work(ranks);
    } catch (const std::exception& error) {
      texts[static_cast<std::size_t>(ranks.rank())] = error.what();
    }
  });
  return texts;
}

void fail_if(bool condition, const std::string& text) {
  if (condition) throw Error(text);
}

/// Runs `part`, as callers of `agree` do.
void agree_after(Communicator& ranks, const std::function<void()>& part) {
  std::exception_ptr failure;
  try {
    part();
  } catch (...) {
    failure = std::current_exception();
  }
  ranks.agree(failure);
}

/// The name of a machine is part of the text of a failure.
class OnMachine : public Communicator {
 public:
  explicit OnMachine(Communicator& ranks) : m_ranks(ranks) {}
  int rank() const override { return m_ranks.rank(); }
  int size() const override { return m_ranks.size(); }
  std::string machine() const override { return "node" + std::to_string(rank()); }
  void sum(std::span<std::uint64_t> words) override { m_ranks.sum(words); }
  Pieces gather(std::span<const std::byte> mine) override { return m_ranks.gather(mine); }
  void send(int to, std::span<const std::byte> bytes) override { m_ranks.send(to, bytes); }
  std::vector<std::byte> receive(int from) override { return m_ranks.receive(from); }

 private:
  Communicator& m_ranks;
};

class OfSize : public testing::TestWithParam<int> {};

TEST_P(OfSize, SumsModulo2To64) {
  const int size = GetParam();
  const auto n = static_cast<std::uint64_t>(size);
  run_ranks(size, [&](Communicator& ranks) {
    EXPECT_EQ(ranks.size(), size);
    const auto rank = static_cast<std::uint64_t>(ranks.rank());
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::array<std::uint64_t, 3> words{rank + round, 1, ~std::uint64_t{0}};
      ranks.sum(words);
      EXPECT_THAT(words,
                  testing::ElementsAre(n * (n - 1) / 2 + n * round, n, std::uint64_t{0} - n));
    }
    ranks.sum({});
  });
}

TEST_P(OfSize, GathersPiecesOfAnyLength) {
  const int size = GetParam();
  run_ranks(size, [&](Communicator& ranks) {
    const auto piece = [](int rank) {
      return std::string(static_cast<std::size_t>(rank % 3) * 5,
                         static_cast<char>('a' + rank % 26));
    };
    const Communicator::Pieces all = ranks.gather(bytes_of(piece(ranks.rank())));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) EXPECT_EQ(text_of(all[static_cast<std::size_t>(i)]), piece(i));
  });
}

TEST_P(OfSize, SumsBefore) {
  run_ranks(GetParam(), [](Communicator& ranks) {
    const std::int64_t rank = ranks.rank();
    EXPECT_EQ(ranks.sum_before(rank - 2), rank * (rank - 1) / 2 - 2 * rank);
  });
}

TEST_P(OfSize, SendsAlongAChain) {
  const int size = GetParam();
  run_ranks(size, [&](Communicator& ranks) {
    const int rank = ranks.rank();
    if (rank > 0) {
      EXPECT_EQ(text_of(ranks.receive(rank - 1)), "first of " + std::to_string(rank - 1));
      EXPECT_EQ(text_of(ranks.receive(rank - 1)), "");
      EXPECT_EQ(text_of(ranks.receive(rank - 1)), "third");
    }
    if (rank + 1 < size) {
      ranks.send(rank + 1, bytes_of("first of " + std::to_string(rank)));
      ranks.send(rank + 1, {});
      ranks.send(rank + 1, bytes_of("third"));
    }
  });
}

TEST_P(OfSize, ReceivesInAnyOrderOfRanks) {
  const int size = GetParam();
  run_ranks(size, [&](Communicator& ranks) {
    if (ranks.rank() > 0) return ranks.send(0, bytes_of(std::to_string(ranks.rank())));
    for (int i = size - 1; i > 0; --i) EXPECT_EQ(text_of(ranks.receive(i)), std::to_string(i));
  });
}

TEST_P(OfSize, AgreesThatNoneHasFailed) {
  const std::vector<RankCounts> counts = run_ranks(GetParam(), [](Communicator& ranks) {
    for (int i = 0; i < 3; ++i) ranks.agree(nullptr);
  });
  for (const RankCounts& of_rank : counts) EXPECT_EQ(of_rank.collectives, 3);
}

TEST_P(OfSize, FailsEverywhereIfTheLastRankHasFailed) {
  const int last = GetParam() - 1;
  const auto texts = failures_of(GetParam(), [&](Communicator& ranks) {
    agree_after(ranks, [&] { fail_if(ranks.rank() == last, "no such file"); });
    FAIL() << "goes on";
  });
  for (int i = 0; i < last; ++i) {
    EXPECT_EQ(texts[static_cast<std::size_t>(i)],
              "rank " + std::to_string(last) + ": no such file");
  }
  EXPECT_EQ(texts.back(), "no such file");
}

INSTANTIATE_TEST_SUITE_P(Communicator, OfSize, testing::Values(1, 2, 3, 8, 64, 1000),
                         testing::PrintToStringParamName());

TEST(Communicator, TheFirstOfSeveralFailuresIsTold) {
  const auto texts = failures_of(5, [](Communicator& ranks) {
    agree_after(ranks, [&] { fail_if(ranks.rank() % 2 == 1, std::to_string(ranks.rank())); });
  });
  EXPECT_THAT(texts, testing::ElementsAre("rank 1: 1", "1", "rank 1: 1", "3", "rank 1: 1"));
}

TEST(Communicator, AFailureKeepsItsTypeOnItsRank) {
  run_ranks(2, [](Communicator& ranks) {
    const auto part = [&] {
      if (ranks.rank() == 1) throw std::bad_alloc();
    };
    if (ranks.rank() == 1) {
      EXPECT_THROW(agree_after(ranks, part), std::bad_alloc);
    } else {
      EXPECT_THROW(agree_after(ranks, part), Error);
    }
  });
}

TEST(Communicator, FailuresWithoutATextAreTold) {
  const auto text_if = [](const std::function<void()>& part) {
    return failures_of(2, [&](Communicator& ranks) {
      agree_after(ranks, [&] {
        if (ranks.rank() == 1) part();
      });
    })[0];
  };
  EXPECT_EQ(text_if([] { throw std::bad_alloc(); }), "rank 1: not enough memory");
  EXPECT_EQ(text_if([] { throw Error(""); }), "rank 1: ");
}

TEST(Communicator, TheMachineOfAFailureIsTold) {
  const auto texts = failures_of(3, [](Communicator& ranks) {
    OnMachine here(ranks);
    agree_after(here, [&] { fail_if(here.rank() == 1, "no memory"); });
  });
  EXPECT_THAT(texts, testing::ElementsAre("rank 1 (node1): no memory", "no memory",
                                          "rank 1 (node1): no memory"));
}

TEST(Communicator, RanksThatEndDifferentPartsFail) {
  const auto texts = failures_of(5, [](Communicator& ranks) {
    ranks.agree(nullptr, "opened");
    if (ranks.rank() != 3) ranks.agree(nullptr, "read");
    ranks.agree(nullptr, "labelled");
    if (ranks.rank() == 3) ranks.agree(nullptr, "written");
  });
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts[i], "the ranks have gone different ways: rank " + std::to_string(i) +
                            " has ended the part \"" + (i == 3 ? "labelled" : "read") +
                            "\", another rank another part");
  }
}

TEST(Communicator, ThreePartsOfThreeRanksAreDifferent) {
  const auto texts = failures_of(3, [](Communicator& ranks) {
    ranks.agree(nullptr, std::string(1, static_cast<char>('a' + ranks.rank())));
  });
  EXPECT_THAT(texts, testing::Each(testing::HasSubstr("different ways")));
}

TEST(ThreadRanks, ThrowTheFirstFailure) {
  const auto fail_alone = [](Communicator& ranks) {
    fail_if(ranks.rank() == 2, "alone");
    static_cast<void>(ranks.gather({}));
  };
  try {
    run_ranks(4, fail_alone);
    FAIL() << "no failure";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "alone");
  }
}

TEST(ThreadRanks, DoNotWaitForARankThatHasEnded) {
  EXPECT_THROW(run_ranks(3,
                         [](Communicator& ranks) {
                           if (ranks.rank() != 1) static_cast<void>(ranks.sum_before(1));
                         }),
               Abandoned);
  EXPECT_THROW(run_ranks(2,
                         [](Communicator& ranks) {
                           if (ranks.rank() == 0) static_cast<void>(ranks.receive(1));
                         }),
               Abandoned);
  EXPECT_THROW(run_ranks(2,
                         [](Communicator& ranks) {
                           if (ranks.rank() == 0) ranks.send(1, {});
                         }),
               Abandoned);
}

TEST(ThreadRanks, DoNotMixCalls) {
  const auto texts = failures_of(2, [](Communicator& ranks) {
    std::array<std::uint64_t, 2> words{};
    if (ranks.rank() == 0) ranks.sum(words);
    if (ranks.rank() == 1) static_cast<void>(ranks.gather({}));
  });
  for (const std::string& text : texts) EXPECT_THAT(text, testing::HasSubstr("different ways"));
}

TEST(ThreadRanks, DoNotSendToThemselves) {
  EXPECT_THROW(run_ranks(2, [](Communicator& ranks) { ranks.send(ranks.rank(), {}); }), Error);
}

TEST(ThreadRanks, CountWhatIsAsked) {
  const std::vector<RankCounts> counts = run_ranks(2, [](Communicator& ranks) {
    std::array<std::uint64_t, 2> words{};
    ranks.sum(words);
    static_cast<void>(ranks.gather(bytes_of("abc")));
    if (ranks.rank() == 0) ranks.send(1, bytes_of("defg"));
    if (ranks.rank() == 1) static_cast<void>(ranks.receive(0));
  });
  const auto as_list = [](const RankCounts& of_rank) {
    return std::vector{of_rank.collectives, of_rank.sent, of_rank.received, of_rank.bytes};
  };
  EXPECT_THAT(as_list(counts[0]), testing::ElementsAre(2, 1, 0, 23));
  EXPECT_THAT(as_list(counts[1]), testing::ElementsAre(2, 0, 1, 19));
}

}  // namespace
