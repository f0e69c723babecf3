// SPDX-License-Identifier: Apache-2.0
// Signals that end the process while it writes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <kastor/io/output_set.hpp>
#include <kastor/io/table_writer.hpp>
#include <set>
#include <stdexcept>
#include <thread>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::OutputSet;
using kastor::io::OverwritePolicy;

const std::initializer_list<int> k_ending_signals = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGUSR1,
                                                     SIGUSR2, SIGPIPE, SIGIO,  SIGALRM, SIGVTALRM,
                                                     SIGPROF, SIGXCPU, SIGXFSZ};

/// A copy of this process, in which signals remove the temporary files and end it.
class SignalledChild {
 public:
  /// `job` runs in the child, which must not go on after it. It calls what it is given to tell the
  /// parent that it has come so far.
  template <class Job>
  explicit SignalledChild(const Job& job) {
    if (::pipe(m_told) != 0) throw std::runtime_error("pipe failed");
    m_id = ::fork();
    if (m_id < 0) throw std::runtime_error("fork failed");
    if (m_id > 0) return;
    for (const int number : k_ending_signals) ::signal(number, SIG_DFL);
    kastor::io::install_signal_cleanup();
    job([this] {
      if (::write(m_told[1], "x", 1) != 1) ::_exit(98);
    });
    ::_exit(99);
  }
  ~SignalledChild() {
    ::close(m_told[0]);
    ::close(m_told[1]);
  }
  SignalledChild(const SignalledChild&) = delete;
  SignalledChild& operator=(const SignalledChild&) = delete;

  /// Waits until the child has told so many times.
  void wait_for(int times) const {
    for (char byte = 0; times > 0; --times) ASSERT_EQ(::read(m_told[0], &byte, 1), 1);
  }
  void send(int number, int times) const {
    for (int i = 0; i < times; ++i) (void)::kill(m_id, number);
  }
  void expect_end_by(int number) const {
    ASSERT_EQ(::kill(m_id, number), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(m_id, &status, 0), m_id);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
  }

 private:
  int m_told[2] = {};
  pid_t m_id = 0;
};

TEST(Signals, SignalsRemoveTheTemporaries) {
  for (const int number : k_ending_signals) {
    const ScratchDirectory scratch;
    const SignalledChild child([&](const auto& tell) {
      const struct rlimit no_core {};
      (void)::setrlimit(RLIMIT_CORE, &no_core);
      OutputSet outputs;
      (void)outputs.add(scratch.file("a"), OverwritePolicy::refuse);
      (void)outputs.add(scratch.file("b"), OverwritePolicy::refuse);
      tell();
      while (true) ::pause();
    });
    child.wait_for(1);
    EXPECT_EQ(scratch.entries(), 2u);
    child.expect_end_by(number);
    EXPECT_EQ(scratch.entries(), 0u);
  }
}

TEST(Signals, ASignalLeavesWholeFilesOnlyHoweverManyThreadsWrite) {
  const std::string content(10000, 'x');
  for (int round = 0; round < 10; ++round) {
    const ScratchDirectory scratch;
    const SignalledChild child([&](const auto& tell) {
      const auto work = [&](int thread) {
        for (int i = 0;; ++i) {
          OutputSet outputs;
          const auto target = scratch.file(std::to_string(thread) + "_" + std::to_string(i));
          // A table of one long header line is all that the writers of text are needed for.
          kastor::io::Table table{"t", content, {{"a", "", "", "", std::vector<double>{}}}};
          kastor::io::write_table(outputs.add(target, OverwritePolicy::refuse),
                                  kastor::io::TableFormat::ecsv, table, {});
          outputs.commit();
          if (i == 5) tell();
        }
      };
      std::vector<std::jthread> crew;
      for (int thread = 0; thread < 3; ++thread) crew.emplace_back(work, thread);
    });
    child.wait_for(3);
    child.expect_end_by(SIGINT);
    std::set<std::uintmax_t> sizes;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
      EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
      sizes.insert(entry.file_size());
    }
    EXPECT_EQ(sizes.size(), 1u);
    EXPECT_GT(*sizes.begin(), content.size());
  }
}

TEST(Signals, IgnoredSignalsStayIgnored) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (const int number : {SIGHUP, SIGQUIT, SIGUSR1, SIGXFSZ}) ::signal(number, SIG_IGN);
    kastor::io::install_signal_cleanup();
    for (const int number : {SIGHUP, SIGQUIT, SIGUSR1, SIGXFSZ}) ::raise(number);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(Signals, HandlersOfTheProgramStay) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (const int number : {SIGINT, SIGUSR1}) ::signal(number, [](int) { ::_exit(8); });
    kastor::io::install_signal_cleanup();
    ::raise(SIGUSR1);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 8) << status;
}

TEST(Signals, ASecondSignalEndsNothingHalfway) {
  for (int round = 0; round < 5; ++round) {
    const ScratchDirectory scratch;
    const SignalledChild child([&](const auto& tell) {
      OutputSet outputs;
      for (int i = 0; i < 40; ++i)
        (void)outputs.add(scratch.file(std::to_string(i)), OverwritePolicy::refuse);
      std::jthread other([] {
        while (true) ::pause();
      });
      tell();
      while (true) ::pause();
    });
    child.wait_for(1);
    child.send(SIGUSR1, 50);
    child.expect_end_by(SIGUSR1);
    EXPECT_EQ(scratch.entries(), 0u);
  }
}

}  // namespace
