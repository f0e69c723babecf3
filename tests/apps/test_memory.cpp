// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "cli/run/memory.hpp"
#include "scratch_directory.hpp"

namespace {

using kastor::cli::control_group_limit;

/// Writes a file below a folder that stands for /sys/fs/cgroup.
void put(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

TEST(ControlGroups, OfVersion2HaveTheLeastLimitOfAllThatHoldThem) {
  const testing_support::ScratchDirectory scratch;
  const std::filesystem::path root = scratch.file("cgroup");
  const std::string groups = "0::/batch/job\n";
  EXPECT_EQ(control_group_limit(groups, root), std::nullopt);
  put(root / "batch/job/memory.max", "max");
  EXPECT_EQ(control_group_limit(groups, root), std::nullopt);
  put(root / "batch/memory.max", "5000");
  EXPECT_EQ(control_group_limit(groups, root), 5000);
  put(root / "batch/job/memory.max", "7000");
  EXPECT_EQ(control_group_limit(groups, root), 5000);
  put(root / "batch/job/memory.max", "3000");
  EXPECT_EQ(control_group_limit(groups, root), 3000);
  // In a container its own group is the root.
  put(root / "memory.max", "2000");
  EXPECT_EQ(control_group_limit("0::/\n", root), 2000);
  EXPECT_EQ(control_group_limit("0::/not/here\n", root), 2000);
}

TEST(ControlGroups, OfVersion1AreFoundByTheirController) {
  const testing_support::ScratchDirectory scratch;
  const std::filesystem::path root = scratch.file("cgroup");
  const std::string groups = "12:cpu,cpuacct:/a\n5:memory:/slurm/uid_0\n1:name=systemd:/b\n0::/\n";
  put(root / "memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(control_group_limit(groups, root), 9223372036854771712);
  put(root / "memory/slurm/memory.limit_in_bytes", "4096");
  EXPECT_EQ(control_group_limit(groups, root), 4096);
  put(root / "memory/a/memory.limit_in_bytes", "1");
  EXPECT_EQ(control_group_limit(groups, root), 4096);
}

TEST(ControlGroups, WhatIsNoListOfThemIsIgnored) {
  const testing_support::ScratchDirectory scratch;
  for (const char* groups : {"", "\n", "memory", "5:memory", ":::"})
    EXPECT_EQ(control_group_limit(groups, scratch.file("cgroup")), std::nullopt);
}

TEST(Memory, OfThisProcessIsPartOfWhatIsUsable) {
  const std::int64_t held = kastor::cli::resident_memory();
  EXPECT_GT(held, 1 << 20);
  EXPECT_GT(kastor::cli::usable_memory(), held);
}

}  // namespace
