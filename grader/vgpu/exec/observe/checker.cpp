// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/checker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/observe/race_messages.hpp"

namespace membound::vgpu::exec {
namespace {

using ptx::StateSpace;

std::string number_of_lanes(std::uint32_t mask) { return std::to_string(std::popcount(mask)); }

std::string describe_arrival(std::uint32_t lanes, std::uint32_t live, const char* others) {
  return number_of_lanes(lanes) + " of " + number_of_lanes(live) +
         " lanes of the warp come to this barrier, the others " + others;
}

/// Has every byte been written? The sizes of ordinary accesses without a call.
bool all_written(const std::uint8_t* written, std::uint32_t bytes) {
  std::uint64_t flags = 0x0101010101010101u;
  switch (bytes) {
    case 4: {
      std::uint32_t word;
      std::memcpy(&word, written, 4);
      return word == 0x01010101u;
    }
    case 8:
      std::memcpy(&flags, written, 8);
      return flags == 0x0101010101010101u;
    default:
      return std::memchr(written, 0, bytes) == nullptr;
  }
}

void set_written(std::uint8_t* written, std::uint32_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  switch (bytes) {
    case 4:
      std::memcpy(written, &kOnes, 4);
      break;
    case 8:
      std::memcpy(written, &kOnes, 8);
      break;
    default:
      std::memset(written, 1, bytes);
      break;
  }
}

bool reads_one_place(const WarpAccess& access, Shape shape) {
  if (access.mask == 0xFFFFFFFFu) return shape == Shape::kSame;
  const int first = std::countr_zero(access.mask);
  for (std::uint32_t rest = access.mask & (access.mask - 1); rest != 0; rest &= rest - 1)
    if (access.addresses[std::countr_zero(rest)] != access.addresses[first]) return false;
  return true;
}

bool between_blocks(const WarpAccess& access, const Race& race) {
  return access.space == StateSpace::kGlobal &&
         memory::Stamp::block(race.before) !=
             (access.warp->block->linear & memory::Stamp::kBlockMask);
}

/// Waiting at a barrier: warps, and how many threads.
struct Waiting {
  std::uint32_t warps = 0;
  std::uint32_t threads = 0;
};

Waiting waiting_at(const Block& block, std::uint32_t id) {
  Waiting waiting;
  for (const Warp& w : block.warps) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      const Group& group = w.groups[g];
      if (group.state != GroupState::kBarrier || group.barrier != id) continue;
      waiting.warps |= 1u << w.index;
      waiting.threads += static_cast<std::uint32_t>(std::popcount(group.mask));
    }
  }
  return waiting;
}

}  // namespace

Checker::Checker(Launch& launch)
    : launch_(launch), checks_(launch.request->checks), rows_(row_loops()), states_(launch) {}

Checker::BlockState& Checker::new_state(Block& block) {
  const std::lock_guard lock(mutex_);
  BlockState& state = states_.add(block);
  if (!checks_.races) return state;
  if (launch_.parallel && undo_ == nullptr)
    undo_ = std::make_unique<memory::UndoLog>(*launch_.request->memory);
  const std::size_t number = races_.size();
  auto& races = races_[block.worker];
  if (races == nullptr) {
    races = std::make_unique<RaceChecker>(
        launch_, number,
        [this](const WarpAccess& access, const Race& race) { report_race(access, race); });
  }
  state.race_checker = races.get();
  return state;
}

bool Checker::must_repeat() const {
  if (undo_ == nullptr) return false;
  if (launch_.fault && launch_.fault->kind == FaultKind::kStopped) return false;
  if (blocks_race_ || launch_.fault) return true;
  for (auto one = races_.begin(); one != races_.end(); ++one)
    for (auto other = std::next(one); other != races_.end(); ++other)
      if (one->second->conflicts_with(*other->second)) return true;
  return false;
}

void Checker::take_back() { undo_->roll_back(); }

void Checker::before_write(const WarpAccess& access, bool row) {
  if (row) return undo_->before_write(access.addresses[0], std::uint64_t{32} * access.bytes);
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
    undo_->before_write(access.addresses[std::countr_zero(rest)], access.bytes);
}

void Checker::block_begins(Block& block) {
  BlockState& state = states_.has(block) ? states_.of(block) : new_state(block);
  state.settled.begin_period();
  for (Warp& w : block.warps)
    w.settled = launch_.observer->wants_settled_reads() ? nullptr : &state.settled;
  state.arrivals.clear();
  if (checks_.initialised) state.written.assign(launch_.shared_bytes, 0);
  if (state.race_checker != nullptr) state.race_checker->start_block(block, state.races);
}

