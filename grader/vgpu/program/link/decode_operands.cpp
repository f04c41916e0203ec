// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operands of a PTX instruction as Values: registers, immediates, symbols, special registers; and
/// the instructions that have nothing but operands.
#include <array>
#include <bit>
#include <charconv>
#include <string>

#include "grader/vgpu/program/link/decoder.hpp"

namespace membound::vgpu::program {
namespace {

using ptx::OperandKind;
using ptx::ReferenceKind;
using ptx::ScalarType;
using ptx::StateSpace;

struct NamedPlace {
  std::string_view name;
  ValueKind kind;
  std::uint32_t index;
};

constexpr std::array kPlaces = {
    NamedPlace{"%tid.x", ValueKind::kWarp, kTidX},
    NamedPlace{"%tid.y", ValueKind::kWarp, kTidY},
    NamedPlace{"%tid.z", ValueKind::kWarp, kTidZ},
    NamedPlace{"%warpid", ValueKind::kWarp, kWarpId},
    NamedPlace{"%ctaid.x", ValueKind::kBlock, kCtaidX},
    NamedPlace{"%ctaid.y", ValueKind::kBlock, kCtaidY},
    NamedPlace{"%ctaid.z", ValueKind::kBlock, kCtaidZ},
    NamedPlace{"%clusterid.x", ValueKind::kBlock, kCtaidX},
    NamedPlace{"%clusterid.y", ValueKind::kBlock, kCtaidY},
    NamedPlace{"%clusterid.z", ValueKind::kBlock, kCtaidZ},
    NamedPlace{"%smid", ValueKind::kBlock, kSmId},
};

struct NamedRegister {
  std::string_view name;
  LaunchRegister id;
};

// Clusters hold one block each here: rank 0 of 1.
constexpr std::array kLaunchRegisters = {
    NamedRegister{"%ntid.x", LaunchRegister::kNtidX},
    NamedRegister{"%ntid.y", LaunchRegister::kNtidY},
    NamedRegister{"%ntid.z", LaunchRegister::kNtidZ},
    NamedRegister{"%nctaid.x", LaunchRegister::kNctaidX},
    NamedRegister{"%nctaid.y", LaunchRegister::kNctaidY},
    NamedRegister{"%nctaid.z", LaunchRegister::kNctaidZ},
    NamedRegister{"%nclusterid.x", LaunchRegister::kNctaidX},
    NamedRegister{"%nclusterid.y", LaunchRegister::kNctaidY},
    NamedRegister{"%nclusterid.z", LaunchRegister::kNctaidZ},
    NamedRegister{"%laneid", LaunchRegister::kLaneId},
    NamedRegister{"%lanemask_eq", LaunchRegister::kLaneMaskEq},
    NamedRegister{"%lanemask_lt", LaunchRegister::kLaneMaskLt},
    NamedRegister{"%lanemask_le", LaunchRegister::kLaneMaskLe},
    NamedRegister{"%lanemask_gt", LaunchRegister::kLaneMaskGt},
    NamedRegister{"%lanemask_ge", LaunchRegister::kLaneMaskGe},
    NamedRegister{"%nwarpid", LaunchRegister::kNwarpid},
    NamedRegister{"%nsmid", LaunchRegister::kNsmid},
    NamedRegister{"%gridid", LaunchRegister::kGridId},
    NamedRegister{"%dynamic_smem_size", LaunchRegister::kDynamicShared},
    NamedRegister{"%total_smem_size", LaunchRegister::kTotalShared},
    NamedRegister{"%aggr_smem_size", LaunchRegister::kAggregateShared},
    NamedRegister{"%cluster_nctarank", LaunchRegister::kOne},
    NamedRegister{"%cluster_nctaid.x", LaunchRegister::kOne},
    NamedRegister{"%cluster_nctaid.y", LaunchRegister::kOne},
    NamedRegister{"%cluster_nctaid.z", LaunchRegister::kOne},
};

/// A number as the bits a register of `type` would hold.
std::uint64_t literal_bits(const ptx::Operand& operand, ScalarType type) {
  switch (operand.kind) {
    case OperandKind::kFloat32:
      if (type == ScalarType::kF64)
        return std::bit_cast<std::uint64_t>(
            double{std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))});
      return operand.bits & 0xFFFFFFFFu;
    case OperandKind::kFloat64:
      if (type == ScalarType::kF32)
        return std::bit_cast<std::uint32_t>(
            static_cast<float>(std::bit_cast<double>(operand.bits)));
      return operand.bits;
    default:
      return operand.bits;
  }
}

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

