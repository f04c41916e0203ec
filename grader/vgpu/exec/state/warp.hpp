// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A warp while it runs: its frames, and its lanes in groups that share a program counter.
/// Place in the chain: [warp] -> execution_state; handlers (lanes/ops_*.cpp) and schedulers work on
/// it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "grader/vgpu/exec/state/step.hpp"
#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::exec {

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
  memory::StoreBurst burst;
  std::array<std::uint32_t, 32> commit_groups{};  ///< committed so far, a lane
  bool yielded = false;
  bool watched = false;      ///< an observer hears of every step, until the block ends
  bool interrupted = false;  ///< the inner loop was left for that alone
  Pass pass;
  std::uint32_t pauses = 0;  ///< that its block's drawn order may still give it
  /// By lane: the last branch that could have gone two ways. Empty unless Launch::notes_branches.
  std::vector<const Step*> last_branches;
};

/// Lanes of a mask. Counting bits is a call where every x86-64 must run this; most masks are full
/// or empty.
[[nodiscard, gnu::always_inline]] inline std::uint32_t lane_count(std::uint32_t mask) {
  if (mask == 0xFFFFFFFFu) return 32;
  return mask == 0 ? 0 : static_cast<std::uint32_t>(__builtin_popcount(mask));
}

/// Copies `mask` into the running state: lanes, full.
void set_mask(Warp& warp, std::uint32_t mask);

}  // namespace membound::vgpu::exec
