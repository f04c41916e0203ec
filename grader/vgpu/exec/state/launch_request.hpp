// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What one kernel launch needs, and what comes back: its report, the fault that ended it, what
/// checkers found, what it touched, and one warp's accesses as they are told to somebody outside.
/// Left out: streams, time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/device_code/ptx/ast.hpp"
#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/memory/address_sets.hpp"
#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/memory/dim3.hpp"
#include "grader/vgpu/memory/textures.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {

/// Why a launch ended early.
enum class FaultKind {
  kIllegalAddress,
  kMisalignedAddress,
  kAssert,
  kTrap,
  kDeadlock,
  kStepLimit,
  kUnsupportedInstruction,
  kStackOverflow,
  kStopped
};

/// "illegal address", "misaligned address", …
[[nodiscard]] std::string_view to_string(FaultKind kind);

/// Where in program and grid. File and line are empty and 0 without -lineinfo.
struct Place {
  std::string kernel;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t ptx_line = 0;
  std::string instruction;  ///< the PTX instruction as text
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
};

/// The event that ended a launch.
struct Fault {
  FaultKind kind = FaultKind::kTrap;
  Place place;
  std::uint64_t address = 0;
  std::string text;  ///< one or two plain sentences
};

/// The other side of a race.
struct OtherAccess {
  Place place;
  bool wrote = false;
};

/// One finding of a checker; equal findings of other lanes are counted, not repeated.
struct CheckReport {
  std::string checker;  ///< memcheck, initcheck, racecheck, synccheck, leakcheck
  std::string kind;     ///< "out of bounds read", "data race", …
  Place place;
  std::uint64_t address = 0;
  std::uint32_t size_bytes = 0;
  std::uint64_t count = 1;
  std::string text;                       ///< what happened, and in which memory
  std::string advice = {};                ///< what to do about it
  std::optional<OtherAccess> other = {};  ///< of a data race
  /// Of findings with one cause that of the most weight is told.
  std::uint32_t weight = 0;
  /// Worth knowing, and no fault: CUDA defines what happens here.
  bool is_remark = false;
  /// Which memory, where that is known: two findings of one line and one array have one cause.
  std::string array = {};
};

/// What an access does to memory.
enum class AccessKind : std::uint8_t { kLoad, kStore, kAtomic };

/// What one instruction asked of memory for the lanes of one warp. Valid during the call only.
struct AccessEvent {
  std::string file;  ///< empty without -lineinfo
  std::uint32_t line = 0;
  std::uint32_t ptx_line = 0;
  std::string_view instruction;                      ///< "ld.global.f32"
  ptx::StateSpace space = ptx::StateSpace::kGlobal;  ///< global, shared or local
  AccessKind kind = AccessKind::kLoad;
  std::uint32_t mask = 0;                    ///< lanes that take part
  std::uint32_t bytes = 0;                   ///< a lane
  const std::uint64_t* addresses = nullptr;  ///< of 32 lanes; offsets for shared and local memory
};

/// Hears of accesses while a launch runs, in the order the warp made them.
class AccessListener {
 public:
  virtual ~AccessListener() = default;
  virtual void on_access(const AccessEvent& event) = 0;
};

/// Whose accesses are told: those of one warp of one block, so that a listener needs no lock and a
/// launch little extra time. Without a listener nothing is looked at.
struct Tracing {
  AccessListener* listener = nullptr;
  Dim3 block{0, 0, 0};
  std::uint32_t warp = 0;
};

struct Footprint {
  /// What one instruction touches, or one end of a copy.
  struct Part {
    Place place;  ///< of the thread that came first; empty where no kernel did it
    AccessKind kind = AccessKind::kLoad;
    memory::AddressRanges ranges;
  };
  /// More ranges than this are not kept: some 64 MB.
  static constexpr std::size_t kMostRanges = std::size_t{1} << 20;

  std::deque<Part> parts;  ///< which stay at their places
  /// Too much was touched, in too many ranges: nothing is known.
  bool too_large = false;
};

/// Independent: every lane makes progress (Volta and later). Lockstep: a stack of reconvergence
/// points as before Volta; a spin lock inside one warp hangs, and is reported as a deadlock.
enum class Scheduling { kIndependent, kLockstep };

/// Which checkers look on: `memcheck`, `racecheck`, …, a field for each row of checkers.def. All
/// cost time; none changes what the kernel computes.
struct Checks {
#define MEMBOUND_CHECKER(name, words, finds) bool name = false;
#include "grader/device_code/checkers/checkers.def"
  std::uint32_t max_reports = 100;
  /// Of a launch with more blocks, about so many are heard by those that hear every access; 0: all.
  /// What blocks say to each other through memory is then not known.
  std::uint64_t most_blocks = 0;

