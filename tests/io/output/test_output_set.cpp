// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <kastor/error.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/io/table_writer.hpp>
#include <set>
#include <thread>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::OutputSet;
using kastor::io::OverwritePolicy;

std::string add_error(const std::string& target, OverwritePolicy policy = OverwritePolicy::replace,
                      const std::vector<std::string>& inputs = {}) {
  OutputSet outputs;
  return error_of([&] { (void)outputs.add(target, policy, inputs); });
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

TEST(OutputSet, AppearsOnlyWithCommit) {
  const ScratchDirectory scratch;
  {
    OutputSet outputs;
    write_bytes(outputs.add(scratch.file("a.csv"), OverwritePolicy::refuse), "lost");
  }
  EXPECT_EQ(scratch.entries(), 0u);
  OutputSet outputs;
  const std::string first = outputs.add(scratch.file("a.csv"), OverwritePolicy::refuse);
  EXPECT_EQ(std::filesystem::path(first).parent_path(), std::filesystem::canonical(scratch.path()));
  EXPECT_TRUE(std::filesystem::path(first).filename().string().starts_with(".a.csv.kastor-"));
  write_bytes(first, "one");
  write_bytes(outputs.add(scratch.file("b.fits"), OverwritePolicy::refuse), "two");
  EXPECT_FALSE(std::filesystem::exists(scratch.file("a.csv")));
  outputs.commit();
  EXPECT_EQ(read_all(scratch.file("a.csv")), "one");
  EXPECT_EQ(read_all(scratch.file("b.fits")), "two");
  EXPECT_EQ(scratch.entries(), 2u);
}

TEST(OutputSet, NewFilesFollowTheUmaskAndOldOnesKeepTheirMode) {
  const ScratchDirectory scratch;
  const mode_t before = ::umask(027);
  write_bytes(scratch.file("old"), "old");
  ::chmod(scratch.file("old").c_str(), 0604);
  OutputSet outputs;
  write_bytes(outputs.add(scratch.file("new"), OverwritePolicy::refuse), "x");
  write_bytes(outputs.add(scratch.file("old"), OverwritePolicy::replace), "y");
  outputs.commit();
  ::umask(before);
  EXPECT_EQ(mode_of(scratch.file("new")), 0640u);
  EXPECT_EQ(mode_of(scratch.file("old")), 0604u);
  EXPECT_EQ(read_all(scratch.file("old")), "y");
}

TEST(OutputSet, AnExistingFileNeedsOverwrite) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a"), "old");
  EXPECT_SAYS(add_error(scratch.file("a"), OverwritePolicy::refuse), "exists already");
  EXPECT_EQ(read_all(scratch.file("a")), "old");
}

TEST(OutputSet, RefusesWhatIsNoRegularFileEvenThen) {
  const ScratchDirectory scratch;
  EXPECT_SAYS(add_error("/dev/full"), "not a regular file");
  EXPECT_SAYS(add_error("/dev/null"), "not a regular file");
  EXPECT_SAYS(add_error(scratch.path().string()), "is a directory");
  ASSERT_EQ(::mkfifo(scratch.file("fifo").c_str(), 0600), 0);
  EXPECT_SAYS(add_error(scratch.file("fifo")), "not a regular file");
  std::filesystem::create_symlink("/dev/full", scratch.file("link"));
  EXPECT_SAYS(add_error(scratch.file("link")), "not a regular file");
  std::filesystem::create_symlink("nowhere", scratch.file("dangling"));
  EXPECT_SAYS(add_error(scratch.file("dangling")), "dangling link");
}

TEST(OutputSet, RefusesBadNamesAndDirectories) {
  const ScratchDirectory scratch;
  EXPECT_SAYS(add_error(""), "is not a file name");
  EXPECT_SAYS(add_error(scratch.file("missing/a")), "does not exist");
  EXPECT_SAYS(add_error(scratch.file("new/")), "is not a file name");
  write_bytes(scratch.file("plain"), "");
  EXPECT_SAYS(add_error(scratch.file("plain/a")), "expected");
  EXPECT_SAYS(add_error("/proc/a.csv"), "cannot be written");
}