Value Decoder::constant(Constant::Kind kind, std::uint64_t bits, std::uint8_t slots,
                        std::uint32_t index, ScalarType type) {
  if (slots == 1 && kind == Constant::Kind::kLiteral) bits &= 0xFFFFFFFFu;
  const auto key = std::make_tuple(static_cast<int>(kind), static_cast<int>(type),
                                   static_cast<int>(slots), index, bits);
  const auto [place, added] = constants_.try_emplace(key, out_->constant_slot_count);
  if (added) {
    out_->constants.push_back({kind, type, slots, index, bits});
    out_->constant_slots.push_back(out_->constant_slot_count);
    out_->constant_slot_count += slots;
  }
  return {ValueKind::kConstant, false, place->second};
}

std::uint8_t Decoder::operand_slots(const ptx::Operand& operand, ScalarType type) const {
  if (operand.kind == OperandKind::kRegister && operand.reference.kind == ReferenceKind::kRegister)
    return slots_of(source_.group_of(operand.reference.index).type);
  return slots_of(type);
}

Value Decoder::register_value(const ptx::Operand& operand) {
  const std::uint32_t number = operand.reference.index;
  const ptx::RegisterGroup& group = source_.group_of(number);
  if (group.type == ScalarType::kPred) return {ValueKind::kPredicate, operand.negated, number};
  return {ValueKind::kRegister, false, number};
}

Value Decoder::special_value(std::string_view name, ScalarType type) {
  const std::uint8_t slots = std::max<std::uint8_t>(1, slots_of(type));
  for (const NamedPlace& place : kPlaces) {
    if (place.name == name && slots == 1) return {place.kind, false, place.index};
  }
  const auto launch_register = [&](LaunchRegister id, std::uint32_t extra = 0) {
    return constant(Constant::Kind::kSpecial, 0, slots, static_cast<std::uint32_t>(id) + extra);
  };
  for (const NamedRegister& entry : kLaunchRegisters) {
    if (entry.name == name) return launch_register(entry.id);
  }
  if (name.starts_with("%envreg")) {
    facts_->uses_grid_sync = true;
    std::uint8_t number = 0;  // of 32
    std::from_chars(name.data() + 7, name.data() + name.size(), number);
    return launch_register(LaunchRegister::kEnvironment, number);
  }
  return launch_register(LaunchRegister::kZero);
}

