// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/mbarrier.hpp"

#include <cstring>

#include "grader/vgpu/exec/state/word_types.hpp"

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

}  // namespace membound::vgpu::exec
