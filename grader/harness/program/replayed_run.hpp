// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program asked its device for, done once more without the program: the same requests to a
/// new runner, but other inputs in the copies to the device. What comes back then is what the
/// device makes of those inputs; whatever the host worked out stays as it was.
/// Place in the chain: program_test -> [replayed_run] -> program_run, runner. Left out: whether
/// what comes back is right (device_results).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/harness/program/other_inputs.hpp"
#include "grader/harness/program/program_run.hpp"

namespace membound::harness {

/// The words of all copies to the host, one copy after the other.
struct CopiedBack {
  std::vector<std::uint32_t> first;  ///< in the program's run
  std::vector<std::uint32_t> again;  ///< in the replay: as many
  std::vector<std::size_t> ends;     ///< of each copy: one past its last word
};

struct Replay {
  CopiedBack back;
  std::size_t replaced = 0;         ///< words of inputs in copies to the device
  std::vector<runner::Call> calls;  ///< as the second runner noted them, with what launches used
  /// Why it came to no end: a request that went otherwise, a limit; else empty.
  std::string stopped;
};

/// An error is the machine's or ours.
[[nodiscard]] base::Result<Replay> replay(const Setting& setting, const RunEnd& run,
                                          OtherInputs inputs);

}  // namespace membound::harness
