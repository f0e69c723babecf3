// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <kastor/error.hpp>
#include <kastor/io/output_set.hpp>
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
  EXPECT_SAYS(add_error(scratch.file(std::string(256, 'n'))),
              "File name too long; expected a shorter");
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
  std::string name(219, 'n');  // a limit of temporary names falls into a letter
  while (name.size() < 255) name += "\xe6\x98\x9f";
  {
    OutputSet outputs;
    const std::string temporary = outputs.add(name, OverwritePolicy::refuse);
    EXPECT_NE(temporary.find("n.kastor-"), std::string::npos) << temporary;
    write_bytes(temporary, "x");
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

}  // namespace
