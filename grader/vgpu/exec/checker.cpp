// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/checker.hpp"

#include <bit>
#include <cstring>

#include "grader/vgpu/exec/messages.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::RaceKind;
using memory::ShadowStamp;
using memory::ShadowWord;
using ptx::StateSpace;

const char* describe_race(RaceKind kind) {
  switch (kind) {
    case RaceKind::kReadAfterWrite:
      return "reads what another thread wrote";
    case RaceKind::kWriteAfterWrite:
      return "writes where another thread wrote";
    default:
      return "writes where another thread read";
  }
}

std::string number_of_lanes(std::uint32_t mask) { return std::to_string(std::popcount(mask)); }

/// Volatile and ordered accesses are how threads talk on purpose.
bool synchronises(const WarpAccess& access) {
  return access.kind == AccessKind::kAtomic ||
         access.step->extra->in->order != program::Order::kWeak;
}

}  // namespace

Checker::Checker(Launch& launch) : launch_(launch), checks_(launch.request->checks) {
  const memory::AddressSpace& space = *launch.request->memory;
  if (checks_.races)
    global_ = std::make_unique<memory::AccessShadow>(space.shared_window(), space.window_bytes());
}

void Checker::epoch(Block& block) {
  if (block.epoch != 0) return;
  if (block.checker_state == nullptr) {
    const std::lock_guard lock(mutex_);
    shared_.push_back(std::make_unique<SharedShadow>());
    block.checker_state = shared_.back().get();
  }
  SharedShadow& shadow = shadow_of(block);  // a new block
  shadow.written.assign(launch_.shared_bytes, 0);
  shadow.words.assign(launch_.shared_bytes / 4 + 1, ShadowWord{});
}

void Checker::fence(Warp&, const Step*) { ++era_; }

void Checker::report(Warp& w, const Step* step, std::uint32_t lane, const char* checker,
                     std::string kind, std::string text, std::uint64_t address,
                     std::uint32_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(step, kind);
  const auto found = reports_.find(key);
  if (found != reports_.end()) {
    ++found->second.count;
    return;
  }
  if (reports_.size() >= checks_.max_reports) return;
  reports_[key] = CheckReport{checker, std::move(kind), place_of(w, step, lane), address, bytes,
                              1,       std::move(text)};
}

void Checker::report(const WarpAccess& access, std::uint32_t lane, const char* checker,
                     std::string kind, std::string text) {
  report(*access.warp, access.step, lane, checker, std::move(kind), std::move(text),
         access.addresses[lane], access.bytes);
}

void Checker::access(const WarpAccess& access) {
  if (access.space == StateSpace::kLocal || (!checks_.initialised && !checks_.races)) return;
  Block& block = *access.warp->block;
  if (checks_.initialised) {
    const memory::AddressSpace& space = *launch_.request->memory;
    if (access.space == StateSpace::kShared)
      check_written(access, shadow_of(block).written.data(), 0);
    else if (space.initialised_shadow() != nullptr)
      check_written(access, space.initialised_shadow(), space.shared_window());
  }
  if (checks_.races) check_races(access);
}

namespace {

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

/// Lanes that read the same as the first lane need no look of their own.
std::uint32_t lanes_to_check(const WarpAccess& access) {
  const int first = std::countr_zero(access.mask);
  const int last = 31 - std::countl_zero(access.mask);
  if (access.kind != AccessKind::kLoad || access.addresses[first] != access.addresses[last])
    return access.mask;
  std::uint64_t difference = 0;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
    difference |= access.addresses[std::countr_zero(rest)] ^ access.addresses[first];
  return difference == 0 ? 1u << first : access.mask;
}

/// One piece of memory for a whole warp?
bool is_row(const WarpAccess& access) {
  if (access.mask != 0xFFFFFFFFu) return false;
  std::uint64_t difference = 0;
  for (std::uint32_t i = 0; i < 32; ++i)
    difference |= (access.addresses[i] - access.addresses[0]) ^ (std::uint64_t{i} * access.bytes);
  return difference == 0;
}

}  // namespace

void Checker::check_written(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base) {
  const std::uint64_t window = launch_.request->memory->window_bytes();
  if (is_row(access) && (base == 0 || access.addresses[0] - base < window)) {
    std::uint8_t* row = shadow + (access.addresses[0] - base);
    const std::size_t bytes = std::size_t{32} * access.bytes;
    if (access.kind == AccessKind::kStore) {
      std::memset(row, 1, bytes);
      return;
    }
    if (access.kind == AccessKind::kLoad && std::memchr(row, 0, bytes) == nullptr) return;
  }
  for (std::uint32_t rest = lanes_to_check(access); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t index = access.addresses[lane] - base;
    if (base != 0 && index >= window) continue;  // host memory
    std::uint8_t* written = shadow + index;
    if (access.kind != AccessKind::kStore && !all_written(written, access.bytes)) [[unlikely]]
      report_unwritten(access, lane, index);
    if (access.kind != AccessKind::kLoad) set_written(written, access.bytes);
  }
}

