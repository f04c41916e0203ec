// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/schedule/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/vgpu/exec/critical_path/block_recorder.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
constexpr std::uint32_t kMostPauses = 16;  ///< of a warp
constexpr std::uint64_t kStepsAPause = 3;  ///< of those that may pause, about

/// The next number of a sequence (splitmix64): a sweep is as short as a few instructions, too short
/// for a generator with a large state.
std::uint64_t next_number(std::uint64_t& state) {
  std::uint64_t z = (state += kGolden);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

void start_turns(Block& block) {
  const LaunchRequest& request = *block.launch->request;
  block.turn_order.resize(block.warps.size());
  std::iota(block.turn_order.begin(), block.turn_order.end(), 0u);
  block.order_state = 0;
  const std::uint64_t of_block = block.linear * kGolden;
  if (request.shuffle_seed) {
    std::mt19937_64 random(*request.shuffle_seed ^ of_block);
    std::ranges::shuffle(block.turn_order, random);
  }
  const bool alone = block.warps.size() < 2 && !block.launch->kernel->communicates_between_blocks;
  if (block.launch->hands_over || (request.warp_order_seed && !alone))
    for (Warp& w : block.warps) w.pauses = kMostPauses;
  if (!request.warp_order_seed || alone) return;
  block.order_state = (*request.warp_order_seed ^ of_block) | 1;
  draw_turns(block);
}

bool draws_at(const Launch& launch, const Extra& extra) {
  const std::optional<LineRange>& drawn = launch.request->order_lines;
  if (!drawn) return true;
  const program::Function& function = *launch.code[extra.function].function;
  const auto index = static_cast<std::size_t>(extra.in - function.code.data());
  // Where the kernel ends is in its own file; of a function in another file, it is called there.
  const std::uint32_t file = launch.code.front().function->lines.back().file;
  const auto has = [&](const program::SourceLine& place) {
    return place.file == file && drawn->first <= place.line && place.line <= drawn->last;
  };
  return has(function.lines[index]) || has(function.call_sites[index]);
}

bool draw_pause(Warp& w) {
  Block& block = *w.block;
  if (block.order_state == 0 || w.pauses == 0) return false;
  const std::uint64_t drawn = next_number(block.order_state);
  // At chosen lines the first warps wait longest: nothing else makes them late.
  const bool pauses = w.launch->request->order_lines
                          ? drawn % (block.warps.size() + 1) < block.warps.size() - w.index
                          : drawn % kStepsAPause == 0;
  if (!pauses) return false;
  --w.pauses;
  return true;
}

std::uint32_t draw_lanes(Warp& w, const Step* step) {
  if (!w.launch->scheduler->waits_for_lanes() || std::popcount(w.mask) < 2 ||
      !draws_at(*w.launch, *step->extra) || !draw_pause(w))
    return w.mask;
  const auto part = static_cast<std::uint32_t>(next_number(w.block->order_state)) & w.mask;
  return part != 0 ? part : w.mask;
}

LaneOrder draw_lane_order(const Warp& w, const Step* step) {
  const Launch& launch = *w.launch;
  const auto instruction = static_cast<std::uint64_t>(step - launch.steps.data());
  const std::uint64_t executed = w.worker->instructions - w.block->instructions;
  std::uint64_t state = *launch.request->lane_order_seed ^ w.block->linear * kGolden;
  for (const std::uint64_t part : {std::uint64_t{w.index}, instruction, executed})
    state = next_number(state) ^ part;
  const std::uint64_t drawn = next_number(state);
  return {static_cast<std::uint32_t>(drawn % 32), static_cast<std::uint32_t>(drawn >> 5) % 32 | 1u};
}

void draw_turns(Block& block) {
  if (block.launch->request->order_lines) return;
  std::vector<std::uint32_t>& order = block.turn_order;
  const std::uint64_t drawn = next_number(block.order_state);
  // Of two warps each comes first about as often as the other. But the order of the numbers, which
  // all kernels were tried in, is that of all a shuffle of few warps would give too often: half of
  // the sweeps have the last warp first, or another one.
  if (order.size() > 1 && drawn % 4 == 0) {
    std::iota(order.rbegin(), order.rend(), 0u);
  } else if (order.size() > 1 && drawn % 4 == 1) {
    std::iota(order.begin(), order.end(), 0u);
    const std::uint64_t by = 1 + (drawn >> 2) % (order.size() - 1);
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(by), order.end());
  } else {
    for (std::size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[next_number(block.order_state) % left]);
  }
  // 0 says that the order stays.
  if (block.order_state == 0) block.order_state = kGolden;
}