std::optional<FrameField> Decoder::frame_field(const ptx::Reference& reference) const {
  switch (reference.kind) {
    case ReferenceKind::kReturn:
      if (source_.is_entry) return std::nullopt;
      return out_->signature.fields[reference.index];
    case ReferenceKind::kParameter:
      if (source_.is_entry) return std::nullopt;
      return out_->signature.fields[source_.returns.size() + reference.index];
    case ReferenceKind::kVariable: {
      const ptx::Variable& variable = source_.variables[reference.index];
      if (variable.space == StateSpace::kLocal || variable.space == StateSpace::kParam)
        return FrameField{variable_offset_[reference.index],
                          static_cast<std::uint32_t>(variable.size_bytes)};
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Value Decoder::symbol_value(const ptx::Operand& operand, ScalarType type, bool generic) {
  const ptx::Reference& reference = operand.reference;
  const std::uint8_t slots = std::max<std::uint8_t>(1, slots_of(type));
  const auto shared = [&](std::uint64_t offset, bool dynamic) {
    if (dynamic) facts_->uses_dynamic_shared = true;
    if (generic)
      return constant(
          dynamic ? Constant::Kind::kSharedWindowDynamic : Constant::Kind::kSharedWindow, offset,
          slots);
    return constant(dynamic ? Constant::Kind::kDynamicShared : Constant::Kind::kLiteral, offset,
                    slots);
  };
  switch (reference.kind) {
    case ReferenceKind::kGlobal: {
      const SymbolPlace& place = symbols_.globals[reference.index];
      if (place.kind == SymbolPlace::Kind::kGlobal)
        return constant(Constant::Kind::kGlobal, operand.bits, slots, place.index);
      return shared(place.offset_bytes + operand.bits,
                    place.kind == SymbolPlace::Kind::kDynamicShared);
    }
    case ReferenceKind::kVariable: {
      const ptx::Variable& variable = source_.variables[reference.index];
      if (variable.space != StateSpace::kShared) return {};
      return shared(variable_offset_[reference.index] + operand.bits, variable.size_bytes == 0);
    }
    case ReferenceKind::kFunction:
      return constant(Constant::Kind::kFunction, 0, slots, symbols_.functions[reference.index]);
    case ReferenceKind::kParameter: {
      if (!source_.is_entry) return {};
      facts_->takes_parameter_addresses = true;
      // The offset is that of the parameter in the launch's buffer; lay_out_parameters agrees.
      const auto layout = lay_out_call({}, source_.parameters);
      return constant(Constant::Kind::kParameterAddress,
                      layout->fields[reference.index].offset_bytes + operand.bits, slots);
    }
    default:
      return {};
  }
}

bool Decoder::source(const ptx::Operand& operand, ScalarType type, Value& to) {
  to = value(operand, type);
  return static_cast<bool>(to);
}

Decoder::Operands Decoder::elements(Operands operands, std::size_t index) {
  const ptx::Operand& at = operands[index];
  return at.kind == OperandKind::kVector ? Operands(at.children) : operands.subspan(index, 1);
}

Value Decoder::value(const ptx::Operand& operand, ScalarType type) {
  const bool predicate = type == ScalarType::kPred;
  switch (operand.kind) {
    case OperandKind::kRegister: {
      if (operand.reference.kind == ReferenceKind::kRegister) {
        const Value held = register_value(operand);
        if ((held.kind == ValueKind::kPredicate) == predicate) return held;
      } else if (!predicate && !operand.reference.name.starts_with("%reserved_smem")) {
        return special_value(operand.reference.name, type);
      }
      refused_ = true;
      return {};
    }
    case OperandKind::kInteger:
    case OperandKind::kFloat32:
    case OperandKind::kFloat64:
      if (predicate) return {ValueKind::kTrue, (operand.bits == 0) != operand.negated, 0};
      return constant(Constant::Kind::kLiteral, literal_bits(operand, type), slots_of(type));
    case OperandKind::kSymbol:
      if (!predicate) return symbol_value(operand, type, false);
      break;
    default:
      break;
  }
  refused_ = refused_ || predicate;
  return {};
}

/// A register to write; none for `_`. Whether it is to be a predicate, emit() asks.
Value Decoder::destination(const ptx::Operand& operand) {
  if (operand.kind == OperandKind::kSink) return {};
  if (operand.kind == OperandKind::kRegister &&
      operand.reference.kind == ReferenceKind::kRegister && !operand.negated)
    return register_value(operand);
  refused_ = true;
  return {};
}

/// The elements of `{a, b, c, d}`: one to four.
bool Decoder::takes_vector(Operands elements, Instruction& out) {
  if (elements.empty() || elements.size() > 4) return false;
  out.vector = static_cast<std::uint8_t>(elements.size());
  return true;
}

bool Decoder::address(const ptx::Operand& operand, StateSpace space, Value& base, Access& access) {
  if (operand.kind != OperandKind::kAddress) return false;
  access.offset = static_cast<std::int64_t>(operand.bits);
  const ptx::Reference& reference = operand.reference;
  if (reference.kind == ReferenceKind::kNone) {
    base = constant(Constant::Kind::kLiteral, 0, 2);
    return true;
  }
  if (reference.kind == ReferenceKind::kRegister) {
    const std::uint8_t slots = slots_of(source_.group_of(reference.index).type);
    if (slots != 1 && slots != 2) return false;
    base = {ValueKind::kRegister, false, reference.index};
    access.address_bits = slots == 2 ? 64 : 32;
    return true;
  }
  if (const auto field = frame_field(reference)) {
    access.in_frame = true;
    access.offset = static_cast<std::int64_t>(operand.bits + field->offset_bytes);
    base = constant(Constant::Kind::kLiteral, 0, 2);
    return true;
  }
  ptx::Operand symbol = operand;
  symbol.bits = 0;
  base = symbol_value(symbol, ScalarType::kB64, space == StateSpace::kNone);
  return static_cast<bool>(base);
}

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
