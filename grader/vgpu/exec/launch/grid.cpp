// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/prepare.hpp"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "grader/base/older_systems.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/vgpu/exec/critical_path/block_recorder.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

/// Threads that help with a launch's blocks. They are kept between launches: starting and joining
/// them would cost a small launch more than running it.
class HelperThreads {
 public:
  void share(std::size_t helpers, const std::function<void(std::size_t)>& work) {
    {
      const std::lock_guard lock(mutex_);
      if (work_ == nullptr) {
        for (; threads_ < helpers; ++threads_) std::thread([this] { help(); }).detach();
        work_ = &work;
        wanted_ = helpers;
        begun_ = 0;
      } else {
        helpers = 0;
      }
    }
    if (helpers == 1)
      wake_.notify_one();
    else if (helpers > 1)
      wake_.notify_all();
    work(0);
    if (helpers == 0) return;
    std::unique_lock lock(mutex_);
    wanted_ = 0;
    base::wait(ended_, lock, [this] { return busy_ == 0; });
    work_ = nullptr;
  }

 private:
  void help() {
    std::unique_lock lock(mutex_);
    while (true) {
      base::wait(wake_, lock, [this] { return begun_ < wanted_; });
      const std::size_t index = ++begun_;
      const auto* const work = work_;
      ++busy_;
      lock.unlock();
      (*work)(index);
      lock.lock();
      if (--busy_ == 0) ended_.notify_one();
    }
  }

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_, ended_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t threads_ = 0, wanted_ = 0, begun_ = 0, busy_ = 0;
};

// Never destroyed: its threads wait on it until the process ends. A forked child has none of them
// and starts with new ones.
HelperThreads* shared_threads = nullptr;

HelperThreads& helper_threads() {
  static std::once_flag once;
  std::call_once(once, [] {
    shared_threads = new HelperThreads;
    pthread_atfork(nullptr, nullptr, [] { shared_threads = new HelperThreads; });
  });
  return *shared_threads;
}

/// Calls `work(0)` here and `work(1)` … `work(helpers)` on other threads; returns when all calls
/// that began have ended. A helper that has not begun when `work(0)` returns stays out, so `work`
/// must share what there is to do. While other threads' work holds the helpers, only `work(0)` is
/// called.
void share_work(std::size_t helpers, const std::function<void(std::size_t)>& work) {
  if (helpers == 0)
    work(0);
  else
    helper_threads().share(helpers, work);
}

/// Finds out that the blocks that wait at cooperative groups' grid barrier wait for one that has
/// ended: of one launch, by the thread that runs all its blocks. The barrier itself is code of the
/// program's (cooperative_groups/details/sync.h).
class GridBarrierWatch {
 public:
  explicit GridBarrierWatch(Launch& launch) : launch_(launch) {}
  void ended(const Block& block);
  /// Each of `running` had a turn, and `all_spun`: none did more than poll. They are all there are.
  void swept(const std::deque<std::unique_ptr<Block>>& running, bool all_spun);

 private:
  /// Of the barrier's current phase; nobody: it is not in one.
  [[nodiscard]] std::uint64_t arrived() const;

  Launch& launch_;
  std::uint64_t ended_ = 0;
  std::vector<std::uint64_t> first_ended_;  ///< the first few
  std::uint32_t idle_sweeps_ = 0;
};

constexpr std::size_t kNamedBlocks = 3;

/// A word after the size of the workspace. All arrivals of a phase add up to the highest bit: 1
/// each, and what is missing from block 0.
constexpr std::uint64_t kGridWordOffset = 4;
constexpr std::uint32_t kPhaseBit = 0x80000000u;

void GridBarrierWatch::ended(const Block& block) {
  idle_sweeps_ = 0;
  ++ended_;
  if (first_ended_.size() < kNamedBlocks) first_ended_.push_back(block.linear);
}

std::uint64_t GridBarrierWatch::arrived() const {
  std::uint32_t word = 0;
  if (!launch_.request->memory->copy_out(&word, launch_.grid_barrier_address + kGridWordOffset,
                                         sizeof word))
    return 0;
  const std::uint32_t part = word & ~kPhaseBit;
  const bool block_0_has = part >= kPhaseBit / 2;
  return block_0_has ? launch_.request->grid.count() - (kPhaseBit - part) : part;
}

