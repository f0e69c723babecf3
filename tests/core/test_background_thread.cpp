// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "core/background_thread.hpp"

namespace {

using kastor::core::BackgroundThread;

TEST(BackgroundThread, DoesOnePieceOfWorkAfterAnother) {
  BackgroundThread background;
  background.wait();  // there is none yet
  std::thread::id first, second;
  int done = 0;
  background.begin([&] {
    first = std::this_thread::get_id();
    ++done;
  });
  background.wait();
  background.begin([&] {
    second = std::this_thread::get_id();
    ++done;
  });
  background.wait();
  EXPECT_EQ(done, 2);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
}

TEST(BackgroundThread, GivesAFailureToWhoeverWaitsAndGoesOn) {
  BackgroundThread background;
  background.begin([] { throw std::runtime_error("no"); });
  EXPECT_THROW(background.wait(), std::runtime_error);
  bool done = false;
  background.begin([&] { done = true; });
  background.wait();
  EXPECT_TRUE(done);
}

TEST(BackgroundThread, EndsItsWorkBeforeItGoes) {
  bool done = false;
  {
    BackgroundThread background;
    background.begin([&] { done = true; });
  }
  EXPECT_TRUE(done);
}

}  // namespace
