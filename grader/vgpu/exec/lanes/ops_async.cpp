// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Asynchronous copies: cp.async, a few bytes a lane from global to shared memory, and
/// cp.async.bulk, a run of bytes between the two.
///
/// A copy reads global memory when it is issued and writes shared memory as late as the program
/// allows: at the wait, or where its mbarrier is waited on. A kernel that forgets to wait sees old
/// data, as it may on a GPU. A bulk store lands at once.
#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "grader/vgpu/exec/lanes/mbarrier.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::u32;
using generic::u64;
using program::CopyMode;
using program::Instruction;
using program::MbarrierMode;
using program::Opcode;
using ptx::StateSpace;

void land(Warp& w, const PendingCopy& copy) {
  std::memcpy(shared_place(w, copy.shared_offset, copy.bytes), copy.data.data(), copy.bytes);
}

/// Lands them, and tells so: those of one instruction together.
void land_all(Warp& w, std::span<const PendingCopy> copies) {
  for (std::size_t i = 0; i < copies.size();) {
    const Step* const step = copies[i].step;
    u64 offsets[32] = {};
    u32 mask = 0;
    for (; i < copies.size() && copies[i].step == step && !((mask >> copies[i].lane) & 1); ++i) {
      land(w, copies[i]);
      mask |= 1u << copies[i].lane;
      offsets[copies[i].lane] = copies[i].shared_offset;
    }
    if (w.observer != nullptr)
      w.observer->copies_land(
          {&w, step, StateSpace::kShared, AccessKind::kStore, mask, copies[i - 1].bytes, offsets});
  }
}

/// Lands the copies of the running lanes up to (not including) the last `keep` commit groups.
void land_groups(Warp& w, u64 keep, bool uncommitted_too) {
  const auto stays = [&](const PendingCopy& copy) {
    if (!((w.mask >> copy.lane) & 1)) return true;
    const u64 committed = w.commit_groups[copy.lane];
    return !uncommitted_too && (copy.group >= committed || copy.group + keep >= committed);
  };
  // Where the whole warp waits, as it mostly does, those that are due were issued first.
  const auto first_to_stay = std::find_if(w.copies.begin(), w.copies.end(), stays);
  if (std::all_of(first_to_stay, w.copies.end(), stays)) {
    land_all(w, {w.copies.begin(), first_to_stay});
    w.copies.erase(w.copies.begin(), first_to_stay);
    return;
  }
  const auto first_due = std::stable_partition(w.copies.begin(), w.copies.end(), stays);
  land_all(w, {first_due, w.copies.end()});
  w.copies.erase(first_due, w.copies.end());
}

/// A program that never waits has its oldest copies landed: they are kept in memory of ours.
void limit_copies(Warp& w) {
  constexpr std::size_t kMostCopies = std::size_t{1} << 16;
  if (w.copies.size() < kMostCopies) return;
  const auto half = w.copies.begin() + kMostCopies / 2;
  land_all(w, {w.copies.begin(), half});
  w.copies.erase(w.copies.begin(), half);
}

const Step* copy(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const auto& shape = in.as<program::AsyncCopy>();
  const u32 bytes = shape.bytes;
  limit_copies(w);
  u64 addresses[32], offsets[32];
  std::byte* host[32];
  for (int i = 0; i < 32; ++i) {
    addresses[i] = at<const u64>(w, s->b)[i] + static_cast<u64>(shape.from_offset);
    offsets[i] = shared_offset(w, s, i);
  }
  u32 mask = w.mask;
  if (!check_offsets(w, s, offsets, mask, bytes, w.shared_bytes, StateSpace::kShared,
                     AccessKind::kStore))
    return w.stop;
  bool partly = false;
  u32 reading = mask;  // a source size of 0 reads nothing and fills with zeros
  for (u32 rest = mask; rest != 0 && in.s[2]; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    const u32 size = at<const u32>(w, s->c)[i];
    if (size == 0) reading &= ~(1u << i);
    partly = partly || size < bytes;
  }
  if (!translate_slowly(w, s, addresses, reading, bytes, AccessKind::kLoad, host)) return w.stop;
  StepStats& stats = w.stats[s->stats];
  if (reading != 0 && w.launch->counts)
    generic::count_global(stats, memory::coalesce(addresses, reading, bytes));
  if (mask != 0 && w.launch->counts) {
    u32 narrow[32];
    for (int i = 0; i < 32; ++i) narrow[i] = static_cast<u32>(offsets[i]);
    auto passes = memory::shared_wavefronts(narrow, mask, bytes, false);
    if (bytes == 16 && partly) passes.taken *= 2, passes.ideal *= 2;  // data, then zeros
    generic::count_shared(stats, passes);
  }
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    PendingCopy pending;
    pending.step = s;
    pending.lane = static_cast<u32>(i);
    pending.group = w.commit_groups[pending.lane];
    pending.shared_offset = static_cast<u32>(offsets[i]);
    pending.bytes = bytes;
    const u32 size = in.s[2] ? std::min(bytes, at<const u32>(w, s->c)[i]) : bytes;
    MEMBOUND_CHECK(size <= pending.data.size());
    if ((reading >> i) & 1) std::memcpy(pending.data.data(), host[i], size);
    w.copies.push_back(pending);
  }
  if (w.observer != nullptr && reading != 0)
    observe(w, s, StateSpace::kGlobal, AccessKind::kLoad, reading, bytes, addresses);
  if (w.observer != nullptr && mask != 0)
    observe(w, s, StateSpace::kShared, AccessKind::kStore, mask, bytes, offsets);
  return s + 1;
}

