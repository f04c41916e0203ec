// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether the device still works: asked between submissions and after each fault.
/// Place in the chain: runner_main -> [device_probe] -> CUDA runtime. Left out: what follows from
/// it; the queue quarantines a device that fails.
#pragma once

#include <string>

namespace membound::runner {

/// Loads `harness_kernels`, fills a buffer with one of its kernels, reads it back and compares.
/// Prints one line of JSON: ok, what failed, free and total memory, seconds. A device that does not
/// answer keeps the caller waiting: start it with a deadline.
[[nodiscard]] bool probe_device(const std::string& harness_kernels);

}  // namespace membound::runner
