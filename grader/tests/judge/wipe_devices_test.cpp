// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/device_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "grader/base/files.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

TEST(WipeDevices, OverwritesTheMemoryOfGpusThatNobodyUses) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "libexec");
  folder.script("libexec/membound_runner",
                "echo \"$WHICH $@\" >> " + (folder.path() / "log").string());
  std::vector<Device> devices = {virtual_gpu("h200", "")};
  for (const char* name : {"free", "used"}) {
    devices.push_back(real_gpu());
    devices.back().lock_file = folder.path() / name;
    devices.back().environment["WHICH"] = name;
  }
  DeviceLock elsewhere(devices.back().lock_file);
  const std::lock_guard held(elsewhere);
  Workplace place;
  place.build = folder.path();
  wipe_devices(place, devices);
  const auto log = base::read_file(folder.path() / "log");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(*log, "free --wipe\n");
}

}  // namespace
}  // namespace membound::judge
