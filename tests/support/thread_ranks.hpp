// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_THREAD_RANKS_HPP
#define KASTOR_TESTS_THREAD_RANKS_HPP

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <kastor/communicator.hpp>
#include <kastor/error.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Ranks that are threads of one process: what needs several ranks is tested without MPI.
namespace testing_support {

/// What one rank has asked of its communicator.
struct RankCounts {
  std::int64_t collectives = 0;  ///< calls of `sum` and `gather`
  std::int64_t sent = 0;         ///< calls of `send`
  std::int64_t received = 0;     ///< calls of `receive`
  std::int64_t bytes = 0;        ///< given to `sum`, `gather` and `send`
};

/// Why a rank does not go on when another has failed: not a failure of its own.
class Abandoned : public kastor::Error {
 public:
  using Error::Error;
};

/// Where the threads meet. One lock guards all of it.
class MeetingPoint {
 public:
  using Pieces = kastor::Communicator::Pieces;

  explicit MeetingPoint(int size)
      : m_size(static_cast<std::size_t>(size)), m_seats(m_size), m_round(new_round()) {}

  [[nodiscard]] int size() const { return static_cast<int>(m_size); }

  void sum(int rank, std::span<std::uint64_t> words) {
    const auto round = meet(rank, "sum of " + std::to_string(words.size()), [&](Round& mine) {
      mine.words.resize(words.size());
      for (std::size_t i = 0; i < words.size(); ++i) mine.words[i] += words[i];
    });
    std::copy(round->words.begin(), round->words.end(), words.begin());
  }

  [[nodiscard]] Pieces gather(int rank, std::span<const std::byte> bytes) {
    return meet(rank, "gather",
                [&](Round& mine) {
                  mine.pieces.resize(m_size);
                  mine.pieces[static_cast<std::size_t>(rank)].assign(bytes.begin(), bytes.end());
                })
        ->pieces;
  }

  /// Waits until the bytes are received, as MPI may.
  void send(int from, int to, std::span<const std::byte> bytes) {
    if (from == to) throw kastor::Error("rank " + std::to_string(to) + " sends to itself");
    std::unique_lock lock(m_mutex);
    Seat& receiver = m_seats.at(static_cast<std::size_t>(to));
    const auto is_received = std::make_shared<bool>(false);
    receiver.inbox.push_back({from, std::vector(bytes.begin(), bytes.end()), is_received});
    receiver.changed.notify_one();
    wait(lock, from, "send to " + std::to_string(to), receiver.has_ended,
         [&] { return *is_received; });
  }

  [[nodiscard]] std::vector<std::byte> receive(int rank, int from) {
    std::unique_lock lock(m_mutex);
    const Seat& sender = m_seats.at(static_cast<std::size_t>(from));
    auto& inbox = m_seats[static_cast<std::size_t>(rank)].inbox;
    auto found = inbox.end();
    wait(lock, rank, "receive from " + std::to_string(from), sender.has_ended, [&] {
      found = std::find_if(inbox.begin(), inbox.end(), [&](auto& x) { return x.from == from; });
      return found != inbox.end();
    });
    std::vector<std::byte> bytes = std::move(found->bytes);
    *found->is_received = true;
    inbox.erase(found);
    m_seats[static_cast<std::size_t>(from)].changed.notify_one();
    return bytes;
  }

  /// The rank takes part no more.
  void leave(int rank) {
    const std::scoped_lock lock(m_mutex);
    m_seats[static_cast<std::size_t>(rank)].has_ended = true;
    m_any_has_ended = true;
    for (Seat& seat : m_seats) seat.changed.notify_one();
  }

 private:
  /// One collective call, of all ranks.
  struct Round {
    std::string call;
    std::string trouble;
    std::vector<std::uint64_t> words;
    Pieces pieces;
    std::size_t arrived = 0;
    bool is_complete = false;
  };

  struct Message {
    int from;
    std::vector<std::byte> bytes;
    std::shared_ptr<bool> is_received;  // shared with the sender, which waits
  };

  struct Seat {
    std::condition_variable changed;
    std::deque<Message> inbox;
    bool has_ended = false;
  };

  [[nodiscard]] static std::shared_ptr<Round> new_round() { return std::make_shared<Round>(); }

