// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/traffic/cache_observer.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

#include "grader/vgpu/exec/traffic/request_lines.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::size_t kMostWanted = 64;
/// Lines side by side that neighbouring blocks touch are a run; of a tile's rows of 64 bytes, 12
/// blocks in a row make one of this length.
constexpr std::uint64_t kLongRun = 6;
/// Of fewer SMs beside each other nobody can tell whether their neighbours go on.
constexpr std::size_t kFewestBeside = 8;

/// What shared memory leaves of the SM's storage, or the part of it that the blocks that run have.
/// Each block has some shared memory that is the system's: with 2,048 lines in turn an H200 finds
/// nothing in L1 (01/1, a stretch of memory for each thread).
std::uint64_t l1_size(const Launch& launch, std::uint32_t slots) {
  const LaunchRequest& request = *launch.request;
  const std::uint64_t whole = request.caches.l1_bytes;
  const std::uint64_t of_block =
      std::uint64_t{program::shared_bytes(*launch.kernel, request.dynamic_shared_bytes)} +
      request.registers.shared_reserved_bytes;
  const std::uint64_t shared = of_block * slots;
  const std::uint64_t left = whole > shared ? whole - shared : 0;
  return std::max<std::uint64_t>(
      static_cast<std::uint64_t>(static_cast<double>(left) * launch.l1_part), 512);
}

}  // namespace

/// One SM. Only the worker whose block has its turn looks at more than `ended`.
struct alignas(64) CacheObserver::Sm {
  std::atomic<std::uint64_t> ended{0};  ///< blocks
  std::optional<L1Directory> lines;
  std::vector<Clock> free_at;  ///< when the last block of each slot ended
};

/// What a worker's blocks used.
struct CacheObserver::Tally {
  explicit Tally(Worker& of) : worker(of), uses(of.stats.size()), samples(of.stats.size()) {}

  Worker& worker;
  ReuseDistances lines;
  std::vector<std::unique_ptr<ReuseDistances>> uses;  ///< of sectors, by StepStats
  SectorUses::Samples samples;                        ///< likewise
  LoadRows::Counts rows;
};

CacheObserver::CacheObserver(Launch& launch)
    : launch_(launch),
      slots_(std::max(1u, launch.request->caches.resident_blocks_per_sm)),
      l1_bytes_(l1_size(launch, slots_)),
      read_(launch.request->memory->shared_window(), launch.request->memory->window_bytes()),
      written_(launch.request->memory->shared_window(), launch.request->memory->window_bytes()),
      sms_(launch.cached_sms),
      byte_uses_(SampledLines(launch.request->memory->live()), launch.request->grid.count(),
                 launch.chosen.empty()),
      residencies_(launch) {
  if (launch.chosen.empty()) return;
  reads_of_.emplace(*launch.request->memory);
  writes_of_.emplace(*launch.request->memory);
}

CacheObserver::~CacheObserver() = default;

/// Of iterations that are under way together, one begins a batch. When a batch ends, the other
/// warps have made as many requests as this one: what lies batches apart, lies all of their
/// requests apart.
void CacheObserver::Clock::pass(const WarpAccess& access) {
  const program::Instruction& in = *access.step->extra->in;
  bool waits = access.kind != AccessKind::kLoad;
  if (in.has(program::kStartsGlobalBatch))
    waits = in.iterations_together == 1 || loads++ % in.iterations_together == 0;
  if (waits)
    time = requests * kWholeStep;
  else
    time += kStepInBatch;
}

void CacheObserver::Clock::catch_up(const Clock& other) {
  requests = std::max(requests, other.requests);
  time = std::max(time, other.time);
}

CacheObserver::Clock CacheObserver::Residency::last() const {
  Clock last;
  for (const Clock& clock : clocks) last.catch_up(clock);
  return last;
}

void CacheObserver::access(const WarpAccess& access) {
  if (access.space != ptx::StateSpace::kGlobal) return;
  access_memory(access, launch_.request->caches.plain_loads_pass_l1 &&
                            !access.step->extra->in->has(program::kNonCoherent));
}

