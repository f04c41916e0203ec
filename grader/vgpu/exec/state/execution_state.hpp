// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The state of the machine while a launch runs: prepared code, workers, blocks and their barriers.
/// Place in the chain: exec's own vocabulary; handlers (ops_*.cpp) and schedulers work on it.
///
///   Launch ── FunctionCode (steps, constants)          read-only while running
///   Worker ── one host thread: counters of its own, blocks one after another
///   Block  ── shared memory, barriers, Warps
///   Warp   ── frames (registers), groups of lanes that share a program counter: warp.hpp
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "grader/vgpu/counters/block_work.hpp"
#include "grader/vgpu/exec/state/block_sample.hpp"
#include "grader/vgpu/exec/state/lane_pieces.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/exec/state/warp.hpp"
#include "grader/vgpu/memory/hot_words.hpp"
#include "grader/vgpu/memory/shared_banks.hpp"

namespace membound::vgpu::exec {

class Arrivals;
class BlockRecorder;
class Scheduler;

/// One of a block's 16 barriers.
struct BarrierState {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;  ///< 0: all live threads
  std::uint32_t count = 0;     ///< red: predicates that held
  std::uint32_t any = 0, all = 1;
};

/// A float atomic without a result, kept to be done in the order of blocks.
struct FloatReduction {
  std::byte* host = nullptr;
  std::uint64_t bits = 0;
  ptx::ScalarType type = ptx::ScalarType::kF32;
};

/// What an observer remembers of one block in flight: each derives its own, see PerBlock.
struct ObserverNotes {};
inline constexpr std::size_t kMostObservers = 8;  ///< that remember something of each block

/// What the warps of a block did so far; see exec/observe/block_recorder.hpp.
struct PathTotals {
  std::uint64_t clocks = 0;                    ///< of the slowest warps
  std::array<std::uint64_t, 4> critical = {};  ///< by PathPart: of the slowest warp of each phase
  std::array<std::uint64_t, 4> all = {};       ///< of all warps
  std::uint64_t barriers_after_loads = 0, other_barriers = 0;
};

/// One block while it runs.
struct Block {
  Launch* launch = nullptr;
  Worker* worker = nullptr;
  Observer* observer = nullptr;
  std::uint64_t turn = 0;    ///< in the order blocks start in
  std::uint64_t linear = 0;  ///< in the grid
  Dim3 index{0, 0, 0};
  std::vector<Warp> warps;
  std::vector<std::uint32_t> turn_order;  ///< which warp comes when
  std::uint64_t order_state = 0;  ///< from which the order of each round is drawn; 0: it stays
  std::vector<std::uint64_t> shared_storage;
  std::byte* shared = nullptr;
  std::vector<std::uint64_t> special;  ///< BlockSlot area
  std::array<BarrierState, 16> barriers{};
  std::uint32_t live_threads = 0;
  std::uint64_t instructions = 0;                      ///< the block's clock
  std::array<ObserverNotes*, kMostObservers> notes{};  ///< by PerBlock
  std::vector<FloatReduction> reductions;              ///< put off until the block's turn
  std::vector<BulkCopy> bulk_copies;                   ///< not landed yet
  std::uint64_t bulk_bytes = 0;                        ///< of them
  PathTotals path;
  counters::BlockWork last_work;  ///< of the block before that ran here, and its number
  std::uint32_t last_kind = 0;
};

/// Does it now.
void apply_reduction(const FloatReduction& reduction);

/// An integer atomic without a result on 4 or 8 bytes; `parallel`: other workers may do the same.
void apply_atomic(std::byte* place, bool parallel, program::Atomic operation, ptx::ScalarType type,
                  std::uint64_t operand);

/// A function ready to run.
struct FunctionCode {
  const program::Function* function = nullptr;
  const Step* begin = nullptr;
  std::vector<std::uint64_t> constant_storage;
  std::byte* constants = nullptr;
  std::uint32_t register_bytes = 0;  ///< of a frame, scratch slots included
  std::uint32_t predicate_words = 0;
};

/// Runs of a warp that begin at a step: how many, and with how many lanes in all.
using RunDelta = std::int64_t __attribute__((vector_size(16)));

/// One host thread's part of a launch.
struct Worker {
  Launch* launch = nullptr;
  std::vector<RunDelta> runs;  ///< by step: where runs begin, less where they end
  std::vector<StepStats> stats;
  std::unique_ptr<LanePieces> pieces;  ///< null: none yet
  std::uint64_t instructions = 0;
  /// What instructions cost beside themselves that do each lane's work on its own (atomics, printf,
  /// malloc), in the host's time for a plain one: for the step limit alone.
  std::uint64_t toll = 0;
  std::uint64_t last_look = 0;    ///< steps() when it last looked whether to go on
  std::uint64_t last_cpu_ns = 0;  ///< of its thread, at that look; see LaunchLimits
  bool is_slow = false;           ///< by that clock, at any look
  [[nodiscard]] std::uint64_t steps() const { return instructions + toll; }
  std::uint64_t blocks = 0;
  std::uint64_t long_warps = 0, left_warps = 0;  ///< see exec/schedule/some_warps.hpp
  bool unequal_warps = false;                    ///< likewise, of a block that was given up
  std::uint64_t barriers = 0;
  /// Of shared memory, by step: what goes round in a loop mostly asks for one pattern.
  std::array<memory::KnownPattern, 16> known_patterns{};
  memory::HotWords hottest;                  ///< words of global memory that atomics wanted
  memory::HotWords busiest_sectors;          ///< sectors, by turns that atomics take there
  memory::HotWords busiest_pieces;           ///< pieces of 256 bytes, likewise
  std::vector<std::unique_ptr<Block>> pool;  ///< blocks to use again
};

/// Everything fixed for a launch, and what workers share.
struct Launch {
  const LaunchRequest* request = nullptr;
  const program::Kernel* kernel = nullptr;
  std::vector<Step> steps;
  std::vector<Extra> extras;
  std::vector<FunctionCode> code;      ///< reachable functions; 0 is the kernel
  std::vector<std::uint32_t> code_of;  ///< by program function: index into `code`
  std::vector<PathSum> path_weights;   ///< by step; see exec/launch/path_weights.hpp
  std::uint32_t load_round_clocks = 0;
  std::vector<const Step*> origins;  ///< of accesses, as the race checker names them; 0: unknown
  std::uint32_t stats_count = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t warps_per_block = 0;
  std::uint64_t shared_window = 0, local_window = 0;
  std::uint64_t parameter_address = 0;  ///< of the copy in device memory, if the kernel needs one
  std::uint64_t grid_barrier_address = 0;
  bool parallel = false;        ///< several workers: atomics must be real ones
  bool precise = false;         ///< memcheck: spans are single allocations
  bool counts = true;           ///< somebody asks what accesses cost
  bool notes_branches = false;  ///< each warp notes by which branch its lanes went last
  bool defer_reductions = false;
  const Scheduler* scheduler = nullptr;
  Observer* observer = nullptr;
  BlockSample sample;
  /// Only these blocks run, in this order; empty: all. See launch/sampled_launch.hpp.
  std::vector<std::uint64_t> chosen;
  /// A worker that has executed so many begins no further pair of those; 0: all run.
  std::uint64_t enough_instructions = 0;
  bool some_warps = false;       ///< of each of those; see exec/schedule/some_warps.hpp
  std::uint32_t cached_sms = 1;  ///< whose L1 is modelled: turn t belongs to t % cached_sms
  double l2_part = 1;            ///< of what runs on the machine at the same time, what runs here
  double l1_part = 1;  ///< of an SM's L1: what those that run have of it, beside those that do not
  Observer* observer_of_unsampled = nullptr;  ///< of blocks that `sample` leaves out
  BlockRecorder* recorder = nullptr;
  std::size_t observers_with_notes = 0;
  Arrivals* arrivals = nullptr;  ///< of a sampled launch whose last block may do the rest

  std::mutex mutex;  ///< guards what follows
  std::optional<Fault> fault;
  std::uint64_t fault_block = 0;
  std::atomic<bool> halt{false};
  std::atomic<std::uint64_t> instructions{0};
};

/// Ends the launch with a fault of `lane` at the step about to run (or running). The first block in
/// grid order wins, so that reports do not depend on the number of workers. Returns warp.stop.
const Step* raise(Warp& warp, const Step* at, FaultKind kind, std::uint32_t lane,
                  std::uint64_t address, std::string text);

/// The place of one lane in program and grid.
[[nodiscard]] Place place_of(const Warp& warp, const Step* at, std::uint32_t lane);

}  // namespace membound::vgpu::exec
