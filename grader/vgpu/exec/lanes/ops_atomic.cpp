// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Atomics and reductions, lane after lane in lane order.
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/lanes/atomic_counts.hpp"
#include "grader/vgpu/exec/lanes/atomic_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/arrivals.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::u16;
using generic::u32;
using generic::u64;
using generic::update;
using program::Atomic;
using program::AtomicAccess;
using program::Instruction;
using ptx::ScalarType;
using ptx::StateSpace;

Atomic operation_of(const Instruction& in) { return in.as<AtomicAccess>().operation; }

/// Host bytes of the lanes that go to `space` (global or shared); counts the access if that is
/// asked for.
bool resolve(Warp& w, const Step* s, StateSpace space, u64* addresses, u32& mask, u32 bytes,
             std::byte** host) {
  StepStats& stats = w.stats[s->stats];
  const Instruction& in = *s->extra->in;
  generic::charge(w, lane_count(mask));
  if (space == StateSpace::kGlobal) {
    if (!translate_slowly(w, s, addresses, mask, bytes, AccessKind::kAtomic, host)) return false;
    if (mask != 0 && w.launch->counts) count_global_atomic(w, stats, in, addresses, mask, bytes);
  } else {
    if (!check_offsets(w, s, addresses, mask, bytes, w.shared_bytes, StateSpace::kShared,
                       AccessKind::kAtomic))
      return false;
    u32 offsets[32] = {};
    for (u32 rest = mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      host[i] = shared_place(w, addresses[i], bytes);
      offsets[i] = static_cast<u32>(addresses[i]);
    }
    if (mask != 0 && w.launch->counts) count_shared_atomic(stats, in, offsets, mask, bytes);
  }
  if (w.observer != nullptr && mask != 0)
    observe(w, s, space, AccessKind::kAtomic, mask, bytes, addresses);
  return true;
}

template <typename T>
void perform(Warp& w, const Step* s, StateSpace space, u32 mask, std::byte* const* host) {
  using Word = generic::WordOf<T>;
  const Instruction& in = *s->extra->in;
  const Atomic operation = operation_of(in);
  const bool parallel = w.launch->parallel && space == StateSpace::kGlobal;
  const bool later = w.launch->defer_reductions && space == StateSpace::kGlobal &&
                     in.has(program::kResultUnused) && ptx::is_float(in.type) &&
                     operation == Atomic::kAdd;
  Arrivals* arrivals = space == StateSpace::kGlobal ? w.launch->arrivals : nullptr;
  if (arrivals != nullptr && !arrivals->hears(in)) arrivals = nullptr;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    for (u32 v = 0; v < in.vector; ++v) {
      const T b = static_cast<T>(at<const Word>(w, s->extra->s[1 + v])[i]);
      std::byte* place = host[i] + v * sizeof(T);
      if (later) {
        w.block->reductions.push_back({place, b, in.type});
        continue;
      }
      if (arrivals != nullptr) {
        at<Word>(w, s->extra->d[v])[i] = static_cast<T>(arrivals->arrive(*w.block, in, place, b));
        continue;
      }
      const T c =
          operation == Atomic::kCas ? static_cast<T>(at<const Word>(w, s->extra->s[2])[i]) : T{0};
      const T old = update<T>(place, parallel, operation, in.type, b, c);
      if (!in.has(program::kResultUnused)) at<Word>(w, s->extra->d[v])[i] = old;
    }
  }
}

template <typename T>
const Step* atomic(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  alignas(32) u64 addresses[32];
  if (in.as<AtomicAccess>().at.address_bits == 64)
    generic::lane_addresses<u64>(w, s, addresses);
  else
    generic::lane_addresses<u32>(w, s, addresses);
  const u32 bytes = sizeof(T) * in.vector;
  std::byte* host[32];
  u32 in_shared = in.space == StateSpace::kShared ? w.mask : 0;
  if (in.space == StateSpace::kNone) {
    for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      const u64 offset = addresses[i] - w.launch->shared_window;
      if (offset >= memory::AddressSpace::kSharedWindowBytes) continue;
      in_shared |= 1u << i;
      addresses[i] = offset;
    }
  }
  u32 in_global = w.mask & ~in_shared;
  if (in_shared != 0) {
    if (!resolve(w, s, StateSpace::kShared, addresses, in_shared, bytes, host)) return w.stop;
    perform<T>(w, s, StateSpace::kShared, in_shared, host);
  }
  if (in_global != 0) {
    if (!resolve(w, s, StateSpace::kGlobal, addresses, in_global, bytes, host)) return w.stop;
    perform<T>(w, s, StateSpace::kGlobal, in_global, host);
  }
  return s + 1;
}

/// 128 bits: exchange and compare-and-swap only.
const Step* atomic_128(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  alignas(32) u64 addresses[32];
  generic::lane_addresses<u64>(w, s, addresses);
  std::byte* host[32];
  u32 mask = w.mask;
  const StateSpace space =
      in.space == StateSpace::kShared ? StateSpace::kShared : StateSpace::kGlobal;
  if (!resolve(w, s, space, addresses, mask, 16, host)) return w.stop;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    u64 old[2];
    std::memcpy(old, host[i], 16);
    const u64* b = at<const u64>(w, s->extra->s[1]) + i;
    const u64* fresh = operation_of(in) == Atomic::kCas ? at<const u64>(w, s->extra->s[2]) + i : b;
    if (operation_of(in) == Atomic::kExch || (old[0] == b[0] && old[1] == b[32])) {
      const u64 value[2] = {fresh[0], fresh[32]};
      std::memcpy(host[i], value, 16);
    }
    if (!in.has(program::kResultUnused)) {
      u64* d = at<u64>(w, s->extra->d[0]) + i;
      d[0] = old[0];
      d[32] = old[1];
    }
  }
  return s + 1;
}

}  // namespace

void apply_reduction(const FloatReduction& reduction) {
  switch (ptx::size_bytes(reduction.type)) {
    case 2:
      update<u16>(reduction.host, false, Atomic::kAdd, reduction.type,
                  static_cast<u16>(reduction.bits), 0);
      break;
    case 4:
      update<u32>(reduction.host, false, Atomic::kAdd, reduction.type,
                  static_cast<u32>(reduction.bits), 0);
      break;
    default:
      update<u64>(reduction.host, false, Atomic::kAdd, reduction.type, reduction.bits, 0);
      break;
  }
}

void apply_atomic(std::byte* place, bool parallel, Atomic operation, ScalarType type, u64 operand) {
  if (ptx::size_bytes(type) == 8)
    update<u64>(place, parallel, operation, type, operand, 0);
  else
    update<u32>(place, parallel, operation, type, static_cast<u32>(operand), 0);
}

Handler select_atomic(const Instruction& in) {
  if (in.space != StateSpace::kGlobal && in.space != StateSpace::kShared &&
      in.space != StateSpace::kNone)
    return nullptr;
  switch (ptx::size_bytes(in.type)) {
    case 2:
      return &atomic<u16>;
    case 4:
      return &atomic<u32>;
    case 8:
      return &atomic<u64>;
    case 16:
      return operation_of(in) == Atomic::kExch || operation_of(in) == Atomic::kCas ? &atomic_128
                                                                                   : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec
