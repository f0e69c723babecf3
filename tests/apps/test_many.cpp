// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <kastor/error.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/run/errors.hpp"
#include "find/folder_outputs.hpp"
#include "find/image_names.hpp"
#include "find/image_queue.hpp"
#include "find/outcome_log.hpp"
#include "find/resume.hpp"
#include "find/work_queue.hpp"
#include "scratch_directory.hpp"

namespace {

using namespace kastor::cli;
using namespace testing_support;
using namespace std::chrono_literals;
using Names = std::vector<std::string>;
using State = Outcome::State;

std::string write_file(const std::string& path, const std::string& text) {
  write_bytes(path, text);
  return path;
}

// ---------------------------------------------------------------------------------- names

TEST(ImageNames, StemsAreNamesWithoutTheEndingsOfFits) {
  for (const auto& [path, stem] :
       {std::pair("a.fits", "a"), std::pair("x/y.z/a.fit", "a"), std::pair("/a.FTS", "a"),
        std::pair("a.fits.gz", "a"), std::pair("a.fits.bz2", "a"), std::pair("a.Fits.Fz", "a"),
        std::pair("a.gz", "a"), std::pair("a.img", "a.img"), std::pair("ngc1.2", "ngc1.2"),
        std::pair(".fits", ".fits"), std::pair("a", "a"), std::pair("a.fits.fits", "a.fits"),
        std::pair("a.fits.old", "a.fits.old")})
    EXPECT_EQ(stem_of(path), stem) << path;
}

// ---------------------------------------------------------------------------------- outputs

FindOptions into(const std::string& folder, const Names& formats = {}) {
  FindOptions options;
  options.outputs = {folder};
  options.formats = formats;
  return options;
}

TEST(FolderOutputs, RefuseWhatExistsAndTheImagesThemselves) {
  const ScratchDirectory folder;
  const auto image = write_file(folder.file("a.fits"), "image");
  auto options = into(folder.file("./"));
  EXPECT_THROW(FolderOutputs({"b", image}, options), kastor::Error);
  options.overwrite = true;
  EXPECT_THROW(FolderOutputs({"b", image}, options), kastor::Error);
  // Another image's name.
  EXPECT_THROW(FolderOutputs({"elsewhere/a.fits", folder.file("a.fits") + "x", image}, options),
               UsageError);
  std::filesystem::create_hard_link(image, folder.file("c.fits"));
  EXPECT_THROW(FolderOutputs({"x/c.fits", image}, options), kastor::Error);
  options.formats = {"csv"};
  EXPECT_NO_THROW(FolderOutputs({"b", image}, options));
  write_bytes(folder.file("b.csv"), "mine");
  EXPECT_NO_THROW(FolderOutputs({"b", image}, options));
  options.overwrite = false;
  EXPECT_THROW(FolderOutputs({"b", image}, options), kastor::Error);
  options.resume = true;
  EXPECT_NO_THROW(FolderOutputs({"b", image}, options));
}

TEST(FolderOutputs, MakeAFolderAgainThatAnotherRunRemoved) {
  const ScratchDirectory scratch;
  const std::string inner = scratch.file("a/b");
  {
    FolderOutputs folder({"x.fits"}, into(inner + "/", {"csv", "ecsv"}));
    EXPECT_TRUE(std::filesystem::is_directory(inner));
    std::filesystem::remove_all(scratch.file("a"));
    kastor::io::OutputSet outputs;
    const auto staged =
        folder.add_to(outputs, folder.of(0), kastor::io::OverwritePolicy::refuse, {"x.fits"});
    ASSERT_EQ(staged.size(), 2u);
    for (const auto& file : staged) write_bytes(file.path, "written");
    outputs.commit();
  }
  EXPECT_TRUE(std::filesystem::is_regular_file(inner + "/x.csv"));
  EXPECT_TRUE(std::filesystem::is_regular_file(inner + "/x.ecsv"));
}

TEST(FolderOutputs, RemoveEveryFolderThatTheyMadeInVain) {
  const ScratchDirectory scratch;
  {
    const FolderOutputs folder({"x.fits"}, into(scratch.file("a/b/c//")));
    EXPECT_TRUE(std::filesystem::is_directory(scratch.file("a/b/c")));
  }
  EXPECT_EQ(scratch.entries(), 0u);
  EXPECT_THROW(FolderOutputs({"x.fits"}, into(scratch.file("a/" + std::string(300, 'n') + "/"))),
               kastor::Error);
  EXPECT_EQ(scratch.entries(), 0u);
}

// ---------------------------------------------------------------------------------- resume

TEST(Resume, SkipsOnlyWhatIsAllThereAndTheSame) {
  using enum Standing;
  using enum Resumption;
  const std::pair<std::vector<Standing>, Resumption> known[] = {
      {{same}, skip},
      {{same, same}, skip},
      {{same, silent}, skip},
      {{missing}, go_on},
      {{same, missing}, go_on},
      {{silent, same, missing}, go_on},
      {{}, go_on},
      {{other}, conflict},
      {{same, other}, conflict},
      {{missing, other}, conflict},
      {{silent}, conflict},
      {{silent, missing}, conflict},
  };
  for (const auto& [standing, resumption] : known)
    EXPECT_EQ(resumption_of(standing), resumption) << standing.size();
}

// ---------------------------------------------------------------------------------- log

Outcome outcome(State state, const std::string& text) {
  Outcome result;
  result.state = state;
  (state == State::failed ? result.failure : result.json) = text;
  return result;
}

TEST(OutcomeLog, TellsInTheOrderOfTheImages) {
  OutcomeLog log({"a", "b\n", "c", "d"});
  log.set(2, outcome(State::found, "{2}\n"));
  log.set(1, outcome(State::failed, "why"));
  EXPECT_EQ(log.news(true).results, "");
  log.set(0, outcome(State::found, "{0}\n"));
  const auto news = log.news(true);
  EXPECT_EQ(news.results, "{0}\n{\"file\":\"b\\n\",\"error\":\"why\"}\n{2}\n");
  EXPECT_EQ(news.failures, Names{"why"});
  EXPECT_EQ(log.known(), 3u);
  log.set(3, outcome(State::up_to_date, ""));
  const auto rest = log.news(true);
  EXPECT_EQ(rest.results, "{\"file\":\"d\",\"up_to_date\":true}\n");
  EXPECT_TRUE(rest.failures.empty());
  EXPECT_EQ(log.news(true).results, "");
  EXPECT_EQ(log.count(State::found), 2u);
  EXPECT_EQ(log.count(State::pending), 0u);
}

// ---------------------------------------------------------------------------------- queues

TEST(ImageQueue, HandsImagesOutInOrderHoweverLongTheyTake) {
  for (const int readers : {1, 4}) {
    std::atomic<int> at_once{0}, most{0};
    {
      ImageQueue queue(50, {readers, 6, 1 << 20, 1 << 20}, [&](ReadImage& image) {
        most = std::max(most.load(), ++at_once);
        std::this_thread::sleep_for((image.index * 7 % 5) * 300us);
        image.failure = std::to_string(image.index);
      });
      for (std::size_t i = 0; i < 50; ++i) {
        ReadImage& image = queue.next();
        EXPECT_EQ(image.index, i);
        EXPECT_EQ(image.failure, std::to_string(i));
        --at_once;
        queue.release(image);
      }
    }
    EXPECT_LE(most, 7);
  }
}

TEST(ImageQueue, HoldsNoMoreThanItsLimitAndAtLeastOne) {
  for (const auto& [limit, wanted] : {std::pair{100, 1}, {900, 2}, {1300, 3}}) {
    std::atomic<int> there{0}, most{0};
    const auto read = [&](ReadImage& image) {
      image.image.pixels = kastor::io::HostPixels<float>("test", 10, 10);  // 400 bytes
      const int now = ++there;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
    };
    ImageQueue queue(30, {4, 8, limit, limit}, read);
    for (int i = 0; i < 5000 && there < wanted; ++i) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 30; ++i) {
      ReadImage& image = queue.next();
      std::this_thread::sleep_for(1ms);
      --there;
      queue.release(image);
    }
    EXPECT_EQ(most, wanted) << limit;
  }
}

TEST(ImageQueue, EndsEarlyWithoutReadingTheRest) {
  std::atomic<int> read{0};
  {
    ImageQueue queue(1000, {3, 4, 1 << 20, 1 << 20}, [&](ReadImage&) { ++read; });
    queue.release(queue.next());
  }
  EXPECT_LE(read, 8);
}

TEST(WorkQueue, DoesAllJobsAndWaitsForThem) {
  std::atomic<int> done{0};
  WorkQueue queue(3, 2);
  for (int i = 0; i < 100; ++i) {
    queue.add([&] {
      std::this_thread::sleep_for(100us);
      ++done;
    });
  }
  queue.finish();
  EXPECT_EQ(done, 100);
}

TEST(WorkQueue, LeavesTheRestWhenItGoes) {
  std::atomic<int> done{0};
  {
    WorkQueue queue(1, 100);
    for (int i = 0; i < 50; ++i) {
      queue.add([&] {
        std::this_thread::sleep_for(5ms);
        ++done;
      });
    }
  }
  EXPECT_LT(done, 50);
}

}  // namespace