void Checker::report_unwritten(const WarpAccess& access, std::uint32_t lane, std::uint64_t offset) {
  const bool shared = access.space == StateSpace::kShared;
  std::string text = "read of " + std::to_string(access.bytes) + " bytes at ";
  text += shared ? "shared-memory offset " + std::to_string(offset) : hex(access.addresses[lane]);
  text += " that nobody has written";
  if (!shared) {
    if (const auto held = launch_.request->memory->find(access.addresses[lane]))
      text += ", in " + describe(*held);
  }
  report(access, lane, "initcheck", "uninitialised read", std::move(text));
}

void Checker::check_races(const WarpAccess& access) {
  if (access.bytes < 4) return;
  Warp& w = *access.warp;
  Block& block = *w.block;
  const bool shared = access.space == StateSpace::kShared;
  const bool writes = access.kind != AccessKind::kLoad;
  ShadowWord* words = shared ? shadow_of(block).words.data() : nullptr;
  // Lanes of one warp order each other by collectives and warp barriers, which are not followed
  // here: a warp counts as one thread.
  const ShadowStamp now(block.linear, era_, block.epoch, w.index, synchronises(access));
  for (std::uint32_t rest = lanes_to_check(access); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    for (std::uint32_t part = 0; part < access.bytes; part += 4) {
      const std::uint64_t address = access.addresses[lane] + part;
      ShadowWord* word = shared ? words + address / 4 : global_->word(address);
      if (word == nullptr) break;
      const ShadowWord before = *word;
      const RaceKind race = memory::note_access(*word, now, writes);
      if (race == RaceKind::kNone) [[likely]]
        continue;
      report_race(access, lane, race, before);
      break;
    }
  }
}

void Checker::report_race(const WarpAccess& access, std::uint32_t lane, RaceKind race,
                          const ShadowWord& before) {
  const ShadowStamp other = race == RaceKind::kWriteAfterRead ? before.read : before.write;
  const bool shared = access.space == StateSpace::kShared;
  std::string text = shared ? "shared memory: this thread " : "global memory: this thread ";
  text += describe_race(race);
  text += ", and no barrier or fence lies between; the other is in warp " +
          std::to_string(other.warp()) + " of ";
  const bool same = other.block() == (access.warp->block->linear & 0x3FFFFF);
  text += same ? "the same block" : "block " + std::to_string(other.block());
  report(access, lane, "racecheck", "data race", std::move(text));
}

void Checker::barrier(Warp& w, const Step* step, bool whole_warp) {
  if (!checks_.synchronisation) return;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(w.mask));
  if (!whole_warp) {
    report(w, step, lane, "synccheck", "divergent barrier",
           number_of_lanes(w.mask) + " of " + number_of_lanes(w.live) +
               " lanes of the warp reach this barrier together; all must take the same way to it",
           0, 0);
  } else if (w.block->live_threads < launch_.request->block.count()) {
    report(w, step, lane, "synccheck", "barrier after exit",
           std::to_string(launch_.request->block.count() - w.block->live_threads) +
               " threads of the block have ended and will never reach this barrier",
           0, 0);
  }
}

void Checker::collective(Warp& w, const Step* step, std::uint32_t members, std::uint32_t present) {
  if (!checks_.synchronisation) return;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(present));
  const std::uint32_t missing = members & ~present, strangers = present & ~members;
  std::string text;
  if (missing != 0)
    text = "the member mask " + hex(members) + " names " + number_of_lanes(missing) +
           " lanes that do not take part";
  else
    text = number_of_lanes(strangers) + " lanes take part that the member mask " + hex(members) +
           " does not name";
  report(w, step, lane, "synccheck", "invalid member mask", std::move(text), 0, 0);
}

bool Checker::bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) {
  if (!checks_.memory) return false;
  const std::string text = describe_bad_access(*access.warp, access, kind, lane);
  const memory::AddressSpace& space = *launch_.request->memory;
  const bool freed =
      access.space == StateSpace::kGlobal && space.find_freed(access.addresses[lane]).has_value();
  const char* name = kind == FaultKind::kMisalignedAddress ? "misaligned access"
                     : freed                               ? "use after free"
                     : access.kind == AccessKind::kLoad    ? "out of bounds read"
                     : access.kind == AccessKind::kStore   ? "out of bounds write"
                                                           : "out of bounds atomic";
  report(access, lane, "memcheck", name, text);
  // What a GPU would not notice does not end the launch.
  return kind == FaultKind::kIllegalAddress && access.space == StateSpace::kGlobal &&
         space.span_of(access.addresses[lane], false).has_value();
}

std::vector<CheckReport> Checker::take_reports() {
  std::map<const Step*, std::vector<CheckReport>> by_place;
  for (auto& [key, found] : reports_) by_place[key.first].push_back(std::move(found));
  std::vector<CheckReport> all;
  for (auto& [step, found] : by_place) {
    for (CheckReport& one : found) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace membound::vgpu::exec
