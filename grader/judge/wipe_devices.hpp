// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What strangers' submissions may have left in a GPU's memory. Each of their runs overwrites what
/// the one before it left; this is for whoever comes after the last one.
/// Place in the chain: queue, selftest -> [wipe_devices] -> membound_runner --wipe.
#pragma once

#include <vector>

#include "grader/judge/check_device.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

/// Overwrites the free memory of those of `devices` that are GPUs. One that somebody else uses by
/// now is left to them. Nobody hears of one that fails: drivers clear memory, too, though none
/// promises it.
void wipe_devices(const Workplace& place, const std::vector<Device>& devices);

}  // namespace membound::judge