void GridBarrierWatch::swept(const std::deque<std::unique_ptr<Block>>& running, bool all_spun) {
  // Who arrives polls in the same turn: only the second such sweep has no arrival in it.
  idle_sweeps_ = all_spun ? idle_sweeps_ + 1 : 0;
  if (idle_sweeps_ < 2 || ended_ == 0 || launch_.grid_barrier_address == 0) return;
  const std::uint64_t waiting = arrived();
  if (waiting == 0) return;
  const LaunchRequest& request = *launch_.request;
  std::string text = "the barrier of the grid waits for all " +
                     base::counted(request.grid.count(), "block") + "; " + std::to_string(waiting) +
                     (waiting == 1 ? " has" : " have") + " come, and " + std::to_string(ended_) +
                     (ended_ == 1 ? " has" : " have") + " ended without it: block ";
  for (const std::uint64_t block : first_ended_)
    text += (block == first_ended_.front() ? "" : ", ") + triple(request.grid.index(block));
  if (ended_ > first_ended_.size()) text += ", …";
  for (const auto& block : running) {
    for (Warp& w : block->warps) {
      for (std::uint32_t g = 0; g < w.group_count; ++g) {
        const Group& group = w.groups[g];
        if (group.state != GroupState::kReady) continue;
        w.frame = group.frame;
        raise(w, group.pc, FaultKind::kDeadlock,
              static_cast<std::uint32_t>(std::countr_zero(group.mask)), 0, text);
        return;
      }
    }
  }
}

/// Which block comes when: in order, or shuffled by a seed, or as chosen.
class BlockOrder {
 public:
  BlockOrder(std::uint64_t blocks, std::optional<std::uint64_t> seed,
             const std::vector<std::uint64_t>& chosen)
      : order_(chosen) {
    if (!seed || !chosen.empty()) return;
    order_.resize(blocks);
    std::iota(order_.begin(), order_.end(), std::uint64_t{0});
    std::mt19937_64 random(*seed);
    std::shuffle(order_.begin(), order_.end(), random);
  }
  [[nodiscard]] std::uint64_t operator[](std::uint64_t turn) const {
    return order_.empty() ? turn : order_[turn];
  }

 private:
  std::vector<std::uint64_t> order_;
};

/// Applies the float reductions of blocks in grid order (of chosen ones: in theirs), each once all
/// before it are in.
class ReductionLedger {
 public:
  void hand_in(std::uint64_t block, std::vector<FloatReduction>&& reductions) {
    const std::lock_guard lock(mutex_);
    waiting_[block] = std::move(reductions);
    for (auto next = waiting_.find(turn_); next != waiting_.end(); next = waiting_.find(turn_)) {
      for (const FloatReduction& reduction : next->second) apply_reduction(reduction);
      waiting_.erase(next);
      ++turn_;
    }
  }

 private:
  std::mutex mutex_;
  std::uint64_t turn_ = 0;
  std::map<std::uint64_t, std::vector<FloatReduction>> waiting_;
};

std::unique_ptr<Worker> make_worker(Launch& launch) {
  auto worker = std::make_unique<Worker>();
  worker->launch = &launch;
  worker->runs.assign(launch.steps.size() + 1, RunDelta{});
  worker->stats.assign(launch.stats_count + 1, StepStats{});
  worker->last_cpu_ns = thread_cpu_ns();
  return worker;
}

void begin(Worker& worker, Block& block, const BlockOrder& order, std::uint64_t turn) {
  block.turn = turn;
  start_block(block, order[turn]);
  start_turns(block);
  ++worker.blocks;
}

void end(Block& block) {
  if (block.launch->counts) block.launch->recorder->add(block);
  if (block.observer != nullptr) block.observer->block_ends(block);
}

