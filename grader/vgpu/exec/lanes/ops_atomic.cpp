// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Atomics and reductions, lane after lane, in the order of their numbers or in a drawn one: what
/// they do to the word at their address, and what they cost (requests, sectors, turns that lanes on
/// one word take). With several workers they are real atomic operations; only those whose outcome
/// does not depend on order run that way.
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/last_block_pattern.hpp"
#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::exec::generic {

using program::Atomic;
using ptx::ScalarType;

template <typename Format>
u16 half_operation(Atomic operation, u16 a, u16 b) {
  const float x = widen_half<Format>(a), y = widen_half<Format>(b);
  const float r = operation == Atomic::kMin   ? FMin::run(x, y)
                  : operation == Atomic::kMax ? FMax::run(x, y)
                                              : 0;
  return operation == Atomic::kAdd ? nearest_half<Format>(double{x} + y) : nearest_half<Format>(r);
}

template <typename Format>
u32 packed_operation(Atomic operation, u32 a, u32 b) {
  const u32 low = half_operation<Format>(operation, static_cast<u16>(a), static_cast<u16>(b));
  const u32 high =
      half_operation<Format>(operation, static_cast<u16>(a >> 16), static_cast<u16>(b >> 16));
  return low | high << 16;
}

template <typename F, typename Bits>
Bits float_operation(Atomic operation, Bits a, Bits b) {
  const F x = std::bit_cast<F>(a), y = std::bit_cast<F>(b);
  switch (operation) {
    case Atomic::kMin:
      return std::bit_cast<Bits>(FMin::run(x, y));
    case Atomic::kMax:
      return std::bit_cast<Bits>(FMax::run(x, y));
    default:
      return std::bit_cast<Bits>(canonical(computed(x + y, x, y)));
  }
}

/// The new value at the address. T is the unsigned type of the width.
template <typename T>
T operate(Atomic operation, ScalarType type, T old, T b, T c) {
  using S = std::make_signed_t<T>;
  const bool is_signed = type == ScalarType::kS32 || type == ScalarType::kS64;
  switch (operation) {
    case Atomic::kExch:
      return b;
    case Atomic::kCas:
      return old == b ? c : old;
    case Atomic::kAnd:
      return old & b;
    case Atomic::kOr:
      return old | b;
    case Atomic::kXor:
      return old ^ b;
    case Atomic::kInc:
      return old >= b ? T{0} : static_cast<T>(old + 1);
    case Atomic::kDec:
      return old == 0 || old > b ? b : static_cast<T>(old - 1);
    default:
      break;
  }
  if constexpr (sizeof(T) == 2) {
    return type == ScalarType::kBf16 ? half_operation<Bfloat16Format>(operation, old, b)
                                     : half_operation<HalfFormat>(operation, old, b);
  } else {
    if constexpr (sizeof(T) == 4) {
      if (type == ScalarType::kF32) return float_operation<float>(operation, old, b);
      if (type == ScalarType::kF16x2) return packed_operation<HalfFormat>(operation, old, b);
      if (type == ScalarType::kBf16x2) return packed_operation<Bfloat16Format>(operation, old, b);
    } else {
      if (type == ScalarType::kF64) return float_operation<double>(operation, old, b);
    }
    switch (operation) {
      case Atomic::kMin:
        return is_signed ? (static_cast<S>(b) < static_cast<S>(old) ? b : old)
                         : (b < old ? b : old);
      case Atomic::kMax:
        return is_signed ? (static_cast<S>(b) > static_cast<S>(old) ? b : old)
                         : (b > old ? b : old);
      default:
        return static_cast<T>(old + b);
    }
  }
}

template <typename T>
T update(std::byte* place, bool parallel, Atomic operation, ScalarType type, T b, T c) {
  T* word = reinterpret_cast<T*>(place);
  if (!parallel) {
    const T old = *word;
    *word = operate(operation, type, old, b, c);
    return old;
  }
  std::atomic_ref<T> shared(*word);
  T old = shared.load();
  while (!shared.compare_exchange_weak(old, operate(operation, type, old, b, c))) {
  }
  return old;
}

}  // namespace membound::vgpu::exec::generic

