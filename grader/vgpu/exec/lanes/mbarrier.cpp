// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/mbarrier.hpp"

#include <algorithm>
#include <cstring>

#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::u64;
using program::MbarrierMode;

constexpr u64 kCountMask = (u64{1} << 20) - 1;

struct Mbarrier {
  bool phase = false;
  u64 expected = 0, pending = 0;
  std::int64_t bytes = 0;

  static Mbarrier unpack(u64 word) {
    Mbarrier m;
    m.phase = word >> 63;
    m.expected = (word >> 42) & kCountMask;
    m.pending = (word >> 21) & kCountMask;
    m.bytes = static_cast<std::int64_t>(word << 43) >> 43;
    return m;
  }
  [[nodiscard]] u64 pack() const {
    return u64{phase} << 63 | (expected & kCountMask) << 42 | (pending & kCountMask) << 21 |
           (static_cast<u64>(bytes) & ((u64{1} << 21) - 1));
  }
  /// The phase ends when nobody and nothing is awaited any more.
  void settle() {
    if (pending != 0 || bytes != 0) return;
    phase = !phase;
    pending = expected;
  }
};

}  // namespace

u64 operate_on_mbarrier(MbarrierMode mode, std::byte* place, u64 operand, bool has_operand) {
  if (mode == MbarrierMode::kPendingCount) return Mbarrier::unpack(operand).pending;
  u64 word;
  std::memcpy(&word, place, 8);
  Mbarrier m = Mbarrier::unpack(word);
  const u64 count = has_operand ? operand : 1;
  switch (mode) {
    case MbarrierMode::kInit:
      m = {false, operand, operand, 0};
      break;
    case MbarrierMode::kInval:
      m = {};
      break;
    case MbarrierMode::kArriveDrop:
      m.expected -= count;
      m.pending -= count;
      m.settle();
      break;
    case MbarrierMode::kArrive:
      m.pending -= count;
      m.settle();
      break;
    case MbarrierMode::kArriveExpectTx:
      m.bytes += static_cast<std::int64_t>(operand);
      m.pending -= 1;
      m.settle();
      break;
    case MbarrierMode::kExpectTx:  // a copy may have been faster: what it brought is below 0
      m.bytes += static_cast<std::int64_t>(operand);
      m.settle();
      break;
    case MbarrierMode::kCompleteTx:
      m.bytes -= static_cast<std::int64_t>(operand);
      m.settle();
      break;
    case MbarrierMode::kTestWait:
    case MbarrierMode::kTryWait:
      return m.phase != Mbarrier::unpack(operand).phase;
    case MbarrierMode::kTestWaitParity:
    case MbarrierMode::kTryWaitParity:
      return u64{m.phase} != (operand & 1);
    case MbarrierMode::kPendingCount:
      break;
  }
  const u64 packed = m.pack();
  std::memcpy(place, &packed, 8);
  return word;
}

namespace {

using generic::u32;
using ptx::StateSpace;

/// For the checkers the running warp, which may wait for it, has written it: 16 bytes a lane. All
/// of it hands that over at the mbarrier, to all who wait there.
void tell_of_landing(Warp& w, const BulkCopy& copy) {
  constexpr u64 kPiece = 16;
  for (u64 done = 0; done < copy.data.size(); done += 32 * kPiece) {
    const u64 lanes = std::min<u64>(32, (copy.data.size() - done) / kPiece);
    u64 offsets[32] = {};
    for (u64 i = 0; i < lanes; ++i) offsets[i] = copy.to + done + i * kPiece;
    const u32 mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    w.observer->copies_land(
        {&w, copy.step, StateSpace::kShared, AccessKind::kStore, mask, kPiece, offsets});
  }
  u64 barrier[32];
  std::fill_n(barrier, 32, copy.barrier);
  w.observer->mbarrier(w, ~0u, barrier, true);
  w.observer->mbarrier(w, ~0u, barrier, false);
}

/// Lands a bulk copy, of which its mbarrier hears.
void land_bulk_copy(Warp& w, const BulkCopy& copy) {
  std::memcpy(shared_place(w, copy.to, copy.data.size()), copy.data.data(), copy.data.size());
  operate_on_mbarrier(MbarrierMode::kCompleteTx, shared_place(w, copy.barrier, 8), copy.data.size(),
                      true);
  w.block->bulk_bytes -= copy.data.size();
  if (w.observer != nullptr) tell_of_landing(w, copy);
}

}  // namespace

void land_bulk_copies(Warp& w, u64 barrier) {
  std::erase_if(w.block->bulk_copies, [&](const BulkCopy& copy) {
    if (copy.barrier != barrier) return false;
    land_bulk_copy(w, copy);
    return true;
  });
}

void limit_bulk_copies(Warp& w) {
  constexpr u64 kMostBytes = u64{4} << 20;
  constexpr std::size_t kMostCopies = 4096;
  if (w.block->bulk_bytes < kMostBytes && w.block->bulk_copies.size() < kMostCopies) return;
  for (const BulkCopy& copy : w.block->bulk_copies) land_bulk_copy(w, copy);
  w.block->bulk_copies.clear();
}

namespace {

using generic::at;
using program::Instruction;

const Step* mbarrier(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const auto mode = in.as<program::MbarrierOperation>().mode;
  const bool wide = mode == MbarrierMode::kTestWait || mode == MbarrierMode::kTryWait ||
                    mode == MbarrierMode::kPendingCount;
  u64 offsets[32] = {};
  u32 mask = w.mask;
  if (mode != MbarrierMode::kPendingCount) {
    for (int i = 0; i < 32; ++i) offsets[i] = shared_offset(w, s, i);
    if (!check_offsets(w, s, offsets, mask, 8, w.shared_bytes, StateSpace::kShared,
                       AccessKind::kAtomic))
      return w.stop;
  }
  if (w.observer != nullptr && mode != MbarrierMode::kPendingCount) {
    // Whoever uses an mbarrier must come after its init, and before its inval.
    const bool makes = mode == MbarrierMode::kInit || mode == MbarrierMode::kInval;
    if (mask != 0)
      observe(w, s, StateSpace::kShared, makes ? AccessKind::kStore : AccessKind::kAtomic, mask, 8,
              offsets);
    if (!makes) w.observer->mbarrier(w, mask, offsets, !is_wait(mode));
  }
  u32 done = 0;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    const u64 operand = !in.s[1] ? 0 : wide ? at<const u64>(w, s->b)[i] : at<const u32>(w, s->b)[i];
    if (is_wait(mode)) land_bulk_copies(w, offsets[i]);
    std::byte* const place =
        mode == MbarrierMode::kPendingCount ? nullptr : shared_place(w, offsets[i], 8);
    const u64 result = operate_on_mbarrier(mode, place, operand, static_cast<bool>(in.s[1]));
    if (is_wait(mode))
      done |= static_cast<u32>(result) << i;
    else if (in.d[0] && mode == MbarrierMode::kPendingCount)
      at<u32>(w, s->d)[i] = static_cast<u32>(result);
    else if (in.d[0])
      at<u64>(w, s->d)[i] = result;
  }
  if (is_wait(mode) && in.d[0]) generic::set_predicate(w, s->d, done);
  return s + 1;
}

}  // namespace

Handler select_mbarrier(const Instruction&) { return &mbarrier; }

}  // namespace membound::vgpu::exec
