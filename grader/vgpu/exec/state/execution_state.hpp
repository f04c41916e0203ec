// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The state of the machine while a launch runs: prepared code, workers, blocks and their barriers,
/// warps. Handlers (lanes/ops_*.cpp) and schedulers work on it.
///
///   Launch ── FunctionCode (steps, constants)          read-only while running
///   Worker ── one host thread: counters of its own, blocks one after another
///   Block  ── shared memory, barriers, Warps
///   Warp   ── frames (registers), groups of lanes that share a program counter
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/memory/address_sets.hpp"
#include "grader/vgpu/memory/coalescer.hpp"
#include "grader/vgpu/memory/lazy_array.hpp"
#include "grader/vgpu/memory/shared_banks.hpp"
#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::exec {

class BlockSample {
 public:
  BlockSample() = default;
  /// At most `most` of `blocks`; 0: all.
  BlockSample(std::uint64_t blocks, std::uint64_t most)
      : blocks_(blocks),
        most_(most),
        of_an_end_((most + 3) / 4),
        all_(most == 0 || blocks <= most) {
    period_ = std::max<std::uint64_t>(2, blocks_ / (of_an_end_ + 1));
  }

  [[nodiscard]] bool leaves_out_some() const { return !all_; }
  /// The block with this place in the grid.
  [[nodiscard]] bool has(std::uint64_t linear) const {
    return all_ || linear < of_an_end_ || linear >= blocks_ - of_an_end_ || linear % period_ < 2;
  }
  /// Those blocks, pairs of neighbours from all over the grid first, for whoever has no time for
  /// all of them; none where no limit was asked for.
  [[nodiscard]] std::vector<std::uint64_t> places() const {
    std::vector<std::uint64_t> all, spread;
    for (std::uint64_t linear = 0; most_ != 0 && linear < blocks_;) {
      if (has(linear))
        all.push_back(linear++);
      else
        linear = std::min((linear / period_ + 1) * period_, blocks_ - of_an_end_);
    }
    const std::size_t pairs = (all.size() + 1) / 2;
    const auto take = [&](std::size_t pair) {
      for (std::size_t i = 2 * pair; i < std::min(2 * pair + 2, all.size()); ++i)
        spread.push_back(all[i]);
    };
    if (pairs > 0) take(0);
    if (pairs > 1) take(pairs - 1);
    for (std::size_t step = std::bit_ceil(pairs) / 2; step > 0; step /= 2)
      for (std::size_t pair = step; pair + 1 < pairs; pair += 2 * step) take(pair);
    return spread;
  }

 private:
  std::uint64_t blocks_ = 0, most_ = 0, of_an_end_ = 0, period_ = 0;
  bool all_ = true;
};

struct Warp;
struct Step;

/// Executes one step for the lanes of the running group; returns the next step, or `warp.stop`.
using Handler = const Step* (*)(Warp&, const Step*);

/// Where a Value is at run time: two bits choose the area, the rest is a byte offset in it.
/// Predicates: index * 2 + negated.
using Ref = std::uint32_t;
enum Area : std::uint32_t { kFrameArea, kConstantArea, kWarpArea, kBlockArea };
inline constexpr std::uint32_t kSlotBytes = 128;  ///< 32 words of 4 bytes
/// Behind the last slot of every area: the widest operand has four, whatever its register has.
inline constexpr std::uint32_t kSlackSlots = 3;

/// What a handler needs rarely.
struct Extra {
  std::array<Ref, 4> d{};
  std::array<Ref, 8> s{};
  Handler inner = nullptr;       ///< of a guarded step
  Handler whole = nullptr;       ///< of a step at which its warp may pause: guarded and all
  Handler as_written = nullptr;  ///< of an access that the machine code has otherwise
  const program::Instruction* in = nullptr;
  std::uint32_t function = 0;  ///< index into Launch::code
};

/// What steps have besides registers, by the shape of their operands.
struct AddressOperand {
  std::int64_t offset = 0;
};
struct BranchOperand {
  const Step* target = nullptr;
  std::int32_t cost = 0;  ///< what a backward branch takes of a time slice; see scheduler.hpp
};
struct CompareOperand {
  program::Combine combine = program::Combine::kNone;
  bool has_second = false;  ///< somebody wants the second destination
};
struct CollectiveOperand {
  bool has_second = false;  ///< the same
};
struct TruthTableOperand {
  std::uint32_t table = 0;
};