const Step* commit(Warp& w, const Step* s) {
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) ++w.commit_groups[__builtin_ctz(rest)];
  return s + 1;
}

const Step* wait_group(Warp& w, const Step* s) {
  land_groups(w, s->extra->in->as<program::AsyncCopy>().groups, false);
  return s + 1;
}

const Step* wait_all(Warp& w, const Step* s) {
  land_groups(w, 0, true);
  return s + 1;
}

/// The barrier hears of the lane's copies once they have landed; here that is at once.
const Step* arrive_with_copies(Warp& w, const Step* s) {
  land_groups(w, 0, true);
  u64 offsets[32] = {};
  for (int i = 0; i < 32; ++i) offsets[i] = shared_offset(w, s, i);
  u32 mask = w.mask;
  if (!check_offsets(w, s, offsets, mask, 8, w.shared_bytes, StateSpace::kShared,
                     AccessKind::kAtomic))
    return w.stop;
  if (!s->extra->in->has(program::kNoComplete)) return s + 1;  // counted up and down again
  if (w.observer != nullptr) w.observer->mbarrier(w, mask, offsets, true);
  for (u32 rest = mask; rest != 0; rest &= rest - 1)
    operate_on_mbarrier(MbarrierMode::kArrive, shared_place(w, offsets[__builtin_ctz(rest)], 8), 0,
                        false);
  return s + 1;
}

}  // namespace

Handler select_async(const Instruction& in) {
  if (in.opcode == Opcode::kMbarrier) return select_mbarrier(in);
  switch (in.as<program::AsyncCopy>().mode) {
    case CopyMode::kCopy:
      return &copy;
    case CopyMode::kCommit:
      return &commit;
    case CopyMode::kWaitGroup:
      return &wait_group;
    case CopyMode::kWaitAll:
      return &wait_all;
    case CopyMode::kArrive:
      return &arrive_with_copies;
    case CopyMode::kBulkLoad:
    case CopyMode::kBulkStore:
    case CopyMode::kBulkNothing:
      return select_bulk(in);
  }
  return nullptr;
}

namespace {

/// Bytes of one lane's bulk copy, and where they are. A bulk copy goes as if the lane's own warp
/// moved it, 16 bytes a lane: so it is counted, and so the checkers see it.
class BulkAccess {
 public:
  BulkAccess(Warp& w, const Step* s, int lane, u64 global, u64 shared, u32 bytes,
             AccessKind of_global)
      : w_(w),
        s_(s),
        lane_(lane),
        global_(global),
        shared_(shared),
        bytes_(bytes),
        kind_(of_global) {}

  /// False when the launch faulted. `moves` is false where a checker took a report instead.
  [[nodiscard]] bool check(bool& moves) const {
    u64 places[32] = {};
    std::byte* host[32];
    u32 mask = 1u << lane_;
    places[lane_] = shared_;
    if (!check_offsets(w_, s_, places, mask, bytes_, w_.shared_bytes, StateSpace::kShared,
                       kind_ == AccessKind::kLoad ? AccessKind::kStore : AccessKind::kLoad))
      return false;
    // Both ends, to blame the lane that asked; what lies between is looked at step by step.
    for (const u64 end : {global_, global_ + bytes_ - kStep}) {
      places[lane_] = end;
      if (mask != 0 && !translate_slowly(w_, s_, places, mask, kStep, kind_, host)) return false;
    }
    moves = mask != 0;
    return true;
  }

  /// `move(host, offset from the start, bytes)` for each run of bytes; false when it faulted.
  template <typename Move>
  [[nodiscard]] bool for_each(Move move) const {
    StepStats& stats = w_.stats[s_->stats];
    for (u32 done = 0; done < bytes_; done += 32 * kStep) {
      const u32 lanes = std::min<u32>(32, (bytes_ - done) / kStep);
      const u32 all = lanes == 32 ? ~0u : (1u << lanes) - 1;
      u32 mask = all;
      u64 addresses[32] = {};
      std::byte* host[32];
      for (u32 i = 0; i < lanes; ++i) addresses[i] = global_ + done + u64{i} * kStep;
      if (!translate_slowly(w_, s_, addresses, mask, kStep, kind_, host)) return false;
      for (u32 rest = mask; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<u32>(__builtin_ctz(rest));
        move(host[i], done + i * kStep, kStep);
      }
      generic::count_global(stats, memory::coalesce(addresses, all, kStep));
      if (w_.observer == nullptr) continue;
      observe(w_, s_, StateSpace::kGlobal, kind_, mask, kStep, addresses);
    }
    return true;
  }