namespace {

/// Frames of launches that have ended. Where blocks hand something over, each launch has many under
/// way: fresh memory for all their registers took longer than to run them.
class SpareFrames {
 public:
  static SpareFrames& all() {
    static auto* const spares = new SpareFrames;  // launches may end after static objects do
    return *spares;
  }
  std::unique_ptr<Frame> take() {
    std::unique_lock lock(mutex_);
    if (frames_.empty()) return std::make_unique<Frame>();
    std::unique_ptr<Frame> frame = std::move(frames_.back());
    frames_.pop_back();
    words_ -= frame->storage.size();
    lock.unlock();
    std::ranges::fill(frame->storage, 0);  // so that no launch finds what another one has left
    return frame;
  }
  void keep(std::unique_ptr<Frame> frame) {
    const std::lock_guard lock(mutex_);
    if (words_ + frame->storage.size() > kMostWords) return;
    words_ += frame->storage.size();
    frames_.push_back(std::move(frame));
  }

 private:
  static constexpr std::size_t kMostWords = std::size_t{4} << 20;  ///< 32 MiB
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::size_t words_ = 0;
};

std::uint32_t* slot(std::vector<std::uint64_t>& area, std::uint32_t index) {
  return reinterpret_cast<std::uint32_t*>(area.data()) + index * 32;
}

/// Thread indices of a warp: the same for every block.
void fill_thread_indices(Warp& w, const Dim3& shape) {
  w.special.assign((program::kWarpSlots + kSlackSlots) * kSlotBytes / 8, 0);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const Dim3 thread = shape.index(std::uint64_t{w.index} * 32 + lane);
    slot(w.special, program::kTidX)[lane] = thread.x;
    slot(w.special, program::kTidY)[lane] = thread.y;
    slot(w.special, program::kTidZ)[lane] = thread.z;
  }
}

/// %warpid, which numbers the warps that are resident on the block's multiprocessor: the first
/// blocks there begin with warp 0, those that are resident beside them with the numbers after. It
/// depends on the block's place in the grid alone, so that every run of a launch tells the same.
std::uint32_t first_warp_id(const Launch& launch, std::uint64_t linear) {
  const LaunchRequest& request = *launch.request;
  const std::uint32_t warps = launch.warps_per_block;
  const std::uint32_t room = std::max(1u, request.registers.warps_per_sm / std::max(1u, warps));
  const std::uint32_t resident = std::clamp(request.caches.resident_blocks_per_sm, 1u, room);
  return static_cast<std::uint32_t>(linear / request.sm_count % resident) * warps;
}

std::uint32_t lanes_of_warp(const Launch& launch, std::uint32_t warp) {
  const std::uint64_t threads = launch.request->block.count();
  const std::uint64_t left = threads - std::uint64_t{warp} * 32;
  return left >= 32 ? 0xFFFFFFFFu : (1u << left) - 1;
}

/// Everybody who waits at barrier `id` goes on.
void open_barrier(Block& block, std::uint32_t id) {
  BarrierState& barrier = block.barriers[id];
  if (barrier.expected == 0) end_phase(block);
  if (block.observer != nullptr) block.observer->opens(block, id);
  for (Warp& w : block.warps) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      Group& group = w.groups[g];
      if (group.state != GroupState::kBarrier || group.barrier != id) continue;
      group.state = GroupState::kReady;
      deliver_barrier_result(w, group, barrier);
    }
  }
  barrier = BarrierState{};
}

