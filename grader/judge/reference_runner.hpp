// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The reference's runner of one device, for all graded runs of a batch there. Nobody's code but
/// ours ever runs in it, so that it may outlive a run, and with it a context that takes a GPU a
/// quarter of a second to make and to end beside the submission's. Place in the chain: queue ->
/// split_run -> [reference_runner] -> membound_runner --sessions. Left out: submissions' runners,
/// each of which serves one run.
#pragma once

#include <atomic>
#include <thread>

#include "grader/base/result.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::judge {

/// For one run at a time: whoever holds the device (DevicePool).
class ReferenceRunner {
 public:
  ReferenceRunner() = default;
  /// Ends it. What it held on the device is free then, and nobody has overwritten it.
  ~ReferenceRunner() { stop(); }
  ReferenceRunner(const ReferenceRunner&) = delete;
  ReferenceRunner& operator=(const ReferenceRunner&) = delete;

  /// The judge's end of a connection for one run. Starts a runner where there is none, as `how`
  /// says but for its descriptors, limits and how it is stopped.
  [[nodiscard]] base::Result<runner::Descriptor> begin(const jail::JailRequest& how);
  /// After the judge's end was closed: waits until nothing of the run is left. A runner that does
  /// not say so is ended, and the next run gets another one; this is how it ended.
  [[nodiscard]] base::Result<jail::JailOutcome> end();

 private:
  [[nodiscard]] base::Status start(const jail::JailRequest& how);
  void stop();
  /// True where there was something to read or the other side has closed.
  [[nodiscard]] bool wait_for_word() const;

  runner::Descriptor control_;  // ours; none: no runner
  std::thread thread_;          // follows it
  std::atomic<bool> must_end_{false}, has_ended_{false};
  base::Result<jail::JailOutcome> outcome_ = jail::JailOutcome{};
};

}  // namespace membound::judge