void Checker::arrives(Warp& w, std::uint32_t id) {
  if (checks_.races) state_of(*w.block).races.clock.arrive(w.index, id);
}

void Checker::opens(Block& block, std::uint32_t id) {
  const bool of_all = block.barriers[id].expected == 0;
  if (!state_of(block).arrivals.empty()) report_incomplete_arrivals(block, id);
  if (of_all && checks_.synchronisation && block.live_threads < launch_.request->block.count())
      [[unlikely]]
    report_exits(block, id);
  state_of(block).settled.begin_period();
  if (!checks_.races) return;
  BlockClock& clock = state_of(block).races.clock;
  if (of_all) return clock.meet(id);
  const Waiting waiting = waiting_at(block, id);
  if (waiting.threads == block.live_threads) return clock.meet(id);
  clock.open(id, waiting.warps);
}

void Checker::report_exits(const Block& block, std::uint32_t id) {
  const std::uint64_t threads = launch_.request->block.count();
  for (const Warp& w : block.warps) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      const Group& group = w.groups[g];
      if (group.state != GroupState::kBarrier || group.barrier != id) continue;
      return report_sync(w, group.pc - 1, static_cast<std::uint32_t>(std::countr_zero(group.mask)),
                         "barrier after exit",
                         std::to_string(threads - block.live_threads) + " of " +
                             std::to_string(threads) +
                             " threads of the block have ended without reaching this barrier");
    }
  }
}

void Checker::lanes_meet(Warp& w, std::uint32_t lanes) {
  if (checks_.races) state_of(*w.block).races.clock.meet_lanes(w.index, lanes);
}

void Checker::fence(Warp& w, const Step* step) {
  BlockState& state = state_of(*w.block);
  if (checks_.races) state.race_checker->fence(w, step, state.races);
}

void Checker::mbarrier(Warp& w, std::uint32_t mask, const std::uint64_t* offsets, bool arrives) {
  BlockState& state = state_of(*w.block);
  if (checks_.races) state.race_checker->mbarrier(w, mask, offsets, arrives, state.races);
}

void Checker::allocated(std::uint64_t address, std::uint64_t bytes) {
  // Kernels that allocate run on one worker.
  for (const auto& [worker, races] : races_) races->allocated(address, bytes);
}

template <typename Make>
void Checker::report(const Warp& w, const Key& key, Make make) {
  const std::lock_guard lock(mutex_);
  const auto found = reports_.find(key);
  if (found != reports_.end()) {
    Entry& entry = found->second;
    ++entry.report.count;
    if (w.block->linear >= entry.block) return;
    const std::uint64_t count = entry.report.count;
    entry = {make(), w.block->linear};
    entry.report.count = count;
    return;
  }
  reports_[key] = {make(), w.block->linear};
}

void Checker::access(const WarpAccess& access) {
  if (access.space == StateSpace::kLocal || (!checks_.initialised && !checks_.races)) return;
  BlockState& state = state_of(*access.warp->block);
  const Shape shape = access.shape != Shape::kUnknown ? access.shape
                      : access.mask == 0xFFFFFFFFu    ? rows_.shape(access.addresses, access.bytes)
                                                      : Shape::kOther;
  const bool row = shape == Shape::kRow;
  const bool shared = access.space == StateSpace::kShared, load = access.kind == AccessKind::kLoad;
  if (access.shape == Shape::kUnknown && shared && load &&
      state.settled.has(access.addresses[0], access.bytes, shape))
    return;
  if (undo_ != nullptr && !shared && !load) before_write(access, row);
  if (shared && !load) state.settled.begin_period();
  // Lanes that read the same as the first lane need no look of their own.
  const std::uint32_t lanes =
      load && reads_one_place(access, shape) ? access.mask & (0u - access.mask) : access.mask;
  if (checks_.initialised) {
    const memory::AddressSpace& space = *launch_.request->memory;
    if (shared)
      check_written(access, state.written.data(), 0, row, lanes);
    else if (space.initialised_shadow() != nullptr)
      check_written(access, space.initialised_shadow(), space.shared_window(), row, lanes);
  }
  if (!checks_.races) return;
  const Noted noted = state.race_checker->access(access, state.races, shape, lanes);
  if (noted == Noted::kSettled && shared && shape != Shape::kOther)
    state.settled.add(access.addresses[0], access.bytes, shape);
}