 private:
  static constexpr u32 kStep = 16;

  Warp& w_;
  const Step* s_;
  int lane_;
  u64 global_, shared_;
  u32 bytes_;
  AccessKind kind_;
};

/// The shared half of a bulk copy, for the checkers: by the lane that asked for it.
void observe_shared(Warp& w, const Step* s, int lane, u64 offset, u32 bytes, AccessKind kind) {
  if (w.observer == nullptr) return;
  u64 offsets[32] = {};
  for (u32 done = 0; done < bytes; done += 16) {
    offsets[lane] = offset + done;
    observe(w, s, StateSpace::kShared, kind, 1u << lane, 16, offsets);
  }
}

const Step* refuse_size(Warp& w, const Step* s, int lane, u64 address, u32 bytes) {
  return raise(
      w, s, FaultKind::kMisalignedAddress, static_cast<u32>(lane), address,
      "cp.async.bulk of " + std::to_string(bytes) + " bytes: sizes are multiples of 16 bytes");
}

/// What one instruction of a warp moves, a word a lane.
constexpr u32 kBytesOfAPlainCopy = 32 * 4;

/// Each lane's copy by itself: a program lets one lane ask.
const Step* bulk_load(Warp& w, const Step* s) {
  const auto& shape = s->extra->in->as<program::AsyncCopy>();
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u32 bytes = at<const u32>(w, s->c)[lane];
    const u64 from = lane_address(w, s->b, shape.from, lane);
    const u64 to = in_window(w, lane_address(w, s->a, shape.to, lane));
    u64 barrier[32] = {};
    barrier[lane] = in_window(w, lane_address(w, s->extra->s[3], shape.barrier, lane));
    if (bytes % 16 != 0) return refuse_size(w, s, lane, from, bytes);
    u32 mask = 1u << lane;
    if (!check_offsets(w, s, barrier, mask, 8, w.shared_bytes, StateSpace::kShared,
                       AccessKind::kAtomic))
      return w.stop;
    if (mask == 0 || bytes == 0) continue;
    const BulkAccess access(w, s, lane, from, to, bytes, AccessKind::kLoad);
    bool moves = false;
    if (!access.check(moves)) return w.stop;
    if (!moves) continue;
    generic::charge(w, bytes / kBytesOfAPlainCopy);
    limit_bulk_copies(w);
    BulkCopy copy{s, barrier[lane], to, std::vector<std::byte>(bytes)};
    const auto take = [&](const std::byte* host, u32 offset, u32 count) {
      std::memcpy(&copy.data[offset], host, count);
    };
    if (!access.for_each(take)) return w.stop;
    observe_shared(w, s, lane, to, bytes, AccessKind::kStore);
    w.block->bulk_bytes += bytes;
    w.block->bulk_copies.push_back(std::move(copy));
  }
  return s + 1;
}

/// Lands at once: its groups have nothing left to wait for.
const Step* bulk_store(Warp& w, const Step* s) {
  const auto& shape = s->extra->in->as<program::AsyncCopy>();
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u32 bytes = at<const u32>(w, s->c)[lane];
    const u64 to = lane_address(w, s->a, shape.to, lane);
    const u64 from = in_window(w, lane_address(w, s->b, shape.from, lane));
    if (bytes % 16 != 0) return refuse_size(w, s, lane, to, bytes);
    if (bytes == 0) continue;
    const BulkAccess access(w, s, lane, to, from, bytes, AccessKind::kStore);
    bool moves = false;
    if (!access.check(moves)) return w.stop;
    if (!moves) continue;
    generic::charge(w, bytes / kBytesOfAPlainCopy);
    observe_shared(w, s, lane, from, bytes, AccessKind::kLoad);
    const std::byte* const source = shared_place(w, from, bytes);
    const auto put = [&](std::byte* host, u32 offset, u32 count) {
      std::memcpy(host, source + offset, count);
    };
    if (!access.for_each(put)) return w.stop;
  }
  return s + 1;
}

const Step* bulk_nothing(Warp&, const Step* s) { return s + 1; }

}  // namespace

Handler select_bulk(const Instruction& in) {
  switch (in.as<program::AsyncCopy>().mode) {
    case CopyMode::kBulkLoad:
      return &bulk_load;
    case CopyMode::kBulkStore:
      return &bulk_store;
    default:
      return &bulk_nothing;
  }
}

}  // namespace membound::vgpu::exec
