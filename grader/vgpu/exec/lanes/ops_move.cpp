// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies, packing and unpacking, address-space conversions.
#include "grader/vgpu/exec/lanes/integer_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::ScalarType;
using ptx::StateSpace;

const Step* nothing(Warp&, const Step* s) { return s + 1; }

const Step* move_predicate(Warp& w, const Step* s) {
  set_predicate(w, s->d, predicate(w, s->a));
  return s + 1;
}

const Step* move_128(Warp& w, const Step* s) {
  const u64* from = at<const u64>(w, s->a);
  write_lanes(w, s->d, from);
  write_lanes(w, s->d + 256, from + 32);
  return s + 1;
}

/// {d0, d1, …} = a: each part has kBits of a 32-, 64- or 128-bit register.
template <typename Whole, typename Part>
const Step* unpack(Warp& w, const Step* s) {
  constexpr int kParts = sizeof(Whole) / sizeof(Part);
  const auto* a = at<const Whole>(w, s->a);
  alignas(32) WordOf<Part> out[kParts][32];
  for (int p = 0; p < kParts; ++p)
    for (int i = 0; i < 32; ++i)
      out[p][i] = static_cast<Part>(a[i] >> (8 * sizeof(Part) * static_cast<unsigned>(p)));
  for (unsigned p = 0; p < kParts; ++p) write_lanes(w, s->extra->d[p], out[p]);
  return s + 1;
}