/// Exits can complete a barrier that waits for every thread alive.
void reconsider_barriers(Block& block) {
  for (std::uint32_t id = 0; id < block.barriers.size(); ++id) {
    const BarrierState& barrier = block.barriers[id];
    if (barrier.arrived != 0 && barrier.expected == 0 && barrier.arrived >= block.live_threads)
      open_barrier(block, id);
  }
}

/// The lanes that wait at a warp barrier like `group` go on without those that never came.
void open_warp_barrier(Warp& w, const Group& group) {
  const Step* const step = group.pc - 1;
  const std::uint32_t wanted = group.wanted;
  std::uint32_t present = 0;
  for (std::uint32_t g = 0; g < w.group_count; ++g) {
    Group& other = w.groups[g];
    if (other.state != GroupState::kWarpBarrier || other.wanted != wanted) continue;
    present |= other.mask;
    other.state = GroupState::kReady;
  }
  if (w.observer == nullptr) return;
  w.frame = group.frame;
  if ((wanted & w.live & ~present) != 0) w.observer->collective(w, step, wanted, present, 0);
  w.observer->lanes_sync(w, wanted & present);
}

/// Nobody can run. Lanes that wait for others at a collective go on without them; if there are
/// none, the block is deadlocked. False: faulted.
bool resolve_standstill(Block& block) {
  for (Warp& w : block.warps) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      Group& group = w.groups[g];
      if (group.state != GroupState::kConverge && group.state != GroupState::kWarpBarrier) continue;
      if (group.state == GroupState::kWarpBarrier)
        open_warp_barrier(w, group);
      else
        group.forced = true;
      group.state = GroupState::kReady;
      return true;
    }
  }
  for (Warp& w : block.warps) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      const Group& group = w.groups[g];
      if (group.state != GroupState::kBarrier) continue;
      w.frame = group.frame;
      const BarrierState& barrier = block.barriers[group.barrier];
      const std::uint32_t expected = barrier.expected == 0 ? block.live_threads : barrier.expected;
      raise(w, group.pc - 1, FaultKind::kDeadlock,
            static_cast<std::uint32_t>(std::countr_zero(group.mask)), 0,
            "barrier " + std::to_string(group.barrier) + " waits for " +
                base::counted(expected, "thread") + ", " + std::to_string(barrier.arrived) +
                (barrier.arrived == 1 ? " has" : " have") +
                " arrived and no other thread of the block can run: some wait at another "
                "barrier");
      return false;
    }
  }
  return false;
}

}  // namespace

Block::~Block() {
  for (Warp& w : warps)
    for (auto& frame : w.frames) SpareFrames::all().keep(std::move(frame));
}

std::unique_ptr<Block> make_block(Launch& launch, Worker& worker) {
  auto block = std::make_unique<Block>();
  block->launch = &launch;
  block->worker = &worker;
  block->warps = std::vector<Warp>(launch.warps_per_block);
  // One slack row: a vector load near the end of shared memory never leaves the storage.
  block->shared_storage.assign(launch.shared_bytes / 8 + 32, 0);
  block->shared = reinterpret_cast<std::byte*>(block->shared_storage.data());
  block->special.assign((program::kBlockSlots + kSlackSlots) * kSlotBytes / 8, 0);
  for (std::uint32_t i = 0; i < block->warps.size(); ++i) {
    Warp& w = block->warps[i];
    w.index = i;
    w.launch = &launch;
    w.worker = &worker;
    w.block = block.get();
    w.stats = worker.stats.data();
    w.shared = block->shared;
    w.shared_bytes = launch.shared_bytes;
    if (launch.notes_branches) w.last_branches.resize(32);
    fill_thread_indices(w, launch.request->block);
    w.bases[kWarpArea] = reinterpret_cast<std::byte*>(w.special.data());
    w.bases[kBlockArea] = reinterpret_cast<std::byte*>(block->special.data());
  }
  return block;
}