  template <class Add>
  [[nodiscard]] std::shared_ptr<const Round> meet(int rank, const std::string& call,
                                                  const Add& add) {
    std::unique_lock lock(m_mutex);
    const std::shared_ptr<Round> round = m_round;
    if (round->arrived == 0) round->call = call;
    if (round->call == call) {
      add(*round);
    } else {
      round->trouble = "the ranks have gone different ways: rank " + std::to_string(rank) +
                       " calls " + call + ", another calls " + round->call;
    }
    if (++round->arrived == m_size) {
      round->is_complete = true;
      m_round = new_round();
      for (Seat& seat : m_seats) seat.changed.notify_one();
    } else {
      wait(lock, rank, call, m_any_has_ended, [&] { return round->is_complete; });
    }
    if (!round->trouble.empty()) throw kastor::Error(round->trouble);
    return round;
  }

  /// \param is_in_vain  that nothing will come any more; read with the lock held
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, int rank, const std::string& call,
            const bool& is_in_vain, const Ready& is_ready) {
    auto& changed = m_seats[static_cast<std::size_t>(rank)].changed;
    const bool in_time =
        changed.wait_for(lock, std::chrono::seconds(60), [&] { return is_ready() || is_in_vain; });
    if (is_ready()) return;
    const std::string who = "rank " + std::to_string(rank) + " waits in " + call;
    if (!in_time) throw kastor::Error(who + " for 60 s");
    throw Abandoned(who + " for a rank that has ended");
  }

  std::mutex m_mutex;
  std::size_t m_size;
  std::vector<Seat> m_seats;
  std::shared_ptr<Round> m_round;
  bool m_any_has_ended = false;
};

/// A rank that is a thread.
class ThreadRank final : public kastor::Communicator {
 public:
  ThreadRank(MeetingPoint& point, int rank) : m_point(point), m_rank(rank) {}

  [[nodiscard]] int rank() const override { return m_rank; }
  [[nodiscard]] int size() const override { return m_point.size(); }
  void sum(std::span<std::uint64_t> words) override {
    m_counts.collectives += 1;
    m_counts.bytes += static_cast<std::int64_t>(words.size_bytes());
    m_point.sum(m_rank, words);
  }
  [[nodiscard]] Pieces gather(std::span<const std::byte> mine) override {
    m_counts.collectives += 1;
    m_counts.bytes += static_cast<std::int64_t>(mine.size());
    return m_point.gather(m_rank, mine);
  }
  void send(int to, std::span<const std::byte> bytes) override {
    m_counts.sent += 1;
    m_counts.bytes += static_cast<std::int64_t>(bytes.size());
    m_point.send(m_rank, to, bytes);
  }
  [[nodiscard]] std::vector<std::byte> receive(int from) override {
    m_counts.received += 1;
    return m_point.receive(m_rank, from);
  }

  [[nodiscard]] const RankCounts& counts() const { return m_counts; }

 private:
  MeetingPoint& m_point;
  int m_rank;
  RankCounts m_counts;
};

/// Runs `work` on `size` ranks at a time [1 to 1000] and throws the failure of the first rank that
/// has one. A rank that waits for another that has ended fails instead; so does one that waits for
/// a minute, and all where some call `sum` and others `gather`, or `sum` of another length. `send`
/// waits for `receive`.
inline std::vector<RankCounts> run_ranks(int size,
                                         const std::function<void(kastor::Communicator&)>& work) {
  MeetingPoint point(size);
  const auto n = static_cast<std::size_t>(size);
  std::vector<RankCounts> counts(n);
  std::vector<std::exception_ptr> failures(n);
  std::vector<std::exception_ptr> abandoned(n);
  const auto run = [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    ThreadRank ranks(point, rank);
    try {
      work(ranks);
    } catch (const Abandoned&) {
      abandoned[i] = std::current_exception();
    } catch (...) {
      failures[i] = std::current_exception();
    }
    counts[i] = ranks.counts();
    point.leave(rank);
  };
  std::vector<std::thread> threads;
  std::exception_ptr not_started;
  try {
    for (int rank = 0; rank < size; ++rank) threads.emplace_back(run, rank);
  } catch (...) {
    not_started = std::current_exception();
    point.leave(size - 1);
  }
  for (std::thread& thread : threads) thread.join();
  if (not_started) std::rethrow_exception(not_started);
  for (const auto* all : {&failures, &abandoned}) {
    for (const std::exception_ptr& failure : *all) {
      if (failure) std::rethrow_exception(failure);
    }
  }
  return counts;
}

}  // namespace testing_support

#endif