template <typename Whole, typename Part>
const Step* pack(Warp& w, const Step* s) {
  constexpr unsigned kParts = sizeof(Whole) / sizeof(Part);
  alignas(32) Whole out[32] = {};
  for (unsigned p = 0; p < kParts; ++p) {
    const auto* part = at<const WordOf<Part>>(w, s->extra->s[p]);
    for (int i = 0; i < 32; ++i)
      out[i] |= static_cast<Whole>(static_cast<Part>(part[i])) << (8 * sizeof(Part) * p);
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

const Step* unpack_128(Warp& w, const Step* s) {
  const u64* a = at<const u64>(w, s->a);
  write_lanes(w, s->extra->d[0], a);
  write_lanes(w, s->extra->d[1], a + 32);
  return s + 1;
}
const Step* pack_128(Warp& w, const Step* s) {
  write_lanes(w, s->d, at<const u64>(w, s->extra->s[0]));
  write_lanes(w, s->d + 256, at<const u64>(w, s->extra->s[1]));
  return s + 1;
}

Handler vector_move(const Instruction& in) {
  const bool packs = in.as<program::Move>().way == program::MoveWay::kPack;
  const auto bytes = ptx::size_bytes(in.type);
  if (bytes == 16 && in.vector == 2) return packs ? &pack_128 : &unpack_128;
  if (bytes == 8 && in.vector == 2) return packs ? &pack<u64, u32> : &unpack<u64, u32>;
  if (bytes == 8 && in.vector == 4) return packs ? &pack<u64, u16> : &unpack<u64, u16>;
  if (bytes == 4 && in.vector == 2) return packs ? &pack<u32, u16> : &unpack<u32, u16>;
  if (bytes == 4 && in.vector == 4) return packs ? &pack<u32, u8> : &unpack<u32, u8>;
  if (bytes == 2 && in.vector == 2) return packs ? &pack<u32, u8> : &unpack<u32, u8>;
  return nullptr;
}

template <typename Word>
const Step* local_address(Warp& w, const Step* s) {
  const Word address = static_cast<Word>(w.frame->local_base + static_cast<u64>(s->address.offset));
  alignas(32) Word out[32];
  MEMBOUND_LANES out[i] = address;
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename Word, bool kToSpace>
const Step* convert_window(Warp& w, const Step* s) {
  const LocalWindows windows = s->extra->in->space == StateSpace::kShared
                                   ? LocalWindows{w.launch->shared_window}
                                   : local_windows(w);
  const auto* a = at<const Word>(w, s->a);
  alignas(32) Word out[32];
  MEMBOUND_LANES {
    const u64 window = windows.of(i);
    out[i] = static_cast<Word>(kToSpace ? a[i] - window : a[i] + window);
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

Handler convert_address(const Instruction& in) {
  const bool wide = in.d_slots == 2;
  if (in.space == StateSpace::kShared || in.space == StateSpace::kLocal) {
    if (in.as<program::SpaceConversion>().to_space)
      return wide ? &convert_window<u64, true> : &convert_window<u32, true>;
    return wide ? &convert_window<u64, false> : nullptr;
  }
  return wide ? &unary<Copy, u64, u64> : &unary<Copy, u32, u32>;
}

bool is_constant(const Warp& w, u64 address) {
  const auto held = w.launch->request->memory->find(address);
  return held && held->info.kind == memory::AllocationKind::kConstant;
}

const Step* is_in_space(Warp& w, const Step* s) {
  const u64* a = at<const u64>(w, s->a);
  const StateSpace space = s->extra->in->space;
  const u64 shared = w.launch->shared_window;
  const LocalWindows windows = local_windows(w);
  constexpr u64 kSize = memory::AddressSpace::kSharedWindowBytes;
  std::uint32_t hit = 0;
  for (int i = 0; i < 32; ++i) {
    if (space == StateSpace::kConst) {
      hit |= static_cast<std::uint32_t>(is_constant(w, a[i])) << i;
      continue;
    }
    const bool in_shared = a[i] - shared < kSize;
    const bool in_local =
        windows.has(i, a[i]) || other_owner(w, static_cast<std::uint32_t>(i), a[i]);
    const bool holds = space == StateSpace::kShared  ? in_shared
                       : space == StateSpace::kLocal ? in_local
                       : space == StateSpace::kGlobal
                           ? !in_shared && !in_local && !is_constant(w, a[i])
                           : false;
    hit |= static_cast<std::uint32_t>(holds) << i;
  }
  set_predicate(w, s->d, hit);
  return s + 1;
}

template <typename Word>
const Step* read_clock(Warp& w, const Step* s) {
  using program::LiveRegister;
  // The block's own instruction count, as if a warp instruction took a cycle: it only ever grows,
  // and is the same in every run.
  end_run(w, s);
  w.run_begin = s;
  const u64 cycles = w.worker->instructions - w.block->instructions;
  const u64 ns = static_cast<u64>(static_cast<double>(cycles) / w.launch->request->clock_ghz);
  u64 value = cycles;
  switch (s->extra->in->as<program::LiveRead>().id) {
    case LiveRegister::kClockHi:
      value = cycles >> 32;
      break;
    case LiveRegister::kGlobalTimer:
    case LiveRegister::kGlobalTimerLo:
      value = ns;
      break;
    case LiveRegister::kGlobalTimerHi:
      value = ns >> 32;
      break;
    default:
      break;
  }
  alignas(32) Word out[32];
  MEMBOUND_LANES out[i] = static_cast<Word>(value);
  write_lanes(w, s->d, out);
  return s + 1;
}

}  // namespace

Handler select_move(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kMov:
      if (in.as<program::Move>().way != program::MoveWay::kCopy) return vector_move(in);
      if (in.type == ScalarType::kPred) return &move_predicate;
      if (in.d_slots == 4) return &move_128;
      return in.d_slots == 2 ? &unary<Copy, u64, u64> : &unary<Copy, u32, u32>;
    case Opcode::kCvta:
      return convert_address(in);
    case Opcode::kIsspacep:
      return &is_in_space;
    case Opcode::kLocalAddress:
      return in.d_slots == 2 ? &local_address<u64> : &local_address<u32>;
    case Opcode::kReadSpecial:
      return in.d_slots == 2 ? &read_clock<u64> : &read_clock<u32>;
    default:
      return program::info_of(in.opcode).family == program::Family::kNothing ? &nothing : nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