void start_block(Block& block, std::uint64_t linear) {
  Launch& launch = *block.launch;
  block.linear = linear;
  block.index = launch.request->grid.index(linear);
  block.instructions = block.worker->instructions;
  block.barriers = {};
  block.bulk_copies.clear();
  block.bulk_bytes = 0;
  block.path = {};
  block.live_threads = static_cast<std::uint32_t>(launch.request->block.count());
  block.observer = launch.sample.has(linear) ? launch.observer : launch.observer_of_unsampled;
  std::fill(block.shared_storage.begin(), block.shared_storage.end(), 0);
  const std::uint32_t values[program::kBlockSlots] = {
      block.index.x, block.index.y, block.index.z,
      static_cast<std::uint32_t>(linear % launch.request->sm_count)};
  for (std::uint32_t i = 0; i < program::kBlockSlots; ++i)
    std::fill_n(slot(block.special, i), 32, values[i]);
  const std::uint32_t first_warp = first_warp_id(launch, linear);
  for (Warp& w : block.warps) {
    if (std::uint32_t* const id = slot(w.special, program::kWarpId); *id != first_warp + w.index)
      std::fill_n(id, 32, first_warp + w.index);
    w.observer = block.observer;
    w.live = lanes_of_warp(launch, w.index);
    w.left_at = 0;
    w.ended_path = PathSum{};
    w.exited = 0;
    w.group_count = 0;
    w.current = 0;
    w.copies.clear();
    w.write_combiner.start_block();
    w.watched = w.interrupted = false;
    w.pass = {};
    w.ticket = Warp::Ticket::kNone;
    w.polling_digest = 0;
    w.commit_groups = {};
    std::ranges::fill(w.last_branches, nullptr);
    w.free_frames.clear();
    for (auto& frame : w.frames) w.free_frames.push_back(frame.get());
    Frame* frame = make_frame(w, 0, nullptr, lane_count(w.live));
    w.groups[0] = Group{};
    w.groups[0].pc = launch.code[0].begin;
    w.groups[0].mask = w.live;
    w.groups[0].frame = frame;
    w.group_count = 1;
  }
  if (block.observer != nullptr) block.observer->block_begins(block);
}

BlockTurn run_block(Block& block, bool may_yield) {
  Launch& launch = *block.launch;
  for (bool first_round = true;; first_round = false) {
    bool alive = false, ran = false, only_spun = true, only_polled = true, passed_on = false;
    for (const std::uint32_t turn : block.turn_order) {
      Warp& w = block.warps[turn];
      if (w.group_count == 0) continue;
      alive = true;
      if (!launch.scheduler->pick(w)) continue;
      ran = true;
      switch (run_warp(w)) {
        case Turn::kHalted:
          return BlockTurn::kHalted;
        case Turn::kPolled:
          break;
        case Turn::kYielded:
          only_polled = false;
          break;
        case Turn::kPassedOn:
          passed_on = true;
          [[fallthrough]];
        case Turn::kDone:
        case Turn::kBlocked:
        case Turn::kPassed:
          only_spun = false;
          break;
      }
    }
    if (!alive) return BlockTurn::kDone;
    if (!ran && !resolve_standstill(block)) return BlockTurn::kHalted;
    if (ran && only_spun && may_yield)
      return only_polled && first_round ? BlockTurn::kPolled : BlockTurn::kYielded;
    if (passed_on && may_yield) return BlockTurn::kPassed;
    if (launch.halt.load(std::memory_order_relaxed)) return BlockTurn::kHalted;
    if (block.order_state != 0) [[unlikely]]
      draw_turns(block);
  }
}

