// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a run of a program tells that no demand asks for, a sentence each: what its timeline saved
/// and could have saved, what it left behind, what it printed. Pure.
/// Place in the chain: runner's record -> [run_notes] -> main. Left out: whether any of it is
/// enough (call_rule_checks).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/sandbox/runner/call_record.hpp"

namespace membound::harness {

/// What a task has to do with the timeline, which is spoken of where it has.
enum class Timeline { kNone, kKernelsSideBySide, kCopiesBesideKernels };

/// `printed`: the program's own output, as it came.
[[nodiscard]] std::vector<std::string> run_notes(const std::vector<runner::Call>& calls,
                                                 std::string_view printed, Timeline timeline);

}  // namespace membound::harness
