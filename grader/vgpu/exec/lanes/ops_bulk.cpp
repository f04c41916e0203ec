// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// cp.async.bulk: a lane copies a run of bytes between global and shared memory. A load reads
/// global memory when it is issued and lands where its mbarrier is waited on; a store lands at
/// once.
#include <algorithm>
#include <cstring>
#include <string>

#include "grader/vgpu/exec/lanes/bulk_copies.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/lanes/shared_address.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::u32;
using generic::u64;
using program::CopyMode;
using program::Instruction;
using ptx::StateSpace;

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
    // Both ends, to blame the lane that asked; what lies between is looked at piece by piece.
    for (const u64 end : {global_, global_ + bytes_ - kPiece}) {
      places[lane_] = end;
      if (mask != 0 && !translate_slowly(w_, s_, places, mask, kPiece, kind_, host)) return false;
    }
    moves = mask != 0;
    return true;
  }

  /// `move(host, offset from the start, bytes)` for each run of bytes; false when it faulted.
  template <typename Move>
  [[nodiscard]] bool for_each(Move move) const {
    StepStats& stats = w_.stats[s_->stats];
    for (u32 done = 0; done < bytes_; done += 32 * kPiece) {
      const u32 lanes = std::min<u32>(32, (bytes_ - done) / kPiece);
      const u32 all = lanes == 32 ? ~0u : (1u << lanes) - 1;
      u32 mask = all;
      u64 addresses[32] = {};
      std::byte* host[32];
      for (u32 i = 0; i < lanes; ++i) addresses[i] = global_ + done + u64{i} * kPiece;
      if (!translate_slowly(w_, s_, addresses, mask, kPiece, kind_, host)) return false;
      for (u32 rest = mask; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<u32>(__builtin_ctz(rest));
        move(host[i], done + i * kPiece, kPiece);
      }
      generic::count_global(stats, memory::coalesce(addresses, all, kPiece));
      if (w_.observer == nullptr) continue;
      observe(w_, s_, StateSpace::kGlobal, kind_, mask, kPiece, addresses);
    }
    return true;
  }

 private:
  static constexpr u32 kPiece = 16;

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
    const auto take = [&](const std::byte* host, u32 offset, u32 piece) {
      std::memcpy(&copy.data[offset], host, piece);
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
    const auto put = [&](std::byte* host, u32 offset, u32 piece) {
      std::memcpy(host, source + offset, piece);
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
