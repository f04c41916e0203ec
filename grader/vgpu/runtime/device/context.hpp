// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything the runtime remembers, in one object: the C interface forces one per process, reached
/// through context() alone. It lasts until the program ends, by itself, by a crash or by Ctrl-C; in
/// each case the counters file is written, and at an orderly end the open questions (leaks,
/// unchecked launches) are said.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/runtime/device/arrays_and_pools.hpp"
#include "grader/vgpu/runtime/device/environment_settings.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"
#include "grader/vgpu/runtime/device/kernel_launch.hpp"
#include "grader/vgpu/runtime/device/modules.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"
#include "grader/vgpu/runtime/device/stream_races.hpp"
#include "grader/vgpu/runtime/device/streams.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::runtime {

/// Host memory the API made or was told of.
struct HostMemory {
  std::size_t bytes = 0;
  unsigned int flags = 0;
  bool is_managed = false;
  bool is_registered = false;    ///< the program's own memory, pinned by cudaHostRegister
  std::size_t mapped_bytes = 0;  ///< of other memory: what was mapped for it
};

/// What cudaDeviceSetLimit keeps beside printf's and malloc's sizes.
struct Limits {
  std::size_t stack_bytes = 1024;
  std::size_t l2_fetch_bytes = 64;
  std::size_t persisting_l2_bytes = 0;
  std::size_t pending_launches = 2048;
  std::size_t sync_depth = 2;
  std::uint64_t warp_instructions =
      0;  ///< of a launch; 0: no limit. MEMBOUND_STEP_LIMIT goes first
};

/// The process's one virtual device and all that was made on it.
class Context {
 public:
  Context(Settings settings, timing::Machine machine);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Settings settings;
  const timing::Machine machine;
  memory::AddressSpace memory;
  DeviceServices services;
  VirtualClock clock;
  StreamTable streams;
  StreamRaces stream_races;
  HostWatch host_watch;
  std::set<std::string> told_touches;  ///< by the host: each once
  std::set<std::string> told_copies;   ///< of what nobody has written: likewise
  bool is_judged = false;  ///< the harness or its runner asks: what the host does is not looked at
  Registry registry;
  ArrayTable arrays;
  GraphTable graphs;
  PoolTable pools;
  ReportLog log;
  RunSummary summary;
  Limits limits;
  std::optional<exec::SampleOrder> sample;  ///< of launches to come: membound_vgpu_sample
  std::optional<std::uint32_t> l1_kept;     ///< of the last of these: exec::LaunchReport
  std::optional<exec::BlockRange> only;     ///< of these: membound_vgpu_run_blocks
  std::uint64_t launches = 0;               ///< that have begun
  /// Of launches of which only results matter: exec::LaunchRequest::warp_order_seed, and that of
  /// lanes.
  std::optional<std::uint64_t> order_seed;
  bool draws_beside_checkers = false;
  bool only_results = false;  ///< of launches to come, nobody asks what they cost: likewise
  std::string not_sampled;    ///< why one was not, since the report was taken; then no other is
  std::map<std::uint64_t, HostMemory> host_memory;  ///< by address
  std::set<exec::ExecutedOpcode> opcodes;           ///< with MEMBOUND_OPCODES: those listed so far
  unsigned int device_flags = 0;
  TimeSpan last_work;                ///< of the latest kernel, copy or fill
  std::vector<TimeSpan> graph_work;  ///< of each node of the graph that was launched last
  /// What each kernel, copy and fill touched since that was taken, where somebody asks for it:
  /// membound_vgpu_keep_uses.
  std::optional<std::vector<exec::Footprint>> uses;

  std::mutex mutex;               ///< held during every call
  std::atomic<bool> stop{false};  ///< set by Ctrl-C while a kernel runs
  std::atomic<bool> kernel_runs{false};

  /// Whether anybody may ask what a launch cost.
  [[nodiscard]] bool counts() const {
    return !only_results || !settings.counters_file.empty() || settings.summary ||
           settings.trace.on;
  }
  /// What modules are loaded for.
  [[nodiscard]] CodeTarget code_target() const;
  /// The host memory that holds `address`: its start and what is known of it.
  [[nodiscard]] const std::pair<const std::uint64_t, HostMemory>* find_host_memory(
      std::uint64_t address) const;

  // A kernel's fault makes the device unusable. It is seen by the first call that waits for the
  // kernel; from then on every call returns it.
  void fail(cudaError_t code);
  [[nodiscard]] bool is_lost() const { return lost_ != cudaSuccess; }
  /// What a call that waits (or, once seen, any call) must return instead of working.
  [[nodiscard]] cudaError_t error_seen_by(bool waits);

  /// cudaDeviceReset: forgets everything but the registered code.
  void reset();

 private:
  cudaError_t lost_ = cudaSuccess;
  bool lost_seen_ = false;
};

/// The one context, made on first use. A wrong setting ends the program with exit code 2.
[[nodiscard]] Context& context();
/// The context if there is one already: for exit and signal handlers.
[[nodiscard]] Context* existing_context();

/// Handlers for signals the program left alone: crashes write the counters file and then happen as
/// they would have; Ctrl-C stops a running kernel first. A crash on a device address says so.
void install_signal_handlers();

/// Does a segmentation fault still come to us? A program may have taken it since.
[[nodiscard]] bool takes_crashes();

/// Ends the program as Ctrl-C does, after a kernel was stopped.
[[noreturn]] void end_stopped(Context& context);

/// Gives host memory of the API back to the system.
void release_host_memory(std::uint64_t address, const HostMemory& memory);

/// A launch that `<<<…>>>` could not hand an error to.
struct UncheckedLaunch {
  std::string kernel;
  cudaError_t code = cudaSuccess;
  std::string why;  ///< which limit it passed; empty: another error
};
/// Is kept until somebody asks for the last error.
void note_unchecked_launch(UncheckedLaunch launch);
/// Somebody asked: the code does not tell which limit it was, so that is said where a checker is
/// on.
void launch_error_is_read();

}  // namespace membound::vgpu::runtime