void CacheObserver::access_memory(const WarpAccess& access, bool passes_l1) {
  auto& residency = residencies_.of(*access.warp->block);
  Clock& clock = residency.clocks[access.warp->index];
  clock.pass(access);
  LineSet lines;
  if (access.shape == LanePattern::kRow) {
    lines.add_range(access.addresses[0], access.addresses[0] + std::uint64_t{32} * access.bytes);
  } else {
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
      lines.add_address(access.addresses[std::countr_zero(rest)]);
  }
  std::uint32_t sampled = 0;
  if (access.kind != AccessKind::kAtomic) {
    std::uint32_t sectors = 0;
    for (std::uint32_t i = 0; i < lines.size(); ++i)
      sectors += memory::sectors_in(lines.sectors(i));
    residency.tally->worker.stats[access.step->stats].run_sectors += run_sectors(access, sectors);
    sampled = byte_uses_.sampled_of(lines);
    if (sampled != 0)
      byte_uses_.see(access, clock.requests, residency.stores, residency.tally->samples);
  }
  if (access.kind != AccessKind::kLoad) {
    std::uint32_t writes = 0;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      const std::uint32_t fresh = written_.touch(lines.line(i), lines.sectors(i));
      if (fresh != 0 && writes_of_) writes_of_->add(lines.line(i), fresh);
      writes += fresh;
    }
    if (writes != 0) distinct_writes_.fetch_add(writes, std::memory_order_relaxed);
  } else if (residency.sm != nullptr) {
    auto& uses = residency.tally->uses[access.step->stats];
    if (uses == nullptr) uses = std::make_unique<ReuseDistances>();
    residency.rows.add(clock.requests - residency.began.requests, lines, residency.tally->rows);
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      residency.sm->lines->expect(lines.line(i));
      residency.wanted.push_back({lines.line(i), static_cast<std::uint16_t>(lines.sectors(i)),
                                  (sampled >> i & 1) != 0, passes_l1, clock.requests, clock.time,
                                  uses.get()});
    }
    if (residency.wanted.size() >= kMostWanted) show(residency);
  }
  ++clock.requests;
}

void CacheObserver::show(Residency& residency) {
  std::uint32_t reads = 0, of_sm = 0;
  for (const Wanted& each : residency.wanted) {
    if (each.passes_l1) each.uses->add_first(memory::sectors_in(each.sectors));
    const LoadedSectors loaded =
        each.passes_l1 ? LoadedSectors::all_first(each.sectors)
                       : residency.sm->lines->load(each.line, each.sectors, each.time,
                                                   residency.tally->lines, *each.uses);
    if (each.sampled) byte_uses_.loads(each.line, each.clock, loaded);
    if (reads_of_) reads_of_->ask(each.line, memory::sectors_in(each.sectors));
    const std::uint32_t first = loaded.first;
    if (first == 0) continue;
    of_sm += memory::sectors_in(first);
    const std::uint32_t pairs = (first | first >> 1) & 5u;  // 64 bytes at a time
    const std::uint32_t fresh = read_.touch(each.line, pairs * 3);
    if (fresh != 0 && reads_of_) reads_of_->add(each.line, fresh);
    reads += fresh;
  }
  residency.wanted.clear();
  if (reads != 0) distinct_reads_.fetch_add(reads, std::memory_order_relaxed);
  if (of_sm != 0 && reads_of_) first_reads_.fetch_add(of_sm, std::memory_order_relaxed);
}

CacheObserver::Residency& CacheObserver::make_residency(Block& block) {
  const std::lock_guard lock(mutex_);
  Residency& residency = residencies_.add(block);
  auto tally = std::find_if(tallies_.begin(), tallies_.end(),
                            [&](const auto& each) { return &each->worker == block.worker; });
  if (tally == tallies_.end())
    tally = tallies_.insert(tally, std::make_unique<Tally>(*block.worker));
  residency.tally = tally->get();
  return residency;
}

/// False: the launch ends before. Turns are taken in order, so whoever has the SM's turn before is
/// at work or waits for a still earlier one.
bool CacheObserver::wait_for_turn(const Sm& sm, std::uint64_t turn) {
  if (!launch_.parallel || sm.ended.load() == turn) return true;
  std::unique_lock lock(mutex_);
  ++waiting_;
  while (sm.ended.load() != turn && !launch_.halt.load(std::memory_order_relaxed))
    ended_.wait_for(lock, std::chrono::milliseconds(5));  // a halt wakes nobody
  --waiting_;
  return sm.ended.load() == turn;
}

void CacheObserver::block_begins(Block& block) {
  Residency& residency = residencies_.has(block) ? residencies_.of(block) : make_residency(block);
  Sm& sm = sms_[block.turn % sms_.size()];
  const std::uint64_t turn = block.turn / sms_.size();
  residency.sm = wait_for_turn(sm, turn) ? &sm : nullptr;
  residency.clocks.assign(block.warps.size(), {});
  residency.began = {};
  residency.rows.clear();
  if (residency.sm != nullptr) {
    if (!sm.lines) {
      sm.lines.emplace(l1_bytes_);
      sm.free_at.assign(slots_, {});
    }
    residency.slot = static_cast<std::uint32_t>(turn % slots_);
    residency.began = sm.free_at[residency.slot];
    std::fill(residency.clocks.begin(), residency.clocks.end(), residency.began);
  }
}

