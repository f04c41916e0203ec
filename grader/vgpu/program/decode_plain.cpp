// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operands of the lane-wise instructions: arithmetic, comparisons, moves, conversions.
#include <array>

#include "grader/vgpu/program/decoder.hpp"

namespace membound::vgpu::program {
namespace {

using ptx::OperandKind;
using ptx::ReferenceKind;
using ptx::ScalarType;

ScalarType widened(ScalarType type) {
  switch (type) {
    case ScalarType::kU16:
      return ScalarType::kU32;
    case ScalarType::kS16:
      return ScalarType::kS32;
    case ScalarType::kU32:
      return ScalarType::kU64;
    case ScalarType::kS32:
      return ScalarType::kS64;
    default:
      return type;
  }
}

/// Type that source `index` of an instruction of this shape is read as.
ScalarType source_type(Shape shape, const Instruction& in, std::size_t index) {
  switch (shape) {
    case Shape::kDAn:
    case Shape::kDAnn:
      return index >= 1 ? ScalarType::kU32 : in.type;
    case Shape::kDABnn:
      return index >= 2 ? ScalarType::kU32 : in.type;
    case Shape::kDnn:
    case Shape::kDnnn:
    case Shape::kLop3:
      return ScalarType::kB32;
    case Shape::kDABP:
    case Shape::kSetp:
      return index == 2 ? ScalarType::kPred : in.type;
    case Shape::kSet:
      return index == 2 ? ScalarType::kPred : in.type2;
    case Shape::kSlct:
      return index == 2 ? in.type2 : in.type;
    case Shape::kCvt:
      return in.as<Packing>().packs && index == 2 ? ScalarType::kB32 : in.type2;
    case Shape::kDAddress:
      return ScalarType::kU64;
    default:
      return in.has(kWide) && index == 2 ? widened(in.type) : in.type;
  }
}

struct LiveName {
  std::string_view name;
  LiveRegister id;
};
constexpr std::array kLiveNames = {
    LiveName{"%clock", LiveRegister::kClock},
    LiveName{"%clock_hi", LiveRegister::kClockHi},
    LiveName{"%clock64", LiveRegister::kClock64},
    LiveName{"%globaltimer", LiveRegister::kGlobalTimer},
    LiveName{"%globaltimer_lo", LiveRegister::kGlobalTimerLo},
    LiveName{"%globaltimer_hi", LiveRegister::kGlobalTimerHi},
};

}  // namespace

bool Decoder::read_plain(Operands ops, Shape shape, Instruction& out) {
  if (shape == Shape::kPolicy || shape == Shape::kDest) {
    if (ops.empty()) return false;
    out.d[0] = destination(ops[0]);
    if (shape == Shape::kPolicy) {
      out.opcode = Opcode::kMov;
      out.type = ScalarType::kB64;
      out.s[0] = constant(Constant::Kind::kLiteral, 0, 2);
    }
    out.d_slots = operand_slots(ops[0], out.type);
    return true;
  }
  if (shape == Shape::kSleep || shape == Shape::kSourceOnly) {
    out.s[0] = ops.empty() ? Value{} : value(ops[0], ScalarType::kU32);
    if (!ops.empty()) out.s_slots = operand_slots(ops[0], ScalarType::kU32);
    return !ops.empty();
  }
  if (ops.size() < 2) return false;
  const bool pair = ops[0].kind == OperandKind::kPair;
  out.d[0] = destination(pair ? ops[0].children[0] : ops[0]);
  if (pair) out.d[1] = destination(ops[0].children[1]);
  out.d_slots = operand_slots(pair ? ops[0].children[0] : ops[0], out.type);
  std::size_t sources = ops.size() - 1;
  if (shape == Shape::kLop3) {
    if (sources < 4 || pair) return false;
    out.make<TruthTable>().table = static_cast<std::uint8_t>(ops[4].bits);
    sources = 3;
  }
  if (sources > 4) return false;
  for (std::size_t i = 0; i < sources; ++i) {
    const ScalarType type = source_type(shape, out, i);
    if (!source(ops[i + 1], type, out.s[i])) return false;
    if (i == 0) out.s_slots = operand_slots(ops[1], type);
  }
  return true;
}

bool Decoder::read_move(Operands ops, Instruction& out) {
  if (ops.size() != 2) return false;
  const ptx::Operand& to = ops[0];
  const ptx::Operand& from = ops[1];
  if (to.kind == OperandKind::kVector) {  // unpack
    if (!takes_vector(to.children, out)) return false;
    out.make<Move>().way = MoveWay::kUnpack;
    for (std::size_t i = 0; i < to.children.size(); ++i) {
      out.d[i] = destination(to.children[i]);
      if (out.d[i]) out.d_slots = operand_slots(to.children[i], out.type);
    }
    return source(from, out.type, out.s[0]);
  }
  out.d[0] = destination(to);
  out.d_slots = operand_slots(to, out.type);
  if (from.kind == OperandKind::kVector) {  // pack
    if (!takes_vector(from.children, out)) return false;
    out.make<Move>().way = MoveWay::kPack;
    const std::uint32_t part = ptx::size_bytes(out.type) / out.vector;
    const ScalarType type = part == 8   ? ScalarType::kB64
                            : part == 4 ? ScalarType::kB32
                            : part == 2 ? ScalarType::kB16
                                        : ScalarType::kB8;
    for (std::size_t i = 0; i < from.children.size(); ++i) {
      if (!source(from.children[i], type, out.s[i])) return false;
    }
    return true;
  }
  if (from.kind == OperandKind::kRegister &&
      from.reference.kind == ReferenceKind::kSpecialRegister) {
    for (const LiveName& live : kLiveNames) {
      if (live.name != from.reference.name) continue;
      out.opcode = Opcode::kReadSpecial;
      out.make<LiveRead>().id = live.id;
      return true;
    }
  }
  if (from.kind == OperandKind::kSymbol) {
    if (const auto field = frame_field(from.reference)) {
      out.opcode = Opcode::kLocalAddress;
      out.make<FrameAddress>().offset = static_cast<std::int64_t>(field->offset_bytes + from.bits);
      return true;
    }
  }
  out.s[0] = value(from, out.type);
  if (out.s[0]) out.s_slots = operand_slots(from, out.type);
  return static_cast<bool>(out.s[0]);
}

}  // namespace membound::vgpu::program