TEST(OutputSet, RefusesTheInputUnderAnyName) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("in"), "in");
  std::filesystem::create_symlink("in", scratch.file("soft"));
  std::filesystem::create_hard_link(scratch.file("in"), scratch.file("hard"));
  for (const char* name : {"in", "soft", "hard"}) {
    EXPECT_SAYS(add_error(scratch.file(name), OverwritePolicy::replace, {scratch.file("in")}),
                "is the input")
        << name;
    EXPECT_SAYS(
        add_error(scratch.file("in"), OverwritePolicy::replace, {"none", scratch.file(name)}),
        "is the input")
        << name;
  }
}

TEST(OutputSet, RefusesOneFileTwice) {
  const ScratchDirectory scratch;
  OutputSet outputs;
  (void)outputs.add(scratch.file("a"), OverwritePolicy::refuse);
  EXPECT_SAYS(error_of([&] {
                (void)outputs.add(scratch.path().string() + "/./a", OverwritePolicy::refuse);
              }),
              "named twice");
  write_bytes(scratch.file("b"), "");
  std::filesystem::create_symlink("b", scratch.file("c"));
  (void)outputs.add(scratch.file("b"), OverwritePolicy::replace);
  EXPECT_SAYS(error_of([&] { (void)outputs.add(scratch.file("c"), OverwritePolicy::replace); }),
              "named twice");
}

TEST(OutputSet, ALinkStaysALink) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch.file("d"));
  write_bytes(scratch.file("d/real"), "old");
  std::filesystem::create_symlink("d/real", scratch.file("link"));
  OutputSet outputs;
  write_bytes(outputs.add(scratch.file("link"), OverwritePolicy::replace), "new");
  outputs.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.file("link")));
  EXPECT_EQ(read_all(scratch.file("d/real")), "new");
}

TEST(OutputSet, AFailedRenameTakesNewFilesBack) {
  const ScratchDirectory scratch;
  OutputSet outputs;
  write_bytes(outputs.add(scratch.file("a"), OverwritePolicy::refuse), "a");
  write_bytes(outputs.add(scratch.file("b"), OverwritePolicy::refuse), "b");
  write_bytes(scratch.file("b"), "appeared meanwhile");
  const std::string text = error_of([&] { outputs.commit(); });
  EXPECT_SAYS(text, scratch.file("b") + ": cannot be renamed into place: File exists");
  EXPECT_EQ(scratch.entries(), 1u);
  EXPECT_EQ(read_all(scratch.file("b")), "appeared meanwhile");
}

TEST(OutputSet, WorksInTheCurrentDirectoryAndWithLongNames) {
  const ScratchDirectory scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  const std::string name(255, 'n');
  {
    OutputSet outputs;
    write_bytes(outputs.add(name, OverwritePolicy::refuse), "x");
    write_bytes(outputs.add("~", OverwritePolicy::refuse), "y");
    outputs.commit();
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(read_all(scratch.file(name)), "x");
  EXPECT_EQ(read_all(scratch.file("~")), "y");
}

/// Two outputs that are to appear as `name` and `other`, while something happens in between.
std::string commit_error(const ScratchDirectory& scratch, OverwritePolicy policy,
                         const std::function<void()>& meanwhile) {
  OutputSet outputs;
  write_bytes(outputs.add(scratch.file("other"), policy), "other");
  write_bytes(outputs.add(scratch.file("name"), policy), "new");
  meanwhile();
  std::string error;
  try {
    outputs.commit();
  } catch (const kastor::Error& caught) {
    error = caught.what();
  }
  return error;
}

TEST(OutputSet, AFileThatAppearsMeanwhileIsReplacedUnderThatPolicyOnly) {
  for (const bool replace : {true, false}) {
    const ScratchDirectory scratch;
    const auto policy = replace ? OverwritePolicy::replace : OverwritePolicy::refuse;
    const std::string error = commit_error(scratch, policy, [&] {
      write_bytes(scratch.file("name"), "old");
      ::chmod(scratch.file("name").c_str(), 0604);
    });
    EXPECT_EQ(read_all(scratch.file("name")), replace ? "new" : "old");
    EXPECT_EQ(mode_of(scratch.file("name")), 0604u);
    EXPECT_EQ(scratch.entries(), replace ? 2u : 1u);
    if (replace) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_SAYS(error,
                  "File exists (it appeared meanwhile); expected a new file, or --overwrite");
    }
  }
}