void Checker::check_written(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base,
                            bool row, std::uint32_t lanes) {
  const memory::AddressSpace& space = *launch_.request->memory;
  const std::uint64_t window = space.window_bytes();
  if (row && (base == 0 || access.addresses[0] - base < window)) {
    std::uint8_t* bytes = shadow + (access.addresses[0] - base);
    const std::uint32_t count = 32 * access.bytes;
    if (base != 0 && space.whole_pages_written(access.addresses[0] - base, count)) return;
    if (access.kind == AccessKind::kStore) return set_written(bytes, count);
    if (access.kind == AccessKind::kLoad && rows_.all_set(bytes, count)) return;
  }
  if (access.bytes == 4 && base == 0 && access.kind == AccessKind::kLoad) {
    if (lanes == 0xFFFFFFFFu && rows_.all_set_words(shadow, access.addresses)) return;
    std::uint32_t missing = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      std::uint32_t flags;
      std::memcpy(&flags, shadow + access.addresses[std::countr_zero(rest)], 4);
      missing |= flags ^ 0x01010101u;
    }
    if (missing == 0) return;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t index = access.addresses[lane] - base;
    if (base != 0 && index >= window) continue;  // host memory
    if (base != 0 && space.whole_pages_written(index, access.bytes)) continue;
    std::uint8_t* written = shadow + index;
    if (access.kind != AccessKind::kStore && !all_written(written, access.bytes)) [[unlikely]]
      report_unwritten(access, lane, index);
    if (access.kind != AccessKind::kLoad) set_written(written, access.bytes);
  }
}

void Checker::report_unwritten(const WarpAccess& access, std::uint32_t lane, std::uint64_t offset) {
  report(*access.warp, {access.step, "uninitialised read", nullptr}, [&] {
    const bool shared = access.space == StateSpace::kShared;
    std::string text = "read of " + std::to_string(access.bytes) + " bytes ";
    if (shared) {
      text += "at " + describe_shared(*access.warp, offset);
    } else {
      text += "at " + hex(access.addresses[lane]);
      if (const auto held = launch_.request->memory->find(access.addresses[lane]))
        text += ", in " + describe(*held);
    }
    text += shared ? ", which no thread of the block has written" : ", which nobody has written";
    CheckReport found{"initcheck",
                      "uninitialised read",
                      place_of(*access.warp, access.step, lane),
                      access.addresses[lane],
                      access.bytes,
                      1,
                      std::move(text)};
    found.advice = shared
                       ? "let every element be written before a __syncthreads(), then read it"
                       : "fill the array first: cudaMemcpy data to it, or clear it with cudaMemset";
    return found;
  });
}

void Checker::report_race(const WarpAccess& access, const Race& race) {
  if (undo_ != nullptr && between_blocks(access, race)) {
    // Who is named, and which of several races, depends on who came first: once more in order.
    blocks_race_ = true;
    launch_.halt.store(true, std::memory_order_relaxed);
    return;
  }
  const Step* const other_step = launch_.origins[race.origin];
  report(*access.warp, {access.step, "data race", other_step}, [&] {
    CheckReport found{"racecheck",
                      "data race",
                      place_of(*access.warp, access.step, race.lane),
                      access.addresses[race.lane],
                      access.bytes,
                      1,
                      ""};
    found.other = other_access(*access.warp, race, other_step);
    found.text = describe_race(*access.warp, access, race, found.place, *found.other);
    found.advice = race_advice(*access.warp, access, race, found.place, *found.other);
    return found;
  });
}

void Checker::report_sync(const Warp& w, const Step* step, std::uint32_t lane, const char* kind,
                          const std::string& text) {
  report(w, {step, kind, nullptr}, [&] {
    CheckReport found{"synccheck", kind, place_of(w, step, lane), 0, 0, 1, text};
    found.advice = sync_advice(kind);
    return found;
  });
}

// Lanes may come one after the other: since Volta a barrier waits for every thread that has not
// ended, and an aligned one (__syncthreads) wants all lanes of a warp at the same instruction, not
// at the same time (PTX ISA, barrier: "wait for all non-exited threads from its warp").
void Checker::barrier(Warp& w, const Step* step, bool whole_warp) {
  if (!checks_.synchronisation) return;
  std::vector<Arrival>& arrivals = state_of(*w.block).arrivals;
  if (whole_warp && arrivals.empty()) return;
  arrivals.resize(w.block->warps.size());
  Arrival& here = arrivals[w.index];
  bool elsewhere = false;
  if (here.step != nullptr && (here.step != step || (here.lanes & w.mask) != 0)) {
    here.others = "come to another one";
    report_arrival(w, here);
    elsewhere = true;
  }
  if (here.step == nullptr) {
    if (whole_warp) return;
    here = {step, 0, w.live, elsewhere ? "come to another one" : "have ended",
            place_of(w, step, static_cast<std::uint32_t>(std::countr_zero(w.mask)))};
  }
  here.lanes |= w.mask;
  if (here.lanes == here.live)
    here = {};
  else if (whole_warp)
    report_arrival(w, here);
}

