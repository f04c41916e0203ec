// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// mbarrier: arrivals, waits and transaction bytes, a lane at a time.
#include "grader/vgpu/exec/lanes/bulk_copies.hpp"
#include "grader/vgpu/exec/lanes/mbarrier.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/lanes/shared_address.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::u32;
using generic::u64;
using program::Instruction;
using program::MbarrierMode;
using ptx::StateSpace;

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
