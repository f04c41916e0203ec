// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graded run has three processes: the lab's test program, which judges; a runner for the
/// reference; and a runner for the submission, in a jail. This starts the two runners beside a run
/// of the test program and tells how the submission's ended. The reference's may be there from an
/// earlier run; where its times are known, on a virtual GPU, it needs no runner.
/// Place in the chain: test_program -> [split_run] -> jail, runner. Left out: what the end means
/// for a verdict; test_program decides.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/judge/reference_runner.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::judge {

/// What a graded run needs beside an ordinary one.
struct SplitOptions {
  std::filesystem::path runner;          ///< membound_runner
  std::filesystem::path forward_folder;  ///< holds the forwarding libcudart.so.13
  /// Where runners find their runtime: the virtual GPU's folder, or the toolkit's and the driver's.
  std::vector<std::filesystem::path> runtime_folders;
  std::map<std::string, std::string> runner_environment = {};  ///< MEMBOUND_DEVICE and the like
  std::string seed_key;  ///< 32 hexadecimal digits, from fresh_seed_key() or of a run to repeat
  /// Chooses the blocks by which a launch is timed where some stand for all. Nothing: drawn from
  /// the key for every run.
  std::optional<std::uint64_t> sample_seed = {};
  jail::Limits limits;                              ///< of the submission's runner
  std::vector<std::filesystem::path> devices = {};  ///< nodes such as /dev/nvidiactl
  bool scrub = false;  ///< overwrite the GPU's free memory before the run; see wipe_devices()
  /// What the reference takes, from time_reference(): it gets no runner then. Empty: it is run.
  std::filesystem::path reference_times = {};
  /// The reference's runner; it outlives this. Null: the run gets one of its own.
  ReferenceRunner* reference_runner = nullptr;
  /// CPU time that the submission's runners may take together over all starts; 0: no limit but
  /// those of each. On a GPU a runner spins while the device works: it is the device's time as
  /// well.
  double device_seconds = 0;
  bool use_jail = true;  ///< false only where submissions are trusted
};

/// 128 bits of the kernel's random numbers.
[[nodiscard]] base::Result<std::string> fresh_seed_key();

/// The runners of one start of the test program; ends them when it goes out of scope.
class RunnerPair {
 public:
  /// `stop` may be null. Starting happens in the background: a runner that cannot be started is a
  /// closed connection to the test program, and an error in finish().
  [[nodiscard]] static base::Result<std::unique_ptr<RunnerPair>> start(
      const SplitOptions& options, const std::atomic<bool>* stop);
  ~RunnerPair();
  RunnerPair(const RunnerPair&) = delete;
  RunnerPair& operator=(const RunnerPair&) = delete;

  /// The judge's ends, for ProcessRequest::descriptors.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// The submission's among the devices that the test program sees.
  [[nodiscard]] static int student_device(const SplitOptions& options) {
    return options.reference_times.empty() ? 1 : 0;
  }
  /// For the test program: where the forwarding runtime and the sockets are.
  [[nodiscard]] std::map<std::string, std::string> environment() const;

  /// Closes our ends, waits for both runners; how the submission's ended.
  [[nodiscard]] base::Result<jail::JailOutcome> finish();
  /// After finish(): a line for each runner that ended badly, with its last words; "" where both
  /// ended well. For people: the words may be a submission's.
  [[nodiscard]] std::string story() const;

 private:
  explicit RunnerPair(const SplitOptions& options) : options_(options) {}
  void run_reference(const std::atomic<bool>* stop);
  void run_submission(const std::atomic<bool>* stop);
  [[nodiscard]] jail::JailRequest runner_request(const std::atomic<bool>* stop) const;
  [[nodiscard]] jail::JailRequest runner_request(const runner::Descriptor& socket,
                                                 const std::atomic<bool>* stop) const;

  const SplitOptions& options_;
  runner::Descriptor judge_reference_, judge_submission_;    // the test program's ends
  runner::Descriptor runner_reference_, runner_submission_;  // the runners' ends
  bool uses_kept_reference_ = false;                         // until finish()
  std::vector<std::thread> threads_;
  base::Result<jail::JailOutcome> submission_ = jail::JailOutcome{};
  base::Result<jail::JailOutcome> reference_ = jail::JailOutcome{};
};

}  // namespace membound::judge
