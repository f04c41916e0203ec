// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/device_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "grader/judge/check_device.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

TEST(DeviceLock, LetsOneInAtATimeAlsoOfTwoThatShareAFile) {
  const TemporaryFolder folder;
  DeviceLock one(folder.path() / "gpu.lock"), other(folder.path() / "gpu.lock");
  std::atomic<int> inside = 0, most = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const std::lock_guard held(i % 2 == 0 ? one : other);
        most = std::max<int>(most, ++inside);
        std::this_thread::yield();
        --inside;
      }
    });
  threads.clear();
  EXPECT_EQ(most, 1);
}

TEST(DeviceLock, WithoutAFileHoldsNobodyUp) {
  DeviceLock lock(virtual_gpu("h200", "").kind->lock_file());
  const std::lock_guard first(lock);
  const std::lock_guard second(lock);
}

}  // namespace
}  // namespace membound::judge