/// One instruction made ready to run.
struct alignas(64) Step {
  Handler handler = nullptr;
  const Extra* extra = nullptr;
  Ref d = 0, a = 0, b = 0, c = 0;
  union {  ///< the handler knows which
    AddressOperand address{};
    BranchOperand branch;
    CompareOperand compare;
    CollectiveOperand collective;
    TruthTableOperand lop3;
  };
  Ref guard = 0;
  std::uint32_t stats = 0;   ///< index of its StepStats
  std::uint16_t origin = 0;  ///< its number in Launch::origins; 0: none
};

/// The span of global memory an instruction touched last.
struct LastSpan {
  std::uint64_t span_begin = 1;  ///< addresses [begin, begin + bytes)
  std::uint64_t span_bytes = 0;
  std::int64_t host_offset = 0;
};

/// What one worker remembers and counts of one static memory instruction or branch.
struct alignas(64) StepStats : LastSpan, counters::StepCounts {};

/// What a stretch of code asks of its warp, added up in one operation. Wraps; see end_phase.
using PathSum = std::uint32_t __attribute__((vector_size(16)));
/// Load batches are counted kUnrollFactor times (program/instruction.hpp).
enum PathPart : std::uint8_t { kIssueSlots, kChainClocks, kLoadBatches, kSharedRequests };

struct Block;
struct Worker;
struct Launch;
class Observer;
class SettledReads;

/// Registers and locals of one call.
struct Frame {
  Frame* caller = nullptr;
  const Step* return_to = nullptr;
  const program::Call* call = nullptr;  ///< how results go back
  std::uint32_t function = 0;
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;        ///< of this frame in each lane's local memory
  std::uint32_t lanes = 0;             ///< lanes still in it
  std::uint32_t alloca_bytes = 0;      ///< taken by alloca above the frame's own bytes
  std::uint64_t stack_bytes = 0;       ///< of a GPU's stack, callers included, before alloca
  std::vector<std::uint64_t> storage;  ///< registers, then predicates
  std::byte* registers = nullptr;
  std::uint32_t* predicates = nullptr;
};

/// Why a group is not running.
enum class GroupState : std::uint8_t {
  kReady,
  kConverge,     ///< waits at a collective for other lanes of its warp
  kWarpBarrier,  ///< waits at bar.warp.sync
  kBarrier       ///< waits at a block barrier
};

/// Lanes of one warp that share program counter and frame.
struct Group {
  const Step* pc = nullptr;
  std::uint32_t mask = 0;
  GroupState state = GroupState::kReady;
  std::uint32_t penalty = 0;  ///< grows each time it spun in vain; lowest runs first
  Frame* frame = nullptr;
  std::uint32_t wanted = 0;      ///< kConverge, kWarpBarrier: the member mask
  std::uint32_t barrier = 0;     ///< kBarrier: which
  const Step* rejoin = nullptr;  ///< lockstep: where it meets the entry below
  bool forced = false;           ///< run the collective with the lanes there are
};

/// Why the inner loop was left.
enum class Leave : std::uint8_t { kNone, kSwitch, kTimeSliceSpent, kWait, kExit, kFault };

/// Asynchronous copies of a warp's lanes that have not landed yet.
struct PendingCopy {
  const Step* step = nullptr;
  std::uint32_t lane = 0;
  std::uint32_t group = 0;  ///< commit group it belongs to; counted per lane
  std::uint32_t shared_offset = 0;
  std::uint32_t bytes = 0;
  std::array<std::byte, 16> data{};
};

/// cp.async.bulk to shared memory, between its issue and a wait on its mbarrier.
struct BulkCopy {
  const Step* step = nullptr;
  std::uint64_t barrier = 0, to = 0;  ///< offsets in shared memory
  std::vector<std::byte> data;
};

/// A warp hands something over, and an observer wants others to take it before the warp goes on.
struct Pass {
  bool wanted = false;
  bool to_blocks = false;  ///< … not only other warps of its block
  std::uint32_t bytes = 0;
  const std::byte* place = nullptr;  ///< of one of them, in our memory; null: not there
  std::uint64_t before = 0;          ///< what stood there
};

