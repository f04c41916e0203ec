// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graded run has three processes: the lab's test program, which judges; a runner for the
/// reference; and a runner for the submission, in a jail. This starts the two runners beside a run
/// of the test program, says what they may use, and tells how the submission's ended. The
/// reference's may be there from an earlier run; where its times are known, on a virtual GPU, it
/// needs no runner.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::judge {

/// Limits of one runner that may have to work on `stages` stages, each of which the test program
/// waits at most `seconds_per_stage` for. Launches have deadlines of their own (lab.json): these
/// limits are what a submission meets that makes thousands of long ones, or takes memory. Of CPU
/// time they say nothing: DeviceKind::equip() does.
[[nodiscard]] jail::Limits runner_limits(int stages, double seconds_per_stage);

/// Folders of the libraries that the dynamic linker gives `runner`, and of the CUDA driver, as far
/// as they lie outside of what every jail sees: a toolkit and a driver may be installed anywhere.
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> gpu_library_folders(
    const std::filesystem::path& runner);

/// Those of the libraries in what `ldd` prints, in order, each once.
[[nodiscard]] std::vector<std::filesystem::path> library_folders(const std::string& ldd_output);

/// The nodes below `folder` that the CUDA driver opens: its own, and those of all GPUs, or of the
/// one with this number, where it is there. Empty where there are none.
[[nodiscard]] std::vector<std::filesystem::path> gpu_nodes(const std::filesystem::path& folder,
                                                           int gpu_number = -1);

/// The reference's runner of one device, for all graded runs of a batch there. Nobody's code but
/// ours ever runs in it, so that it may outlive a run, and with it a context that takes a GPU a
/// quarter of a second to make and to end. For one run at a time: whoever holds the device
/// (DevicePool).
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

/// What a graded run needs beside an ordinary one.
struct SandboxOptions {
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
      const SandboxOptions& options, const std::atomic<bool>* stop);
  ~RunnerPair();
  RunnerPair(const RunnerPair&) = delete;
  RunnerPair& operator=(const RunnerPair&) = delete;

  /// The judge's ends, for ProcessRequest::descriptors.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// The submission's among the devices that the test program sees.
  [[nodiscard]] static int student_device(const SandboxOptions& options) {
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
  explicit RunnerPair(const SandboxOptions& options) : options_(options) {}
  void run_reference(const std::atomic<bool>* stop);
  void run_submission(const std::atomic<bool>* stop);
  [[nodiscard]] jail::JailRequest runner_request(const std::atomic<bool>* stop) const;
  [[nodiscard]] jail::JailRequest runner_request(const runner::Descriptor& socket,
                                                 const std::atomic<bool>* stop) const;

  const SandboxOptions& options_;
  runner::Descriptor judge_reference_, judge_submission_;    // the test program's ends
  runner::Descriptor runner_reference_, runner_submission_;  // the runners' ends
  bool uses_kept_reference_ = false;                         // until finish()
  std::vector<std::thread> threads_;
  base::Result<jail::JailOutcome> submission_ = jail::JailOutcome{};
  base::Result<jail::JailOutcome> reference_ = jail::JailOutcome{};
};

}  // namespace membound::judge
