// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/state/last_block_pattern.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace membound::vgpu::exec {
namespace {

using program::Atomic;

constexpr const char* kLearn = "its blocks may learn from each other";
/// Ranges of what blocks leave: more would take too much of the host's memory.
constexpr std::size_t kMostPieces = std::size_t{1} << 18;
/// Of an array that is cleared: partial results of a million blocks, or a few thousand histograms.
constexpr std::uint64_t kMostCleared = std::uint64_t{64} << 20;

}  // namespace

std::uint64_t LastBlockPattern::arrive(const Block& block, const program::Instruction& in,
                                       std::byte* place, std::uint64_t operand) {
  const Counter counter{place, in.as<program::AtomicAccess>().operation,
                        static_cast<std::uint32_t>(ptx::size_bytes(in.type)), operand};
  if (!counter_) {
    counter_ = counter;
    before_ = word();
  }
  if (++of_block_ > 1 || !(*counter_ == counter) || word() != before_) {
    give_up(kLearn);
    return before_;
  }
  if (is_last(block)) {
    const std::uint64_t all = after(block.linear + 1);
    std::memcpy(place, &all, counter.bytes);
    last_arrived_ = true;
    if (ran_ < block.linear) clear_what_others_leave();
  }
  return after(block.linear);
}

void LastBlockPattern::access(const WarpAccess& access) {
  if (access.space != ptx::StateSpace::kGlobal) return;
  const program::Instruction& in = *access.step->extra->in;
  if (!last_arrived_ && program::talks(in) && !program::counts_arrivals(in)) give_up(kLearn);
  if (access.kind != AccessKind::kLoad) return keep_stored(access);
  if (left_ && !last_arrived_ && reads_what_others_left(access)) give_up(kLearn);
  if (!last_arrived_) return;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
    if (is_lazy(access.addresses[std::countr_zero(rest)]))
      return give_up("its last block reads more than what the others leave it");
}

void LastBlockPattern::block_begins(Block& block) {
  of_block_ = 0;
  if (is_last(block)) left_ = stored_;
}

void LastBlockPattern::block_ends(Block&) {
  if (!of_each_) of_each_ = of_block_;
  if (of_block_ != *of_each_) give_up(kLearn);
  ++ran_;
}

void LastBlockPattern::keep_stored(const WarpAccess& access) {
  std::uint64_t begin = 0, end = 0;  // of lanes that are neighbours
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(rest)];
    if (is_lazy(address)) continue;
    undo_.before_write(address, access.bytes);
    if (address != end) {
      stored_.add(begin, end);
      begin = address;
    }
    end = address + access.bytes;
  }
  stored_.add(begin, end);
  if (stored_.count() > kMostPieces) give_up("its blocks leave too much");
}

void LastBlockPattern::clear_what_others_leave() {
  memory::AddressSpace& space = *launch_.request->memory;
  for (const memory::Allocation& array : space.live()) {
    std::uint64_t missing = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    stored_.each_gap(array.address, array.address + array.size_bytes,
                     [&](std::uint64_t begin, std::uint64_t end) {
                       gaps.emplace_back(begin, end);
                       missing += end - begin;
                     });
    if (missing == array.size_bytes) continue;  // no block wrote there
    if (missing > kMostCleared) return give_up("its blocks leave too much");
    for (const auto& [begin, end] : gaps) {
      for (std::uint64_t page = begin; page < end; page += memory::AddressSpace::kPageBytes)
        undo_.before_write(page, std::min(memory::AddressSpace::kPageBytes, end - page));
      space.fill(begin, std::byte{}, end - begin);
    }
  }
}

std::uint64_t LastBlockPattern::word() const {
  std::uint64_t value = 0;
  std::memcpy(&value, counter_->place, counter_->bytes);
  return value;
}

/// What the counter holds when so many have arrived.
std::uint64_t LastBlockPattern::after(std::uint64_t arrivals) const {
  const std::uint64_t most = counter_->operand;  // of kInc and kDec, on 32 bits
  const std::uint64_t turn = most + 1;
  if (arrivals == 0) return before_;
  switch (counter_->operation) {
    case Atomic::kInc:
      return before_ > most ? (arrivals - 1) % turn : (before_ + arrivals) % turn;
    case Atomic::kDec:
      return before_ > most ? most - (arrivals - 1) % turn
                            : (before_ + turn - arrivals % turn) % turn;
    default: {
      const std::uint64_t sum = before_ + arrivals * counter_->operand;
      return counter_->bytes == 8 ? sum : sum & 0xFFFFFFFFu;
    }
  }
}

/// Inputs and outputs of a sampled launch are.
bool LastBlockPattern::is_lazy(std::uint64_t address) const {
  return launch_.request->memory->lazy_about(address).array != nullptr;
}

bool LastBlockPattern::reads_what_others_left(const WarpAccess& access) const {
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(rest)];
    std::uint64_t left = access.bytes;
    left_->each_gap(address, address + access.bytes,
                    [&](std::uint64_t begin, std::uint64_t end) { left -= end - begin; });
    if (left != 0) return true;
  }
  return false;
}

bool LastBlockPattern::is_last(const Block& block) const {
  return block.linear + 1 == launch_.request->grid.count();
}

void LastBlockPattern::give_up(std::string why) {
  if (why_not_.empty()) why_not_ = std::move(why);
  launch_.halt = true;
}

}  // namespace membound::vgpu::exec