void CacheObserver::block_ends(Block& block) {
  Residency& residency = residencies_.of(block);
  byte_uses_.block_ends(residency.stores);
  if (residency.sm == nullptr) return;
  show(residency);
  residency.sm->free_at[residency.slot] = residency.last();
  ++std::exchange(residency.sm, nullptr)->ended;
  if (waiting_.load() == 0) return;
  { const std::lock_guard lock(mutex_); }  // whoever waits waits by now
  ended_.notify_all();
}

void CacheObserver::opens(Block& block, std::uint32_t id) {
  if (block.barriers[id].expected != 0) return;  // not all of the block's warps
  Residency& residency = residencies_.of(block);
  const Clock last = residency.last();
  for (Clock& clock : residency.clocks) clock.catch_up(last);
}

void CacheObserver::settle() {
  for (const auto& residency : residencies_.all()) {
    if (residency->sm == nullptr) continue;
    show(*residency);  // the launch ended in its block
    residency->sm->free_at[residency->slot] = residency->last();
  }
  ReuseDistances lines;
  for (const auto& tally : tallies_) lines.add(tally->lines);
  std::uint64_t duration = 0;
  for (const Sm& sm : sms_) {
    std::uint32_t last = 0;
    for (const Clock& clock : sm.free_at) last = std::max(last, clock.requests);
    duration += std::uint64_t{last} * kWholeStep;  // all warps make a request in each step
  }
  const std::uint64_t room = l1_bytes_ / memory::kLineBytes;
  const auto& sample = launch_.request->sample;
  kept_ = sample && sample->l1_kept ? *sample->l1_kept : lines.served_by(room, duration);
  // A block that runs alone here shares L1 with others there.
  const std::uint64_t blocks_of_sm = std::clamp<std::uint64_t>(
      launch_.request->grid.count() / std::max(1u, launch_.request->sm_count), 1, slots_);
  kept_there_ = launch_.chosen.size() == 1 ? lines.served_by(room / blocks_of_sm, duration) : kept_;
  for (const auto& tally : tallies_) {
    for (std::size_t i = 0; i < tally->uses.size(); ++i) {
      if (tally->uses[i] == nullptr) continue;
      const std::uint64_t hits = tally->uses[i]->within(kept_);
      tally->worker.stats[i].l1_hit_sectors += hits;
      joined_ += tally->uses[i]->within(1);
      l2_reads_ += tally->uses[i]->total() - hits;
    }
  }
  if (launch_.chosen.empty() && !tallies_.empty()) settle_uses();
  if (launch_.chosen.empty() || sms_.size() < kFewestBeside) return;
  read_runs_ = read_.short_runs(kLongRun);
  written_runs_ = written_.short_runs(kLongRun);
}

/// The share is one of all workers, so that it does not depend on their number.
void CacheObserver::settle_uses() {
  for (std::size_t i = 0; i < tallies_[0]->samples.size(); ++i) {
    SectorUses::Sample all;
    std::uint64_t sectors = 0;
    for (const auto& tally : tallies_) {
      sectors += tally->worker.stats[i].sectors;
      if (tally->samples[i] == nullptr) continue;
      all.stores = tally->samples[i]->stores;
      all.sectors.add(tally->samples[i]->sectors);
    }
    tallies_[0]->worker.stats[i].used_bytes += static_cast<std::uint64_t>(std::llround(
        static_cast<double>(sectors * memory::kSectorBytes) * byte_uses_.used_share(all)));
  }
}

void CacheObserver::add_to(counters::Counters& totals) {
  const Traffic traffic{l2_reads_, 0, distinct_reads_, distinct_writes_};
  totals.l1_load_joined_sectors = joined_;
  for (const auto& tally : tallies_) {
    totals.block_load_turns += tally->rows.turns;
    totals.block_load_rows += tally->rows.rows;
  }
  totals.l2_read_sectors = traffic.l2_read_sectors;
  const CacheModel& caches = launch_.request->caches;
  byte_uses_.add_to(
      totals,
      kept_in_l2(caches.l2_bytes, caches.stored_l2_bytes, caches.dirty_l2_bytes, launch_.l2_part),
      kept_, launch_.chosen.empty() ? launch_.request->grid.count() : launch_.chosen.size());
  if (!launch_.chosen.empty())  // were nothing in L2 before; see scaled()
    totals.l2_waiting_sectors = std::min(first_reads_.load(), l2_reads_);
  // Everything is written through; nothing of it needs a model.
  totals.l2_write_sectors = totals.global_store_sectors + totals.local_store_sectors +
                            totals.atomic_sectors + totals.reduction_sectors;
  totals.dram_read_bytes = dram_read_bytes(traffic, caches.l2_bytes);
  totals.dram_write_bytes = dram_write_bytes(traffic);
  totals.dram_read_runs = read_runs_;
  totals.dram_written_runs = written_runs_;
}

}  // namespace membound::vgpu::exec