Frame* make_frame(Warp& w, std::uint32_t function, Frame* caller, std::uint32_t lanes) {
  const FunctionCode& code = w.launch->code[function];
  Frame* frame = nullptr;
  if (!w.free_frames.empty()) {
    frame = w.free_frames.back();
    w.free_frames.pop_back();
  } else {
    w.frames.push_back(SpareFrames::all().take());
    frame = w.frames.back().get();
  }
  frame->caller = caller;
  frame->return_to = nullptr;
  frame->call = nullptr;
  frame->function = function;
  frame->lanes = lanes;
  frame->depth = caller == nullptr ? 0 : caller->depth + 1;
  frame->local_base = caller == nullptr
                          ? 0
                          : caller->local_base +
                                w.launch->code[caller->function].function->frame_bytes +
                                caller->alloca_bytes;
  frame->alloca_bytes = 0;
  frame->stack_bytes = code.function->stack_bytes;
  if (caller != nullptr) frame->stack_bytes += caller->stack_bytes + caller->alloca_bytes;
  const std::size_t words = (code.register_bytes + code.predicate_words * 4 + 64) / 8 + 8;
  if (frame->storage.size() < words) frame->storage.assign(words, 0);
  // Rows of 128 bytes begin at a cache line, so that no vector straddles two.
  const auto start = reinterpret_cast<std::uintptr_t>(frame->storage.data());
  frame->registers = reinterpret_cast<std::byte*>((start + 63) & ~std::uintptr_t{63});
  frame->predicates = reinterpret_cast<std::uint32_t*>(frame->registers + code.register_bytes);
  frame->predicates[code.function->predicate_count] = 0xFFFFFFFFu;  // "always"
  return frame;
}

void leave_frame(Warp& w, Frame* frame, std::uint32_t lanes) {
  frame->lanes -= lanes;
  if (frame->lanes == 0) w.free_frames.push_back(frame);
}

void leave_block(Warp& w, std::uint32_t mask) {
  const std::uint32_t lanes = lane_count(mask);
  for (Frame* frame = w.frame; frame != nullptr;) {
    Frame* caller = frame->caller;
    leave_frame(w, frame, lanes);
    frame = caller;
  }
  w.block->live_threads -= lanes;
  reconsider_barriers(*w.block);
}

bool arrive_at_barrier(Warp& w, const Step* step, std::uint32_t id, std::uint32_t expected,
                       std::uint32_t predicate) {
  Block& block = *w.block;
  BarrierState& barrier = block.barriers.at(id);
  barrier.arrived += lane_count(w.mask);
  barrier.expected = expected;
  barrier.count += lane_count(predicate & w.mask);
  ++w.worker->barriers;
  Group& group = w.groups[w.current];
  group.pc = step + 1;
  group.state = GroupState::kBarrier;
  group.barrier = id;
  if (expected != 0 && w.observer != nullptr) w.observer->arrives(w, id);
  const std::uint32_t needed = expected == 0 ? block.live_threads : expected;
  if (barrier.arrived < needed) return true;
  open_barrier(block, id);
  return false;
}

namespace {

/// Warp instructions. Blocks of which some warps run take 128 times as many, at least.
constexpr std::uint64_t kLong = std::uint64_t{1} << 16;

}  // namespace

bool has_unequal_warps(const Block& block) {
  bool long_ones = false, left = false;
  for (const Warp& w : block.warps) {
    if (w.group_count != 0)
      left = true;
    else if (w.path[kIssueSlots] >= kLong)  // in quarters, which unrolled instructions may take
      long_ones = true;
  }
  return long_ones && left;
}

BlockTurn run_some_warps(Block& block) {
  std::vector<std::uint32_t> order = std::exchange(block.turn_order, {});
  std::mt19937_64 random(block.launch->request->sample->seed ^
                         (block.linear * 0x9E3779B97F4A7C15u));
  std::ranges::shuffle(order, random);
  for (auto next = order.begin(); next != order.end(); ++next) {
    block.turn_order = {*next};
    const std::uint64_t before = block.worker->instructions;
    if (run_block(block, false) == BlockTurn::kHalted) return BlockTurn::kHalted;
    if (block.worker->instructions - before < kLong) continue;
    for (auto left = next + 1; left != order.end(); ++left)
      block.warps[*left].path = block.warps[*next].path;
    ++block.worker->long_warps;
    block.worker->left_warps += static_cast<std::uint64_t>(order.end() - next - 1);
    break;
  }
  return BlockTurn::kDone;
}

}  // namespace membound::vgpu::exec
