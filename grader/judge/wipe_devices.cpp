// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/wipe_devices.hpp"

#include "grader/base/process.hpp"
#include "grader/judge/device_lock.hpp"

namespace membound::judge {
namespace {

constexpr double kLongestWipeSeconds = 60;

}  // namespace

void wipe_devices(const Workplace& place, const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    if (!device.kind->can_be_hurt()) continue;
    DeviceLock lock(device.lock_file);
    if (!lock.try_lock()) continue;
    static_cast<void>(base::run_process(
        {.arguments = {(place.build / "libexec" / "membound_runner").string(), "--wipe"},
         .environment = device.environment,
         .timeout_seconds = kLongestWipeSeconds}));
    lock.unlock();
  }
}

}  // namespace membound::judge
