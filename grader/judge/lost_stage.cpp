// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/lost_stage.hpp"

#include "grader/base/result.hpp"

namespace membound::judge {

using course::Cause;

Cause abort_of(jail::LimitHit limit) {
  switch (limit) {
    case jail::LimitHit::kMemory:
      return Cause::kMemory;
    case jail::LimitHit::kWall:
    case jail::LimitHit::kCpu:
      return Cause::kTimeout;
    case jail::LimitHit::kOutput:
      return Cause::kOutput;
    default:
      return Cause::kNone;
  }
}

std::string limit_text(jail::LimitHit limit) {
  return "the submission's runner was ended at its limit of " + std::string(jail::to_string(limit));
}

Loss loss_of(const base::ProcessOutcome& process, jail::LimitHit limit, double backstop_seconds) {
  Loss loss{Cause::kCrash, ""};
  if (const Cause abort = abort_of(limit); abort != Cause::kNone) {
    loss.abort = abort;
    loss.text = limit_text(limit);
  } else if (process.exit_code == course::test_exit::kNotLoadable) {
    loss.abort = Cause::kFault;
    loss.text = "kernel.cu compiled, but the device does not load what came of it";
  } else if (process.timed_out) {
    loss.abort = Cause::kTimeout;
    loss.text = "nothing was reported for " + std::to_string(static_cast<int>(backstop_seconds)) +
                " seconds";
  } else if (process.signal != 0) {
    loss.text = "the test program was ended by a signal: " + base::signal_text(process.signal);
  } else if (process.exit_code == course::test_exit::kAllPassed ||
             process.exit_code == course::test_exit::kSomeFailed) {
    loss.text = "the test program ended without a result for this stage";
  } else {
    loss.text = "the test program ended with exit code " + std::to_string(process.exit_code);
  }
  return loss;
}

}  // namespace membound::judge
