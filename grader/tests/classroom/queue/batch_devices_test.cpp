// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A batch and its devices: how many submissions each serves, and what becomes of one that is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "grader/classroom/queue/one_submission.hpp"
#include "grader/tests/classroom/queue/batch_fixture.hpp"

namespace membound::queue {
namespace {

using testing::HasSubstr;

TEST_F(BatchTest, ARealDeviceServesOneAtATime) {
  request_.settings.device = judge::real_gpu();
  request_.workers = 4;
  std::atomic<int> using_it = 0, most = 0;
  request_.grade_one = [&](const OneRequest& one) {
    const judge::Device& device = one.take_device();
    most = std::max<int>(most, ++using_it);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --using_it;
    one.free_device(device);
    return fake_grade(one);
  };
  EXPECT_EQ(run().grades.open.size(), 0u);
  EXPECT_EQ(most, 1);
}

TEST_F(BatchTest, AllDevicesServeAtOnceAndOneLedgerHoldsWhatTheySay) {
  std::vector<judge::Device>& devices = request_.settings.devices;
  for (const char* name : {"gpu0.lock", "gpu1.lock"}) {
    devices.push_back(request_.settings.device);
    devices.back().lock_file = folder_ / name;
  }
  request_.workers = 4;
  std::mutex mutex;
  std::map<fs::path, int> using_it, served;
  std::map<const judge::ReferenceRunner*, std::set<fs::path>> runners;
  int most_of_one = 0;
  std::atomic<int> most_of_all = 0;
  request_.grade_one = [&](const OneRequest& one) {
    const judge::Device& device = one.take_device();
    {
      const std::lock_guard guard(mutex);
      ++served[device.lock_file];
      runners[one.reference_runner(device)].insert(device.lock_file);
      most_of_one = std::max(most_of_one, ++using_it[device.lock_file]);
      int all = 0;
      for (const auto& [file, count] : using_it) all += count;
      most_of_all = std::max<int>(most_of_all, all);
    }
    // Until the other one is in use too, however slow this machine is today.
    for (int i = 0; i < 1000 && most_of_all < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    {
      const std::lock_guard guard(mutex);
      --using_it[device.lock_file];
    }
    one.free_device(device);
    return fake_grade(one);
  };
  EXPECT_EQ(run().grades.open.size(), 0u);
  EXPECT_EQ(most_of_one, 1);
  EXPECT_EQ(most_of_all, 2);
  EXPECT_EQ(served.size(), 2u);
  EXPECT_EQ(runners.size(), 2u) << "one for each device's references";
  for (const auto& [runner, of_devices] : runners) {
    EXPECT_NE(runner, nullptr);
    EXPECT_EQ(of_devices.size(), 1u);
  }
  EXPECT_EQ(ledger::verify(folder_ / "out")->problems, std::vector<std::string>());
}

TEST_F(BatchTest, ADeviceThatServesSeveralAtOnceHasNoRunnerThatOutlivesARun) {
  std::atomic<int> kept = 0;
  request_.grade_one = [&](const OneRequest& one) {
    const judge::Device& device = one.take_device();
    if (one.reference_runner(device) != nullptr) ++kept;
    one.free_device(device);
    return fake_grade(one);
  };
  EXPECT_EQ(run().grades.open.size(), 0u);
  EXPECT_EQ(kept, 0);
}

TEST_F(BatchTest, ADeviceThatIsLostKeepsTheVerdictAndEndsTheBatch) {
  request_.grade_one = [this](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    if (++runs_ == 3) outcome.device_lost = base::Error{.found = "the device is gone"};
    return outcome;
  };
  const auto summary = run_batch(request_);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().found, "the device is gone");
  runs_ = 10;
  EXPECT_EQ(run().graded, 7);
}

/// A membound_runner that says what the script says.
class DeviceHealth : public BatchTest {
 protected:
  base::Status probe(const std::string& script) {
    const fs::path runner = folder_ / "root" / "libexec" / "membound_runner";
    write_text(runner, "#!/bin/sh\n" + script + "\n");
    fs::permissions(runner, fs::perms::owner_all);
    return probe_device(request_.settings, request_.settings.device,
                        {.seconds_per_try = 5, .tries = 2, .seconds_between = 0});
  }
};

TEST_F(DeviceHealth, ADeviceThatAnswersIsWell) { EXPECT_TRUE(probe("exit 0")); }

TEST_F(DeviceHealth, ADeviceThatAnswersTheSecondTimeIsWell) {
  EXPECT_TRUE(probe("[ -e " + (folder_ / "once").string() + " ] || { touch " +
                    (folder_ / "once").string() + "; exit 3; }"));
}

TEST_F(DeviceHealth, OneThatFailsIsInQuarantineWithItsWords) {
  const auto status = probe("echo '{\"ok\":false}'; exit 3");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().found, HasSubstr("{\"ok\":false}"));
}

}  // namespace
}  // namespace membound::queue