namespace membound::vgpu::exec {
namespace {

using generic::u32;
using generic::u64;
using program::Atomic;
using program::AtomicAccess;
using program::Instruction;
using ptx::StateSpace;

/// What one part of L2 serves, in sectors: atomics on as many take turns
/// (clock_mechanisms_h200.csv, add random: 64 words take as long a turn as 32, 128 words half as
/// long).
constexpr u32 kSectorsOfSlice = 8;

/// True when one lane does it for all that take part.
bool is_warp_aggregated(const Instruction& in) {
  const auto aggregation = in.as<AtomicAccess>().aggregation;
  return aggregation == program::WarpAggregation::kAlways ||
         (aggregation == program::WarpAggregation::kIfUnused && in.has(program::kResultUnused));
}

/// Lanes that want one word of a bank pass as one; words of one bank take turns.
memory::Wavefronts counted_by_word(const u32* offsets, u32 mask, u32 bytes) {
  memory::Wavefronts cost = memory::shared_wavefronts(offsets, mask, bytes, false);
  cost.ideal = 1;
  return cost;
}

/// True when the hardware has no such operation on shared memory: it loads, computes and swaps.
bool loops_in_shared_memory(const Instruction& in) {
  const Atomic operation = in.as<AtomicAccess>().operation;
  if (operation == Atomic::kExch || operation == Atomic::kCas) return false;
  return ptx::is_float(in.type) || ptx::size_bytes(in.type) != 4;
}

/// A loop on words of global memory; `in` is a 16-bit addition.
void count_word_loop(StepStats& stats, const Instruction& in, const u64* addresses, u32 mask) {
  const auto loop = memory::atomic_word_loop(addresses, mask);
  stats.requests += loop.turns;
  stats.sectors += loop.load.sectors + loop.swaps.sectors;
  stats.ideal_sectors += loop.load.ideal_sectors + loop.swaps.ideal_sectors;
  stats.lines += loop.load.lines + loop.swaps.lines;
  stats.sector_turns += loop.swap_sectors;
  stats.word_loads += 1;
  stats.word_load_sectors += loop.load.sectors;
  stats.word_load_ideal_sectors += loop.load.ideal_sectors;
  stats.word_load_bytes += loop.load.bytes;
  // The profiler takes bytes that go through a generic address for shared memory's, too.
  if (in.space == StateSpace::kNone) stats.shared_bytes += loop.load.bytes + loop.swaps.bytes;
}

/// What an atomic on global memory costs; the lanes of `mask` take part.
void count_global_atomic(Warp& w, StepStats& stats, const Instruction& in, const u64* addresses,
                         u32 mask, u32 bytes) {
  const auto lanes = static_cast<u32>(std::popcount(mask));
  stats.atomic_lanes += lanes;
  if (is_warp_aggregated(in)) mask &= 0u - mask;
  const auto cost = memory::coalesce(addresses, mask, bytes);
  if (loops_on_a_word(in)) {
    count_word_loop(stats, in, addresses, mask);
  } else {
    generic::count_global(stats, cost);
    std::array<memory::SectorTurns, 32> turns;
    const u32 count = memory::atomic_turns(addresses, mask, turns);
    for (u32 i = 0; i < count; ++i) {
      stats.sector_turns += turns[i].turns;
      w.worker->busiest_sectors.add(turns[i].sector, turns[i].turns);
      w.worker->busiest_slices.add(turns[i].sector / kSectorsOfSlice, turns[i].turns);
    }
  }
  stats.atomic_same_address += static_cast<u32>(std::popcount(mask)) - cost.bytes / bytes;
  for (u32 rest = mask; rest != 0; rest &= rest - 1)
    w.worker->hottest.add(addresses[std::countr_zero(rest)], 1);
}

/// The same of shared memory.
void count_shared_atomic(StepStats& stats, const Instruction& in, const u32* offsets, u32 mask,
                         u32 bytes) {
  if (is_warp_aggregated(in)) mask &= 0u - mask;
  if (in.as<AtomicAccess>().aggregation == program::WarpAggregation::kByWordIfUnused &&
      in.has(program::kResultUnused))
    return generic::count_shared(stats, counted_by_word(offsets, mask, bytes));
  if (!loops_in_shared_memory(in)) {
    generic::count_shared(
        stats, memory::shared_atomic_wavefronts(offsets, mask, bytes,
                                                in.as<AtomicAccess>().operation == Atomic::kCas));
    return;
  }
  const auto loop = memory::shared_atomic_loop(offsets, mask, bytes);
  stats.shared_requests += loop.turns;
  stats.wavefronts += loop.swaps.taken;
  stats.ideal_wavefronts += loop.swaps.ideal;
  stats.shared_bytes += loop.loads.bytes + loop.swaps.bytes;
  stats.loop_loads += loop.turns;
  stats.loop_load_wavefronts += loop.loads.taken;
  stats.loop_load_ideal_wavefronts += loop.loads.ideal;
}

using generic::at;
using generic::u16;
using generic::update;
using ptx::ScalarType;

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

/// Can another order of the lanes leave another word, or give a lane another result?
bool depends_on_order(const Instruction& in) {
  if (!in.has(program::kResultUnused)) return true;
  switch (operation_of(in)) {
    case Atomic::kAdd:
      return ptx::is_float(in.type);
    case Atomic::kMin:
    case Atomic::kMax:
    case Atomic::kAnd:
    case Atomic::kOr:
    case Atomic::kXor:
      return false;
    default:
      return true;
  }
}

/// Calls `serve(lane)` for each lane of `mask`: by their numbers, or as draw_lane_order() says.
template <bool kDrawn, typename Serve>
[[gnu::always_inline]] inline void for_each_lane(const Warp& w, const Step* s, u32 mask,
                                                 Serve serve) {
  if constexpr (kDrawn) {
    if ((mask & (mask - 1)) != 0) {
      const LaneOrder order = draw_lane_order(w, s);
      for (u32 turn = 0; turn < 32; ++turn) {
        const u32 lane = order.lane(turn);
        if (((mask >> lane) & 1) != 0) serve(static_cast<int>(lane));
      }
      return;
    }
  }
  for (u32 rest = mask; rest != 0; rest &= rest - 1) serve(std::countr_zero(rest));
}

template <typename T, bool kDrawn>
void perform(Warp& w, const Step* s, StateSpace space, u32 mask, std::byte* const* host) {
  using Word = generic::WordOf<T>;
  const Instruction& in = *s->extra->in;
  const Atomic operation = operation_of(in);
  const bool parallel = w.launch->parallel && space == StateSpace::kGlobal;
  const bool later = w.launch->defer_reductions && space == StateSpace::kGlobal &&
                     in.has(program::kResultUnused) && ptx::is_float(in.type) &&
                     operation == Atomic::kAdd;
  LastBlockPattern* last_block = space == StateSpace::kGlobal ? w.launch->last_block : nullptr;
  if (last_block != nullptr && !last_block->hears(in)) last_block = nullptr;
  for_each_lane<kDrawn>(w, s, mask, [&](int i) {
    for (u32 v = 0; v < in.vector; ++v) {
      const T b = static_cast<T>(at<const Word>(w, s->extra->s[1 + v])[i]);
      std::byte* place = host[i] + v * sizeof(T);
      if (later) {
        w.block->reductions.push_back({place, b, in.type});
        continue;
      }
      if (last_block != nullptr) {
        at<Word>(w, s->extra->d[v])[i] = static_cast<T>(last_block->arrive(*w.block, in, place, b));
        continue;
      }
      const T c =
          operation == Atomic::kCas ? static_cast<T>(at<const Word>(w, s->extra->s[2])[i]) : T{0};
      const T old = update<T>(place, parallel, operation, in.type, b, c);
      if (!in.has(program::kResultUnused)) at<Word>(w, s->extra->d[v])[i] = old;
    }
  });
}

template <typename T, bool kDrawn>
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
    perform<T, kDrawn>(w, s, StateSpace::kShared, in_shared, host);
  }
  if (in_global != 0) {
    if (!resolve(w, s, StateSpace::kGlobal, addresses, in_global, bytes, host)) return w.stop;
    perform<T, kDrawn>(w, s, StateSpace::kGlobal, in_global, host);
  }
  return s + 1;
}

