// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/device_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "grader/judge/check_device.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

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
  DeviceLock lock(virtual_gpu("h200", "").lock_file);
  const std::lock_guard first(lock);
  const std::lock_guard second(lock);
}

/// Virtual devices that serve one at a time, as GPUs do.
std::vector<Device> exclusive_devices(const fs::path& folder, int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    devices.push_back(virtual_gpu("h200", ""));
    devices.back().lock_file = folder / ("gpu" + std::to_string(i) + ".lock");
  }
  return devices;
}

TEST(DevicePool, HandsOutEachDeviceToOneAtATimeAndAllOfThemAtOnce) {
  const TemporaryFolder folder;
  const std::vector<Device> devices = exclusive_devices(folder.path(), 2);
  DevicePool pool(devices);
  std::array<std::atomic<int>, 2> inside = {};
  std::atomic<int> most_of_one = 0, using_any = 0, most_of_all = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const Device& device = pool.take();
        std::atomic<int>& here = inside.at(static_cast<std::size_t>(&device - devices.data()));
        most_of_one = std::max<int>(most_of_one, ++here);
        most_of_all = std::max<int>(most_of_all, ++using_any);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --using_any;
        --here;
        pool.give_back(device);
      }
    });
  threads.clear();
  EXPECT_EQ(most_of_one, 1);
  EXPECT_EQ(most_of_all, 2);
}

TEST(DevicePool, PassesOverADeviceThatAnotherProcessUses) {
  const TemporaryFolder folder;
  const std::vector<Device> devices = exclusive_devices(folder.path(), 2);
  DeviceLock elsewhere(devices[0].lock_file);
  const std::lock_guard held(elsewhere);
  DevicePool pool(devices);
  EXPECT_EQ(&pool.take(), &devices[1]);
}

TEST(DevicePool, WaitsForADeviceThatAnotherProcessGivesBack) {
  const TemporaryFolder folder;
  const std::vector<Device> devices = exclusive_devices(folder.path(), 1);
  DeviceLock elsewhere(devices[0].lock_file);
  elsewhere.lock();
  DevicePool pool(devices);
  std::atomic<bool> given_back = false;
  std::jthread waiting([&] {
    static_cast<void>(pool.take());
    EXPECT_TRUE(given_back);
    pool.give_back(devices[0]);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  given_back = true;
  elsewhere.unlock();
}

}  // namespace
}  // namespace membound::judge