/// 32 lanes.
struct alignas(64) Warp {
  // What every handler touches comes first.
  std::array<std::byte*, 4> bases{};
  std::uint32_t* predicates = nullptr;
  std::uint32_t mask = 0;  ///< lanes of the running group
  bool full = false;       ///< mask covers every lane that has not exited
  Leave leave = Leave::kNone;
  std::int32_t time_slice = 0;      ///< what is left of its turn
  const Step* stop = nullptr;       ///< where another group waits for the running one
  const Step* run_begin = nullptr;  ///< first step not yet counted
  StepStats* stats = nullptr;
  std::byte* shared = nullptr;
  std::uint32_t shared_bytes = 0;
  std::uint32_t live = 0;  ///< lanes that exist and have not exited
  Worker* worker = nullptr;
  Block* block = nullptr;
  Launch* launch = nullptr;
  Observer* observer = nullptr;           ///< checkers and cache model; null when none looks on
  const SettledReads* settled = nullptr;  ///< what it need not hear of; null: it hears everything
  Frame* frame = nullptr;
  alignas(64) std::array<std::uint32_t, 32> lanes{};  ///< 0 or ~0 a lane; kept when not full
  std::array<Group, 64> groups{};  ///< a lane each, and in lockstep where they meet again
  std::uint32_t group_count = 0;
  std::uint32_t current = 0;
  std::uint32_t index = 0;  ///< in its block
  std::uint32_t exited = 0;
  std::uint32_t carry = 0;       ///< the carry flag, one bit a lane
  std::vector<std::byte> local;  ///< [lane][local_stride]
  std::uint32_t local_stride = 0;
  PathSum path{};                      ///< in this phase of its block
  PathSum ended_path{};                ///< in the phases before
  std::uint64_t left_at = 0;           ///< in clocks of its block: the end of its last phase
  std::vector<std::uint64_t> special;  ///< WarpSlot area
  std::vector<std::unique_ptr<Frame>> frames;  ///< all ever made
  std::vector<Frame*> free_frames;
  std::vector<PendingCopy> copies;
  memory::WriteCombiner write_combiner;
  std::array<std::uint32_t, 32> commit_groups{};  ///< committed so far, a lane
  bool yielded = false;
  bool watched = false;      ///< an observer hears of every step, until the block ends
  bool interrupted = false;  ///< the inner loop was left for that alone
  Pass pass;
  std::uint32_t pauses = 0;        ///< that it may still make for others
  std::size_t polling_digest = 0;  ///< see exec/schedule/scheduler.cpp
  /// Does it take work by tickets (wrapping_handlers.cpp)? Between two of them other blocks go on.
  enum class Ticket : std::uint8_t { kNone, kTaken, kNext } ticket = Ticket::kNone;
  /// By lane: the last branch that could have gone two ways. Empty unless Launch::notes_branches.
  std::vector<const Step*> last_branches;
};

/// Lanes of a mask. Counting bits is a call where any x86-64 must run this; most masks are full
/// or empty.
[[nodiscard, gnu::always_inline]] inline std::uint32_t lane_count(std::uint32_t mask) {
  if (mask == 0xFFFFFFFFu) return 32;
  return mask == 0 ? 0 : static_cast<std::uint32_t>(__builtin_popcount(mask));
}

/// Copies `mask` into the running state: lanes, full.
void set_mask(Warp& warp, std::uint32_t mask);

class LastBlockPattern;
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

/// What the warps of a block did so far; see exec/critical_path/block_recorder.hpp.
struct PathTotals {
  std::uint64_t clocks = 0;                    ///< of the slowest warps
  std::array<std::uint64_t, 4> critical = {};  ///< by PathPart: of the slowest warp of each phase
  std::array<std::uint64_t, 4> all = {};       ///< of all warps
  std::uint64_t barriers_after_loads = 0, other_barriers = 0;
};