TEST(OutputSet, WhatIsNoRegularFileMayNotAppearMeanwhile) {
  const auto to = [](const ScratchDirectory& scratch) { return scratch.file("name"); };
  const std::pair<const char*, std::function<void(const ScratchDirectory&)>> appearing[] = {
      {"a directory has",
       [&](const auto& scratch) { std::filesystem::create_directory(to(scratch)); }},
      {"a link has",
       [&](const auto& scratch) { std::filesystem::create_symlink("precious", to(scratch)); }},
      {"a link has",
       [&](const auto& scratch) { std::filesystem::create_symlink("nowhere", to(scratch)); }},
      {"no regular file",
       [&](const auto& scratch) { ASSERT_EQ(::mkfifo(to(scratch).c_str(), 0600), 0); }},
  };
  for (const auto& [what, appear] : appearing) {
    for (const auto before : {"", "a regular file"}) {
      const ScratchDirectory scratch;
      write_bytes(scratch.file("precious"), "precious");
      if (*before != '\0') write_bytes(scratch.file("name"), before);
      const std::string error = commit_error(scratch, OverwritePolicy::replace, [&, &go = appear] {
        std::filesystem::remove(scratch.file("name"));
        go(scratch);
      });
      EXPECT_SAYS(error, what);
      EXPECT_FALSE(std::filesystem::is_regular_file(std::filesystem::symlink_status(to(scratch))));
      EXPECT_EQ(read_all(scratch.file("precious")), "precious");
      EXPECT_EQ(scratch.entries(), 2u) << "the other output is taken back";
    }
  }
}

TEST(OutputSet, AFileThatIsGoneMeanwhileIsNew) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("name"), "old");
  ::chmod(scratch.file("name").c_str(), 0604);
  EXPECT_EQ(commit_error(scratch, OverwritePolicy::replace,
                         [&] { std::filesystem::remove(scratch.file("name")); }),
            "");
  EXPECT_EQ(read_all(scratch.file("name")), "new");
  EXPECT_EQ(mode_of(scratch.file("name")), 0604u);
}

TEST(OutputSet, AFailureNamesWhatIsReplacedAlready) {
  const ScratchDirectory scratch;
  std::string error;
  {
    OutputSet outputs;
    for (const char* name : {"a", "b"})
      write_bytes(outputs.add(scratch.file(name), OverwritePolicy::replace), "mine");
    write_bytes(scratch.file("a"), "theirs");
    std::filesystem::create_directory(scratch.file("b"));
    error = error_of([&] { outputs.commit(); });
  }
  EXPECT_SAYS(error, "b: cannot be renamed into place: a directory has appeared there");
  EXPECT_SAYS(error, scratch.file("a") + " is already replaced");
  EXPECT_EQ(read_all(scratch.file("a")), "mine");
  EXPECT_EQ(scratch.entries(), 2u);
}

TEST(OutputSet, ManyMayReplaceOneFileAtATime) {
  const ScratchDirectory scratch;
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> crew;
    for (int thread = 0; thread < 4; ++thread) {
      crew.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          try {
            OutputSet outputs;
            write_bytes(outputs.add(scratch.file("a"), OverwritePolicy::replace), "whole");
            outputs.commit();
          } catch (const kastor::Error&) {
            ++failures;
          }
          if (i % 5 == 0) ::unlink(scratch.file("a").c_str());
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_LE(scratch.entries(), 1u);
}

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

TEST(OutputSet, SignalsRemoveTheTemporaries) {
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

TEST(OutputSet, ServesSeveralThreads) {
  const ScratchDirectory scratch;
  constexpr int threads = 4, files = 100;
  const auto work = [&](int thread) {
    for (int i = 0; i < files; ++i) {
      OutputSet outputs;
      const std::string name = std::to_string(thread) + "_" + std::to_string(i);
      write_bytes(outputs.add(scratch.file(name), OverwritePolicy::refuse), name);
      if (i % 2 == 0) outputs.commit();
    }
  };
  {
    std::vector<std::jthread> crew;
    for (int thread = 0; thread < threads; ++thread) crew.emplace_back(work, thread);
  }
  EXPECT_EQ(scratch.entries(), static_cast<std::size_t>(threads * files / 2));
  EXPECT_EQ(read_all(scratch.file("3_98")), "3_98");
}

TEST(OutputSet, ASignalLeavesWholeFilesOnlyHoweverManyThreadsWrite) {
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

TEST(OutputSet, IgnoredSignalsStayIgnored) {
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

TEST(OutputSet, HandlersOfTheProgramStay) {
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

TEST(OutputSet, ASecondSignalEndsNothingHalfway) {
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
