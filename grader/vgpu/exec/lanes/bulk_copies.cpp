// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/bulk_copies.hpp"

#include <algorithm>
#include <cstring>

#include "grader/vgpu/exec/lanes/mbarrier.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::u32;
using generic::u64;
using program::MbarrierMode;
using ptx::StateSpace;

/// For the checkers the running warp, which may wait for it, has written it: 16 bytes a lane. It
/// hands that over at the mbarrier, to all who wait there.
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
  const u64 barrier[32] = {copy.barrier};
  w.observer->mbarrier(w, 1, barrier, true);
  w.observer->mbarrier(w, 1, barrier, false);
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

}  // namespace membound::vgpu::exec