void Checker::report_arrival(const Warp& w, Arrival& arrival) {
  report_sync(w, arrival.step, static_cast<std::uint32_t>(std::countr_zero(arrival.lanes)),
              "divergent barrier", describe_arrival(arrival.lanes, arrival.live, arrival.others));
  arrival = {};
}

/// Barrier `id` opens although lanes of a warp that wait there still miss some.
void Checker::report_incomplete_arrivals(const Block& block, std::uint32_t id) {
  std::vector<Arrival>& arrivals = state_of(block).arrivals;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (arrivals[i].step == nullptr) continue;
    const Warp& w = block.warps[i];
    const auto waits = [&](const Group& group) {
      return group.state == GroupState::kBarrier && group.barrier == id &&
             group.pc == arrivals[i].step + 1;
    };
    if (std::any_of(w.groups.begin(), w.groups.begin() + w.group_count, waits))
      report_arrival(w, arrivals[i]);
  }
}

/// A launch that hangs ends in a fault; the lanes its block waited for never came.
void Checker::report_arrivals_of_the_fault() {
  if (!launch_.fault ||
      (launch_.fault->kind != FaultKind::kDeadlock && launch_.fault->kind != FaultKind::kStepLimit))
    return;
  for (const auto& state : states_.all()) {
    for (const Arrival& arrival : state->arrivals) {
      if (arrival.step == nullptr || !(arrival.place.block == launch_.fault->place.block)) continue;
      CheckReport found{"synccheck",
                        "divergent barrier",
                        arrival.place,
                        0,
                        0,
                        1,
                        describe_arrival(arrival.lanes, arrival.live, "never do")};
      found.advice = sync_advice(found.kind);
      reports_.try_emplace({arrival.step, found.kind, nullptr}, Entry{found, 0});
    }
  }
}

void Checker::collective(Warp& w, const Step* step, std::uint32_t members, std::uint32_t present) {
  if (!checks_.synchronisation) return;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(present));
  const std::uint32_t missing = members & ~present, strangers = present & ~members;
  std::string text;
  if (missing != 0)
    text = "the member mask " + hex(members) + " names " + number_of_lanes(missing) +
           " lanes that do not take part (" + hex(missing) + ")";
  else
    text = number_of_lanes(strangers) + " lanes take part that the member mask " + hex(members) +
           " does not name (" + hex(strangers) + ")";
  report_sync(w, step, lane, "invalid member mask", text);
}

bool Checker::bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) {
  if (!checks_.memory) return false;
  const memory::AddressSpace& space = *launch_.request->memory;
  const bool freed =
      access.space == StateSpace::kGlobal && space.find_freed(access.addresses[lane]).has_value();
  const char* name = kind == FaultKind::kMisalignedAddress ? "misaligned access"
                     : freed                               ? "use after free"
                     : access.kind == AccessKind::kLoad    ? "out of bounds read"
                     : access.kind == AccessKind::kStore   ? "out of bounds write"
                                                           : "out of bounds atomic";
  report(*access.warp, {access.step, name, nullptr}, [&] {
    CheckReport found{"memcheck",
                      name,
                      place_of(*access.warp, access.step, lane),
                      access.addresses[lane],
                      access.bytes,
                      1,
                      describe_bad_access(*access.warp, access, kind, lane)};
    found.advice = access_advice(access, kind, freed);
    return found;
  });
  // What a GPU would not notice does not end the launch.
  return kind == FaultKind::kIllegalAddress && access.space == StateSpace::kGlobal &&
         space.span_of(access.addresses[lane], false).has_value();
}

std::vector<CheckReport> Checker::take_reports() {
  report_arrivals_of_the_fault();
  // In the order of the program; of a place's kinds, the alphabet's.
  std::vector<CheckReport> all;
  for (auto& [key, entry] : reports_) all.push_back(std::move(entry.report));
  if (all.size() > checks_.max_reports) all.resize(checks_.max_reports);
  return all;
}

}  // namespace membound::vgpu::exec
