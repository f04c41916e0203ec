// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of local memory and of call parameters, which live in the lane's frame.
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::StateSpace;

/// One element of `bytes` (1 … 8), widened by its sign if it has one.
u64 read_element(const std::byte* place, u32 bytes, bool is_signed) {
  u64 value = 0;
  std::memcpy(&value, place, bytes);
  const u32 up = 64 - 8 * bytes;
  return is_signed ? static_cast<u64>(static_cast<i64>(value << up) >> up) : value;
}

bool is_signed_up_to_word(ptx::ScalarType type) {
  return type == ptx::ScalarType::kS8 || type == ptx::ScalarType::kS16 ||
         type == ptx::ScalarType::kS32;
}

template <bool kLoad>
void move_element(Warp& w, const Instruction& in, const Step* s, unsigned v, int lane,
                  std::byte* place, u32 bytes) {
  const auto slots = kLoad ? in.d_slots : in.s_slots;
  const Ref ref = kLoad ? s->extra->d[v] : s->extra->s[1 + v];
  if (slots == 4) {  // 128 bits: low half, then high half
    for (u32 half = 0; half < 2; ++half) {
      u64* word = at<u64>(w, ref + 256 * half) + lane;
      if constexpr (kLoad)
        std::memcpy(word, place + 8 * half, 8);
      else
        std::memcpy(place + 8 * half, word, 8);
    }
  } else if (kLoad) {
    const u64 value = read_element(place, bytes, is_signed_up_to_word(in.type));
    if (slots == 2)
      at<u64>(w, ref)[lane] = value;
    else
      at<u32>(w, ref)[lane] = static_cast<u32>(value);
  } else {
    const u64 value = slots == 2 ? at<u64>(w, ref)[lane] : at<u32>(w, ref)[lane];
    std::memcpy(place, &value, bytes);
  }
}

template <typename Address, bool kLoad>
const Step* local(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const u32 bytes = ptx::size_bytes(in.type);
  const u32 total = bytes * in.vector;
  const AccessKind kind = kLoad ? AccessKind::kLoad : AccessKind::kStore;
  alignas(32) u64 offsets[32];
  lane_addresses<Address>(w, s, offsets);
  if (in.as<program::Access>().in_frame) {
    const u64 base = w.frame->local_base;
    MEMBOUND_LANES offsets[i] += base;
  }
  u32 mask = w.mask;
  u64 end = 0;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const u64 last = offsets[std::countr_zero(rest)] + total;
    end = last > end ? last : end;
  }
  if (!grow_local(w, s, end)) return w.stop;
  if (!check_offsets(w, s, offsets, mask, total, w.local_stride, StateSpace::kLocal, kind))
    return w.stop;
  if (mask == 0) return s + 1;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    std::byte* place = local_place(w, i, offsets[i], total);
    for (unsigned v = 0; v < in.vector; ++v)
      move_element<kLoad>(w, in, s, v, i, place + v * bytes, bytes);
  }
  if (!in.has(program::kParamMemory)) {
    StepStats& stats = w.stats[s->stats];
    if (w.launch->counts) count_local(stats, offsets, mask, total);
    if (w.observer != nullptr) observe(w, s, StateSpace::kLocal, kind, mask, total, offsets);
  }
  return s + 1;
}

}  // namespace

Handler select_local(const Instruction& in) {
  const bool load = in.opcode != Opcode::kSt;
  const auto& access = in.as<program::Access>();
  if (in.space != StateSpace::kLocal && !access.in_frame) return nullptr;
  // 16 bytes are moved from and to four slots, up to 8 from and to one or two.
  const auto slots = load ? in.d_slots : in.s_slots;
  const u32 bytes = ptx::size_bytes(in.type);
  if (bytes == 0 || (bytes == 16) != (slots == 4)) return nullptr;
  if (access.address_bits == 64) return load ? &local<u64, true> : &local<u64, false>;
  return load ? &local<u32, true> : &local<u32, false>;
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
