// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU knows of a fault, as text for a student; a real GPU tells only the kind.
/// Place in the chain: stage_run -> [fault_text] -> the virtual GPU's report
/// (docs/counters_file.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace membound::harness {

/// "kernel.cu:17, block (0, 0, 0), thread (3, 0, 0): read of 4 bytes …" of the first fault in a
/// report; empty if there is none. Parts that the report lacks are left out.
[[nodiscard]] std::string fault_text(const nlohmann::json& report);

}  // namespace membound::harness
