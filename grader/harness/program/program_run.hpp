// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One run of a student's program: the program in one jail, the runner that holds the device in
/// another, a socket between them. Inputs are files the program is shown, outputs files it leaves;
/// what it asked the device for is the runner's word, never its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/sandbox/runner/call_record.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::harness {

/// What every run of a submission has in common.
struct Setting {
  std::filesystem::path program;         ///< the student's, compiled and linked
  std::filesystem::path runner;          ///< membound_runner
  std::filesystem::path forward_folder;  ///< holds the forwarding libcudart.so.13
  /// Where the runner finds its runtime, and what chooses its device.
  std::vector<std::filesystem::path> runtime_folders;
  std::map<std::string, std::string> runner_environment;
  jail::Limits program_limits, runner_limits;
  bool use_jail = true;
  bool keeps_requests = false;  ///< so that a run can be done once more: RunEnd::requests
  /// Bits that are changed in every word that copies bring to the program; 0: none are.
  std::uint32_t changed_bits = 0;
  /// A virtual GPU draws from it in which orders warps, blocks and the lanes of atomic operations
  /// take their turns, beside checkers too; 0: they are the usual ones.
  std::uint64_t orders = 0;
};

/// What one run is given.
struct Given {
  int stage = 1;
  std::map<std::string, std::string> inputs;  ///< by name: the bytes
  std::vector<std::string> outputs;           ///< names that are wanted back
};

/// How it went.
struct RunEnd {
  jail::JailOutcome program, runner;
  std::map<std::string, std::string> outputs;  ///< those that were written
  std::vector<runner::Call> calls;
  bool too_many_calls = false;  ///< the runner stopped listening
  /// Where the host code stood when its time was nearly over or a signal ended it: "was running
  /// line 12", "was in a call of line 12"; "" where nobody knows, as in a jail.
  std::string stood;
  /// The virtual GPU's report (docs/counters_file.md); "" on a GPU, or where the runner was lost.
  std::string findings;
  /// The runner's log of them (runner/call_record); null where nobody asked.
  std::shared_ptr<const std::string> requests;
};

/// Writes the inputs to files in `folder`/inputs.
[[nodiscard]] base::Status lay_out_inputs(const Given& given, const std::filesystem::path& folder);

/// What a runner is started with: open descriptors, -1 for none.
struct RunnerFiles {
  int socket = -1, calls = -1, findings = -1, requests = -1;
  bool follows_data = false;  ///< its calls tell what launches read and wrote, and no times
  std::uint64_t orders = 0;   ///< Setting::orders
  std::uint32_t changed_bits = 0;
};
/// Runs a runner to its end.
[[nodiscard]] base::Result<jail::JailOutcome> run_runner(const Setting& setting,
                                                         const RunnerFiles& files);
/// All that was written to a file in memory.
[[nodiscard]] base::Result<std::string> read_whole(const runner::Descriptor& file);

/// An error is the machine's or ours.
[[nodiscard]] base::Result<RunEnd> run_program(const Setting& setting, const Given& given);

}  // namespace membound::harness