void run_in_parallel(Launch& launch, std::vector<std::unique_ptr<Worker>>& workers,
                     const BlockOrder& order, std::uint64_t blocks) {
  std::atomic<std::uint64_t> next{0};
  ReductionLedger ledger;
  const auto work = [&](std::size_t index) {
    workers[index] = make_worker(launch);
    Worker& worker = *workers[index];
    const auto block = make_block(launch, worker);
    const bool some_do = !launch.chosen.empty() && launch.enough_instructions != 0;
    while (!launch.halt.load(std::memory_order_relaxed)) {
      const std::uint64_t turn = next.fetch_add(1, std::memory_order_relaxed);
      if (turn >= blocks) break;
      // Neighbours, of which one may disturb the other, stand in pairs (BlockSample::places).
      if (some_do && turn % 2 == 0 && worker.instructions >= launch.enough_instructions) break;
      begin(worker, *block, order, turn);
      const BlockTurn ended = launch.some_warps ? run_some_warps(*block) : run_block(*block, false);
      if (ended == BlockTurn::kHalted) {
        worker.unequal_warps = has_unequal_warps(*block);
        break;
      }
      end(*block);
      if (launch.defer_reductions) {
        ledger.hand_in(launch.chosen.empty() ? block->linear : turn, std::move(block->reductions));
        block->reductions.clear();
      }
    }
  };
  share_work(workers.size() - 1, work);
  std::erase(workers, nullptr);  // helpers that came too late
}

/// Asked once: the answer does not change.
std::uint64_t processors() {
  static const std::uint64_t count = base::processors();
  return count;
}

/// Where blocks hand something over, so many are there to take it: all of a small grid. With as
/// many under way another one starts but now and then, for each takes memory.
constexpr std::uint64_t kSideBySide = 32;
/// In drawn orders, once a block waits for another one: more than a warp can look back at.
constexpr std::uint64_t kManySideBySide = 80;
constexpr std::uint64_t kNowAndThen = 16;  // sweeps

/// One thread. A block runs until it is done, only spins or hands something over; then all others
/// get a turn, and a new block starts when there is room for it. The blocks of a cooperative launch
/// start all at once, as on a GPU, so that those that come first do not poll for each of the
/// others; where blocks share work out, as many as fit, before one takes a second part.
///
/// With a seed blocks take their turns in an order drawn anew each time, so that none finds the
/// others always as far as it is itself. So they do where the launch is timed, and several are
/// there from the start: those that wait for one another in a row are seen to wait.
void run_interleaved(Launch& launch, Worker& worker, const BlockOrder& order, std::uint64_t blocks,
                     std::uint64_t resident, std::optional<std::uint64_t> seed) {
  std::deque<std::unique_ptr<Block>> running;
  std::vector<std::unique_ptr<Block>> spare;
  GridBarrierWatch watch(launch);
  const bool timed = launch.hands_over;
  std::uint64_t side_by_side = std::min(resident, kSideBySide);
  std::mt19937_64 random(seed.value_or(0));
  std::uint64_t started = 0, sweeps = 0;
  bool some_passed = timed, all_wait = false;
  while (!launch.halt.load(std::memory_order_relaxed)) {
    if (launch.shares_work) side_by_side = resident;
    std::uint64_t fresh = running.size() < resident ? 1 : 0;
    if (launch.request->cooperative)
      fresh = blocks - started;
    else if (some_passed && running.size() < side_by_side)
      fresh = side_by_side - running.size();
    else if (timed && all_wait)  // for blocks that a GPU would have started with them
      fresh = std::min<std::uint64_t>(running.size(), resident - running.size());
    else if (some_passed && ++sweeps % kNowAndThen != 0)
      fresh = 0;
    fresh = std::min(fresh, blocks - started);
    for (std::uint64_t i = 0; i < fresh; ++i) {
      std::unique_ptr<Block> block;
      if (spare.empty()) {
        block = make_block(launch, worker);
      } else {
        block = std::move(spare.back());
        spare.pop_back();
      }
      begin(worker, *block, order, started++);
      running.push_back(std::move(block));
    }
    if (running.empty()) return;
    launch.all_share_work =
        launch.shares_work && (started == blocks || running.size() >= side_by_side);
    // New blocks first; then everybody who waited, once each.
    if (seed || timed)
      std::ranges::shuffle(running, random);
    else
      std::rotate(running.begin(), running.end() - static_cast<std::ptrdiff_t>(fresh),
                  running.end());
    some_passed = timed;
    const std::size_t turns = running.size();
    std::size_t polled = 0, yielded = 0;
    for (std::size_t i = turns; i > 0; --i) {
      std::unique_ptr<Block> block = std::move(running.front());
      running.pop_front();
      switch (run_block(*block, true)) {
        case BlockTurn::kHalted:
          return;
        case BlockTurn::kDone:
          end(*block);
          watch.ended(*block);
          spare.push_back(std::move(block));
          break;
        case BlockTurn::kPassed:
          some_passed = true;
          running.push_back(std::move(block));
          break;
        case BlockTurn::kPolled:
          ++polled;
          [[fallthrough]];
        case BlockTurn::kYielded:
          ++yielded;
          if (seed) side_by_side = std::min(resident, kManySideBySide);
          running.push_back(std::move(block));
          break;
      }
    }
    all_wait = yielded == turns;
    if (2 * polled > turns && !all_wait) ++worker.waiting_sweeps;
    watch.swept(running, all_wait && started == blocks);
  }
}