/// One block while it runs.
struct Block {
  Block() = default;
  ~Block();  ///< keeps its frames for other blocks
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  Launch* launch = nullptr;
  Worker* worker = nullptr;
  Observer* observer = nullptr;
  std::uint64_t turn = 0;    ///< in the order blocks start in
  std::uint64_t linear = 0;  ///< in the grid
  Dim3 index{0, 0, 0};
  std::vector<Warp> warps;
  std::vector<std::uint32_t> turn_order;  ///< which warp comes when
  std::uint64_t order_state = 0;  ///< from which the order of each sweep is drawn; 0: it stays
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
  std::unique_ptr<memory::LaneChunks> chunks;  ///< null: none yet
  std::uint64_t instructions = 0;
  /// What instructions cost beside themselves that do each lane's work on its own (atomics, printf,
  /// malloc), in the host's time for a plain one: for the step limit alone.
  std::uint64_t toll = 0;
  std::uint64_t last_look = 0;    ///< steps() when it last looked whether to go on
  std::uint64_t last_cpu_ns = 0;  ///< of its thread, at that look; see LaunchLimits
  bool is_slow = false;           ///< by that clock, at any look
  [[nodiscard]] std::uint64_t steps() const { return instructions + toll; }
  std::uint64_t blocks = 0;
  std::uint64_t long_warps = 0, left_warps = 0;  ///< see exec/schedule/block.hpp
  bool unequal_warps = false;                    ///< likewise, of a block that was given up
  std::uint64_t barriers = 0;
  /// Turns of all blocks that run, in which most of them only polled for what others hand over.
  std::uint64_t waiting_sweeps = 0;
  /// Of shared memory, by step: what goes round in a loop mostly asks for one pattern.
  std::array<memory::KnownPattern, 16> known_patterns{};
  memory::HotWords hottest;                  ///< words of global memory that atomics wanted
  memory::HotWords busiest_sectors;          ///< sectors, by turns that atomics take there
  memory::HotWords busiest_slices;           ///< slices of 256 bytes, likewise
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
  std::vector<PathSum> critical_path;  ///< by step; see exec/critical_path/critical_path.hpp
  std::uint32_t load_batch_clocks = 0;
  std::vector<const Step*> origins;  ///< of accesses, as the race checker names them; 0: unknown
  std::uint32_t stats_count = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t warps_per_block = 0;
  std::uint64_t shared_window = 0, local_window = 0;
  /// A variable in constant memory; code with short pointers knows of the others the lower half.
  std::uint64_t constant_variable = 0;
  std::uint64_t parameter_address = 0;  ///< of the copy in device memory, if the kernel needs one
  std::uint64_t grid_barrier_address = 0;
  bool parallel = false;        ///< several workers: atomics must be real ones
  bool precise = false;         ///< memcheck: spans are single allocations
  bool counts = true;           ///< somebody asks what accesses cost
  bool notes_branches = false;  ///< each warp notes by which branch its lanes went last
  /// It is timed, and its blocks may tell each other something: a warp's turn ends where it has
  /// done so. Else each block would be done before the next one begins, and nobody would wait for
  /// it.
  bool hands_over = false;
  bool shares_work = false;     ///< a block has asked for work a second time; set by its one worker
  bool all_share_work = false;  ///< and as many have started as fit
  bool defer_reductions = false;
  const Scheduler* scheduler = nullptr;
  Observer* observer = nullptr;
  BlockSample sample;
  /// Only these blocks run, in this order; empty: all. See launch/launch.hpp.
  std::vector<std::uint64_t> chosen;
  /// A worker that has executed so many begins no further pair of those; 0: all run.
  std::uint64_t enough_instructions = 0;
  bool some_warps = false;       ///< of each of those; see exec/schedule/block.hpp
  std::uint32_t cached_sms = 1;  ///< whose L1 is modelled: turn t belongs to t % cached_sms
  double l2_part = 1;            ///< of what runs on the machine at the same time, what runs here
  double l1_part = 1;  ///< of an SM's L1: what those that run have of it, beside those that do not
  Observer* observer_of_unsampled = nullptr;  ///< of blocks that `sample` leaves out
  BlockRecorder* recorder = nullptr;
  std::size_t observers_with_notes = 0;
  std::vector<SliceFacts::Stored>* stored = nullptr;  ///< by turn, where a slice runs
  LastBlockPattern* last_block = nullptr;  ///< of a sampled launch whose last block may do the rest

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

/// Which variant of the handlers runs: the best this processor has, or, where the environment says
/// MEMBOUND_HANDLERS=generic, the one for every processor. Ends the program, with a sentence, where
/// the build has neither for this one.
enum class Variant : std::uint8_t { kGeneric, kAvx2 };
[[nodiscard]] Variant best_variant();

}  // namespace membound::vgpu::exec
