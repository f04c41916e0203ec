// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A test that passed, asked once more with other inputs, while the next test already runs.
/// Place in the chain: program_main -> [replayed_test] -> program_test, replayed_run.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "grader/course/contract.hpp"
#include "grader/harness/program/program_test.hpp"

namespace membound::harness {

/// What came of it.
struct ReplayedTest {
  std::string name;
  course::Cause abort = course::Cause::kNone;  ///< the machine's fault or ours; then `message` says
  /// Why what the program handed in is not the device's work; "" where it is.
  std::string message;
  /// Of each call that has_worked(): whether anything it did came into the output, and what of
  /// memory it read and wrote.
  std::vector<bool> arrived;
  std::vector<std::vector<runner::MemoryUse>> uses;
};

/// Begins it. `key` decides about the other inputs; the program cannot work it out from its own.
/// `runs_again`: instead, the program itself runs once more, and other words come with its copies
/// to the host, which it has to hand in. A program that ends otherwise then has looked at them.
[[nodiscard]] std::future<ReplayedTest> begin_replay(const HostTest& test,
                                                     std::shared_ptr<const ProgramTest> first,
                                                     const Setting& setting, std::uint64_t key,
                                                     bool runs_again);

}  // namespace membound::harness