std::uint64_t resident_blocks(const Launch& launch, std::uint64_t blocks) {
  const LaunchRequest& request = *launch.request;
  if (request.cooperative) return blocks;
  if (request.limits.resident_blocks != 0) return request.limits.resident_blocks;
  const std::uint64_t by_threads = 2048 / std::max<std::uint64_t>(1, request.block.count());
  return std::max<std::uint64_t>(1, std::min<std::uint64_t>(32, by_threads)) * request.sm_count;
}

/// With the race checker a launch of several workers may be taken back and run again
/// (racecheck.cpp). One that leaves more behind than bytes in memory, or whose writes are not all
/// heard of, cannot be taken back: one worker runs it at once, as it does where somebody asks what
/// the launch touches.
bool runs_only_once(const Launch& launch) {
  const LaunchRequest& request = *launch.request;
  if (request.footprint != nullptr) return true;
  if (launch.last_block != nullptr) return true;     // it hears one block after another
  if (launch.enough_instructions != 0) return true;  // which blocks run shall not depend on luck
  if (!request.checks.racecheck) return false;
  if (request.tracing.listener != nullptr || launch.sample.leaves_out_some()) return true;
  for (const FunctionCode& code : launch.code) {
    for (const program::Instruction& in : code.function->code)
      if (program::shape_of(in) == program::Shape::kSust) return true;
    for (const program::Call& call : code.function->calls)
      if (call.builtin != program::Builtin::kNone &&
          call.builtin != program::Builtin::kAssertFail &&
          call.builtin != program::Builtin::kRedZone)
        return true;
  }
  return false;
}

}  // namespace

std::vector<std::unique_ptr<Worker>> run_grid(Launch& launch) {
  const LaunchRequest& request = *launch.request;
  const std::uint64_t blocks = launch.chosen.empty() ? request.grid.count() : launch.chosen.size();
  const bool alone = (launch.kernel->communicates_between_blocks && launch.last_block == nullptr) ||
                     request.cooperative;
  std::uint64_t threads =
      request.limits.worker_threads != 0 ? request.limits.worker_threads : processors();
  threads = alone || runs_only_once(launch) ? 1 : std::min(threads, blocks);
  launch.parallel = threads > 1;
  std::vector<std::unique_ptr<Worker>> workers(threads);
  // No GPU promises the order in which blocks start: a block that waits for one of a lower number,
  // without a ticket, may wait for one that has no place to start at.
  const bool draws_blocks =
      alone && !request.cooperative && launch.chosen.empty() && !request.order_lines;
  const std::optional<std::uint64_t> drawn = draws_blocks ? request.warp_order_seed : std::nullopt;
  const BlockOrder order(blocks, drawn ? drawn : request.shuffle_seed, launch.chosen);
  if (alone) {
    workers[0] = make_worker(launch);
    run_interleaved(launch, *workers[0], order, blocks, resident_blocks(launch, blocks), drawn);
  } else {
    run_in_parallel(launch, workers, order, blocks);
  }
  return workers;
}

}  // namespace membound::vgpu::exec