/// 128 bits: exchange and compare-and-swap only.
template <bool kDrawn>
const Step* atomic_128(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  alignas(32) u64 addresses[32];
  generic::lane_addresses<u64>(w, s, addresses);
  std::byte* host[32];
  u32 mask = w.mask;
  const StateSpace space =
      in.space == StateSpace::kShared ? StateSpace::kShared : StateSpace::kGlobal;
  if (!resolve(w, s, space, addresses, mask, 16, host)) return w.stop;
  for_each_lane<kDrawn>(w, s, mask, [&](int i) {
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
  });
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

namespace {

template <bool kDrawn>
Handler atomic_of(const Instruction& in) {
  switch (ptx::size_bytes(in.type)) {
    case 2:
      return &atomic<u16, kDrawn>;
    case 4:
      return &atomic<u32, kDrawn>;
    case 8:
      return &atomic<u64, kDrawn>;
    case 16:
      return operation_of(in) == Atomic::kExch || operation_of(in) == Atomic::kCas
                 ? &atomic_128<kDrawn>
                 : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Handler select_atomic(const Instruction& in, bool drawn) {
  if (in.space != StateSpace::kGlobal && in.space != StateSpace::kShared &&
      in.space != StateSpace::kNone)
    return nullptr;
  return drawn && depends_on_order(in) ? atomic_of<true>(in) : atomic_of<false>(in);
}

}  // namespace membound::vgpu::exec