  /// Any of those that look on while a kernel runs.
  [[nodiscard]] bool of_kernels() const {
    bool any = false;
#define MEMBOUND_KERNEL_CHECKER(name, at_right_results, words, finds) any |= name;
#include "grader/device_code/checkers/checkers.def"
    return any;
  }
  [[nodiscard]] bool any() const {
    bool any = false;
#define MEMBOUND_CHECKER(name, words, finds) any |= name;
#include "grader/device_code/checkers/checkers.def"
    return any;
  }
  /// Switches one on by its name, or by "all" every one; false where none is called so.
  bool switch_on(std::string_view checker) {
    bool known = false;
#define MEMBOUND_CHECKER(name, words, finds) \
  if (checker == #name || checker == "all") known = name = true;
#include "grader/device_code/checkers/checkers.def"
    return known;
  }
};

/// Where a launch gives up.
struct LaunchLimits {
  std::uint64_t warp_instructions = 0;  ///< 0: no limit
  /// So much CPU time of the host counts as one of them, where the instructions are fewer: a limit
  /// in time. 0: they alone count, and a launch ends at the same place each time.
  std::uint32_t cpu_ns_per_instruction = 0;
  std::uint32_t worker_threads = 0;   ///< 0: one per core
  std::uint32_t resident_blocks = 0;  ///< interleaved kernels: blocks in flight; 0: by sm_count
  std::uint64_t stack_bytes = 1024;   ///< cudaLimitStackSize: a lane's calls, as a GPU counts them
  /// A lane's local memory and frames, as they lie here: parameters included.
  std::uint64_t local_bytes = std::uint64_t{1} << 20;
};

/// What the cache model imitates. It is deterministic whatever the number of worker threads; see
/// exec/traffic/l2_footprint.hpp for what it models.
struct CacheModel {
  bool enabled = false;
  std::uint64_t l1_bytes = 256 << 10;  ///< of one SM, shared memory included
  /// Only what is loaded as read-only or through a texture stays in L1.
  bool plain_loads_pass_l1 = false;
  std::uint64_t l2_bytes = 50 << 20;
  std::uint64_t stored_l2_bytes = 61'000'000;  ///< see kept_in_l2
  double dirty_l2_bytes = 8e6;
  std::uint32_t resident_blocks_per_sm = 1;
};

/// Run some blocks only, and let them stand for all: for the time of a large launch.
struct SampleOrder {
  std::uint64_t seed = 0;          ///< says which
  std::uint64_t instructions = 0;  ///< of warps, about: where more would be needed the sample ends
  /// A launch that is sampled needs what this one leaves: all blocks run, most of a large one
  /// uncounted, or none where they would take more than a sample may cost.
  bool all = false;
  /// Of each block that runs, warps run until one has taken long, which stands for those left: for
  /// blocks that take too many instructions and whose warps need nothing of each other.
  bool some_warps = false;
  /// With it: how long L1 keeps lines where all warps run, as LaunchReport says of the launch given
  /// up before, for those that run here do not share it as on a GPU. Nothing: as if too many.
  std::optional<std::uint32_t> l1_kept = {};
};

/// Run blocks [first, first + count) of a launch and no others, for what they leave in memory.
struct BlockRange {
  std::uint64_t first = 0, count = 0;
  std::uint64_t most_instructions = 0;  ///< of warps: with more it is given up; 0: no limit
  /// Not 0: of `count` blocks that lie so far apart, in a ring, only the slice of the kernel that
  /// says where they store runs; see SliceFacts.
  std::uint64_t slice_step = 0;
};

/// What the slice of a kernel showed of the blocks for which it ran. One alone stores, whatever its
/// registers hold; of several is told where they would.
struct SliceFacts {
  /// Bytes of global memory, and the sum of the addresses of all of them, modulo 2^64.
  using Stored = std::array<std::uint64_t, 2>;
  std::vector<Stored> stored = {};          ///< of each, if there are several
  std::uint64_t executed_instructions = 0;  ///< of warps; those that were passed over left out
  /// Of each kind of blocks that go another way through the kernel one: of 16 kinds at most.
  std::vector<std::uint64_t> kinds = {};
};

/// What a sample was.
struct SampleFacts {
  std::uint64_t blocks = 0;        ///< that ran and were counted
  std::uint64_t of = 0;            ///< that the launch has
  double error = 0;                ///< standard error of the launch's work, as a share of it
  std::uint64_t stored_bytes = 0;  ///< to global memory, by the blocks that ran,
  std::uint64_t loaded_bytes = 0;  ///< and from it
  bool counts_arrivals = false;    ///< the last block had what those that ran left, else zeros
  bool prepares = false;           ///< all blocks ran, but only these were counted
  double warps = 1;                ///< which part of the warps of those blocks ran
  /// The blocks that ran, in order: first and count of each run of neighbours.
  std::vector<std::array<std::uint64_t, 2>> ran = {};
};

/// What kernels may ask of the runtime while they run. May be called from several threads at once.
class DeviceCalls {
 public:
  virtual ~DeviceCalls() = default;
  /// One formatted printf. Returns false when the buffer is full and the text was dropped.
  virtual bool print(std::string_view text) = 0;
  /// Device malloc; 0 when the heap is exhausted. `where` is told to leakcheck alone, else null.
  virtual std::uint64_t allocate(std::uint64_t bytes, const Place* where) = 0;
  /// Device free; false when `address` came from no device malloc.
  virtual bool release(std::uint64_t address) = 0;
};

/// What special registers tell of the machine that is imitated; see PTX ISA, "Special Registers".
struct MachineRegisters {
  std::uint32_t warps_per_sm = 64;             ///< %nwarpid
  std::uint32_t shared_unit_bytes = 128;       ///< %total_smem_size is a multiple of it
  std::uint32_t shared_reserved_bytes = 1024;  ///< what %aggr_smem_size has besides
};

/// So far past its end an access to a block's shared memory goes on, as on a GPU: memory is given
/// out in units, and the next block's begins with what the system keeps. A word for each of 1,024
/// threads; with memcheck on it is found and left out.
inline constexpr std::uint32_t kSharedReachBytes = 4096;

/// Lines of the source, both ends included.
struct LineRange {
  std::uint32_t first = 0, last = 0;
  friend bool operator==(const LineRange&, const LineRange&) = default;
};

/// One launch. Pointers must outlive the call.
struct LaunchRequest {
  const program::Program* program = nullptr;
  const program::Kernel* kernel = nullptr;
  Dim3 grid = {};
  Dim3 block = {};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_reach_bytes = kSharedReachBytes;  ///< 0: such an access ends the launch
  std::span<const std::byte> parameters = {};            ///< laid out as kernel->parameters says
  memory::AddressSpace* memory = nullptr;
  const memory::TextureTable* textures = nullptr;
  bool cooperative = false;
  LaunchLimits limits = {};
  Checks checks = {};
  Scheduling scheduling = Scheduling::kIndependent;
  std::optional<std::uint64_t> shuffle_seed = {};  ///< reorders blocks and warps to expose races
  /// Warps of a block take their turns in orders drawn from it, and blocks that may learn from each
  /// other start in one: what then comes out otherwise was never certain. Nothing: in the order of
  /// their numbers.
  std::optional<std::uint64_t> warp_order_seed = {};
  /// Blocks that tell each other something run one after the other as far as they can, also where
  /// the launch is timed: to learn whether a result depends on what is drawn.
  bool keeps_block_order = false;
  /// Atomic operations whose outcome can depend on it serve the lanes of a warp in orders drawn
  /// from it. Nothing: in the order of their numbers.
  std::optional<std::uint64_t> lane_order_seed = {};
  /// Both are drawn at the instructions of these lines alone: warps and blocks begin in the order
  /// of their numbers, and before such an instruction others may go first. Nothing: everywhere.
  std::optional<LineRange> order_lines = {};
  const std::atomic<bool>* stop = nullptr;  ///< set on Ctrl-C; polled now and then
  std::uint32_t sm_count = 132;             ///< of the machine being imitated
  MachineRegisters registers = {};
  std::uint64_t number = 1;  ///< in its process: %gridid
  double clock_ghz = 1.98;   ///< what clock64 and globaltimer assume
  DeviceCalls* device_calls = nullptr;
  CacheModel caches = {};
  bool counts = true;          ///< false: nobody asks for LaunchReport::counters
  bool lists_opcodes = false;  ///< fills LaunchReport::opcodes
  Tracing tracing = {};
  Footprint* footprint = nullptr;  ///< to be filled in; null: nobody asks
  std::optional<SampleOrder> sample = {};
  std::optional<BlockRange> only = {};  ///< goes before `sample`; nothing is counted or checked
  const program::CostTable* costs = nullptr;  ///< the machine's; null: those of costs.def
};

/// An opcode with the type it was executed for.
struct ExecutedOpcode {
  std::string_view name;                          ///< as in opcodes.def
  ptx::ScalarType type = ptx::ScalarType::kNone;  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ExecutedOpcode&, const ExecutedOpcode&) = default;
};

/// What came of it. Counters and reports are there even when a fault ended the launch.
struct LaunchReport {
  std::optional<Fault> fault;
  counters::LaunchCounters counters;
  std::vector<CheckReport> checks;
  std::set<ExecutedOpcode> opcodes;
  std::uint64_t warp_instructions = 0;
  double wall_seconds = 0;
  std::optional<SampleFacts> sample;  ///< the counters are scaled to the whole launch
  std::optional<SliceFacts> slice;
  /// Why a launch that should be sampled was not: nothing it did counts. Empty: all is well.
  std::string unsampled;
  /// Of one given up for its many instructions, where its warps are alike as far as they ran: the
  /// times that lines stay in L1, as many of the buckets of ReuseDistances.
  std::optional<std::uint32_t> l1_kept;
};

}  // namespace membound::vgpu::exec
