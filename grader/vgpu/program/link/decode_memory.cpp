// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operands of what touches memory: loads, stores, atomics, asynchronous copies, mbarriers,
/// textures and surfaces.
#include "grader/vgpu/program/link/decoder.hpp"

namespace membound::vgpu::program {

using ptx::OperandKind;
using ptx::ReferenceKind;
using ptx::ScalarType;
using ptx::StateSpace;

/// A kernel parameter is known at launch: its load becomes a move from a constant.
bool Decoder::load_parameter(Operands ops, Instruction& out) {
  const std::vector<FrameField> fields = lay_out_call({}, source_.parameters)->fields;
  const std::uint32_t bytes = ptx::size_bytes(out.type);
  const Operands targets = elements(ops, 0);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Instruction move = out;
    move.opcode = Opcode::kMov;
    move.unit = Unit::kMove;
    move.vector = 1;
    move.detail = {};
    move.d[0] = destination(targets[i]);
    move.d_slots = move.s_slots = operand_slots(targets[i], out.type);
    move.s[0] = constant(Constant::Kind::kParameter,
                         fields[ops[1].reference.index].offset_bytes + ops[1].bits + i * bytes,
                         move.d_slots, 0, out.type);
    move.type = move.d_slots == 4   ? ScalarType::kB128
                : move.d_slots == 2 ? ScalarType::kB64
                                    : ScalarType::kB32;
    if (i + 1 == targets.size()) {
      out = move;
    } else if (move.d[0]) {
      move.flags |= kHidden;
      emit(move);
    }
  }
  return true;
}

bool Decoder::read_load(Operands ops, Instruction& out) {
  if (ops.size() < 2 || ops[1].kind != OperandKind::kAddress || !has_size(out)) return false;
  const ReferenceKind named = ops[1].reference.kind;
  if (out.space == StateSpace::kParam) {
    if (source_.is_entry && named == ReferenceKind::kParameter) return load_parameter(ops, out);
    if (source_.is_entry && named == ReferenceKind::kRegister) {
      out.space = StateSpace::kConst;  // through the address of a parameter
      out.flags |= kConstantMemory;
      facts_->takes_parameter_addresses = true;
    } else {
      out.space = StateSpace::kLocal;
    }
    out.flags |= kParamMemory;
    out.unit = Unit::kMove;
  }
  const Operands targets = elements(ops, 0);
  if (!takes_vector(targets, out)) return false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    out.d[i] = destination(targets[i]);
    if (out.d[i]) out.d_slots = operand_slots(targets[i], out.type);
  }
  return address(ops[1], out.space, out.s[0], out.make<Access>());
}

bool Decoder::read_store(Operands ops, Instruction& out) {
  if (ops.size() < 2 || !has_size(out)) return false;
  if (out.space == StateSpace::kParam) {
    out.space = StateSpace::kLocal;
    out.flags |= kParamMemory;
    out.unit = Unit::kMove;
  }
  const Operands sources = elements(ops, 1);
  if (!takes_vector(sources, out)) return false;
  out.s_slots = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!source(sources[i], out.type, out.s[1 + i])) return false;
    const std::uint8_t slots = operand_slots(sources[i], out.type);
    if (out.s_slots != 0 && out.s_slots != slots) return false;
    out.s_slots = slots;
  }
  return address(ops[0], out.space, out.s[0], out.make<Access>());
}

bool Decoder::read_atomic(Operands ops, Instruction& out, bool gives_result) {
  auto& atomic = out.make<AtomicAccess>();
  std::size_t next = 0;
  if (ops.size() < (gives_result ? 3u : 2u) || !has_size(out)) return false;
  if (gives_result) {
    const Operands targets = elements(ops, 0);
    if (!takes_vector(targets, out)) return false;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      out.d[i] = destination(targets[i]);
      out.d_slots = operand_slots(targets[i], out.type);
    }
    ++next;
  }
  if (!address(ops[next++], out.space, out.s[0], atomic.at)) return false;
  const Operands sources = elements(ops, next);
  if (!takes_vector(sources, out)) return false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!source(sources[i], out.type, out.s[1 + i])) return false;
  }
  ++next;
  if (atomic.operation == Atomic::kCas) {
    if (next >= ops.size()) return false;
    if (!source(ops[next], out.type, out.s[2])) return false;
  }
  out.s_slots = operand_slots(sources[0], out.type);
  if (!gives_result || !out.d[0]) out.flags |= kResultUnused;
  return atomic.operation != Atomic::kNone;
}

bool Decoder::read_async(const ptx::Instruction& in, Instruction& out) {
  const Operands ops = in.operands;
  for (const char* other : {".reduce", ".tensor", ".prefetch", ".multicast::cluster", ".cp_mask"}) {
    if (in.has_suffix(other)) return false;
  }
  if (in.has_suffix(".bulk")) return read_bulk(in, out);
  auto& copy = out.make<AsyncCopy>();
  if (in.has_suffix(".commit_group")) return copy.mode = CopyMode::kCommit, true;
  if (in.has_suffix(".wait_all")) return copy.mode = CopyMode::kWaitAll, true;
  if (in.has_suffix(".wait_group")) {
    copy.mode = CopyMode::kWaitGroup;
    if (ops.size() != 1) return false;
    copy.groups = static_cast<std::uint32_t>(ops[0].bits);
    return true;
  }
  if (in.has_suffix(".mbarrier")) {
    copy.mode = CopyMode::kArrive;
    return ops.size() == 1 && address(ops[0], out.space, out.s[0], copy.to);
  }
  if (ops.size() < 3 || ops[2].kind != OperandKind::kInteger) return false;
  const std::uint64_t bytes = ops[2].bits;
  if (bytes != 16 && (in.has_suffix(".cg") || (bytes != 4 && bytes != 8))) return false;
  copy.bytes = static_cast<std::uint8_t>(bytes);
  Access from;
  if (!address(ops[1], StateSpace::kNone, out.s[1], from)) return false;
  if (from.address_bits != 64 || !address(ops[0], out.space, out.s[0], copy.to)) return false;
  copy.from_offset = from.offset;
  if (ops.size() > 3 && !in.has_suffix(".L2::cache_hint")) {
    if (!source(ops[3], ScalarType::kU32, out.s[2])) return false;
  }
  return true;
}

/// One dimension: to, from, size, and to shared memory the mbarrier that hears of it.
bool Decoder::read_bulk(const ptx::Instruction& in, Instruction& out) {
  const Operands ops = in.operands;
  auto& copy = out.make<AsyncCopy>();
  if (in.has_suffix(".commit_group") || in.has_suffix(".wait_group"))
    return copy.mode = CopyMode::kBulkNothing, true;
  const bool loads = in.has_suffix(".mbarrier::complete_tx::bytes");
  if (!loads && !in.has_suffix(".bulk_group")) return false;
  if (ops.size() < (loads ? 4u : 3u)) return false;
  copy.mode = loads ? CopyMode::kBulkLoad : CopyMode::kBulkStore;
  out.s[2] = value(ops[2], ScalarType::kU32);
  return out.s[2] && address(ops[0], StateSpace::kNone, out.s[0], copy.to) &&
         address(ops[1], StateSpace::kNone, out.s[1], copy.from) &&
         (!loads || address(ops[3], StateSpace::kNone, out.s[3], copy.barrier));
}

bool Decoder::read_mbarrier(const ptx::Instruction& in, Instruction& out) {
  const Operands ops = in.operands;
  auto& barrier = out.make<MbarrierOperation>();
  const auto finish = [&](MbarrierMode mode, std::size_t address_at) {
    barrier.mode = mode;
    if (address_at >= ops.size()) return false;
    if (!address(ops[address_at], out.space, out.s[0], barrier.at)) return false;
    if (address_at == 1) out.d[0] = destination(ops[0]);
    return true;
  };
  const auto optional = [&](std::size_t at, ScalarType type) {
    return at >= ops.size() || source(ops[at], type, out.s[1]);
  };
  // Another block's barrier can only be one of its own here: clusters hold one block.
  const bool parity = in.has_suffix(".parity");
  if (in.has_suffix(".init"))
    return finish(MbarrierMode::kInit, 0) && optional(1, ScalarType::kU32);
  if (in.has_suffix(".inval")) return finish(MbarrierMode::kInval, 0);
  if (in.has_suffix(".pending_count")) {
    barrier.mode = MbarrierMode::kPendingCount;
    if (ops.size() != 2) return false;
    out.d[0] = destination(ops[0]);
    return source(ops[1], ScalarType::kB64, out.s[1]);
  }
  if (in.has_suffix(".arrive") || in.has_suffix(".arrive_drop")) {
    const bool returns = !ops.empty() && ops[0].kind != OperandKind::kAddress;
    const auto mode = in.has_suffix(".expect_tx")     ? MbarrierMode::kArriveExpectTx
                      : in.has_suffix(".arrive_drop") ? MbarrierMode::kArriveDrop
                                                      : MbarrierMode::kArrive;
    return finish(mode, returns ? 1 : 0) && optional(returns ? 2 : 1, ScalarType::kU32);
  }
  if (in.has_suffix(".expect_tx"))
    return finish(MbarrierMode::kExpectTx, 0) && optional(1, ScalarType::kU32);
  if (in.has_suffix(".complete_tx"))
    return finish(MbarrierMode::kCompleteTx, 0) && optional(1, ScalarType::kU32);
  if (in.has_suffix(".test_wait") || in.has_suffix(".try_wait")) {
    const bool try_wait = in.has_suffix(".try_wait");
    const auto mode = try_wait ? (parity ? MbarrierMode::kTryWaitParity : MbarrierMode::kTryWait)
                               : (parity ? MbarrierMode::kTestWaitParity : MbarrierMode::kTestWait);
    return finish(mode, 1) && optional(2, parity ? ScalarType::kU32 : ScalarType::kB64);
  }
  return false;
}

bool Decoder::read_texture(const ptx::Instruction& in, Shape shape, Instruction& out) {
  const Operands ops = in.operands;
  const bool store = shape == Shape::kSust;
  const std::size_t place = store ? 0 : 1;
  if (ops.size() < 2 || ops[place].kind != OperandKind::kTuple) return false;
  const Operands tuple = ops[place].children;
  if (tuple.size() != 2) return false;  // a separate sampler
  if (!source(tuple[0], ScalarType::kB64, out.s[0])) return false;
  const ScalarType coordinate = shape == Shape::kTex ? out.type2 : ScalarType::kS32;
  const Operands coordinates = elements(tuple, 1);
  if (coordinates.size() > 4) return false;
  const Geometry geometry =
      shape == Shape::kTex ? out.make<Fetch>().geometry : out.make<SurfaceAccess>().geometry;
  // Only a layer of cubes has four coordinates; elsewhere the fourth is there to fill the vector.
  const std::size_t wanted = geometry == Geometry::kACube ? 4 : 3;
  for (std::size_t i = 0; i < coordinates.size() && i < wanted; ++i) {
    if (!source(coordinates[i], coordinate, out.s[1 + i])) return false;
  }
  if (shape == Shape::kTex && !read_level(ops, out.as<Fetch>(), out)) return false;
  const Operands data = elements(ops, 1 - place);
  if (!takes_vector(data, out) || !has_size(out)) return false;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (store) {
      if (!source(data[i], out.type, out.s[4 + i])) return false;
      out.s_slots = operand_slots(data[i], out.type);
    } else {
      out.d[i] = destination(data[i]);
      if (out.d[i]) out.d_slots = operand_slots(data[i], out.type);
    }
  }
  if (out.opcode == Opcode::kSured)
    return out.as<SurfaceAccess>().operation != Atomic::kNone && data.size() == 1;
  return out.opcode != Opcode::kTld4 || data.size() == 4;
}

/// Sources 4 to 7 of a fetch: its level of detail, or how its coordinates change from pixel to
/// pixel: by x, then by y. In three dimensions those are six numbers, and too many.
bool Decoder::read_level(Operands ops, const Fetch& fetch, Instruction& out) {
  if (fetch.level == LevelMode::kNone) return true;
  if (fetch.geometry == Geometry::kACube) return false;
  if (fetch.level == LevelMode::kGiven) {
    if (ops.size() < 3) return false;
    return source(ops[2], ScalarType::kF32, out.s[4]);
  }
  if (ops.size() < 4) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Operands parts = elements(ops, 2 + i);
    if (parts.size() > 2) return false;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (!source(parts[j], ScalarType::kF32, out.s[4 + 2 * i + j])) return false;
    }
  }
  return true;
}

bool Decoder::read_query(const ptx::Instruction& in, Instruction& out) {
  const Operands ops = in.operands;
  if (ops.size() < 2) return false;
  out.d[0] = destination(ops[0]);
  const auto query = in.has_suffix(".width")    ? Query::kWidth
                     : in.has_suffix(".height") ? Query::kHeight
                     : in.has_suffix(".depth")  ? Query::kDepth
                                                : Query::kOther;
  out.make<TextureQuery>().what = query;
  Access handle;
  if (!address(ops[1], ptx::StateSpace::kGlobal, out.s[0], handle) || handle.offset != 0 ||
      out.s[0].kind != ValueKind::kRegister || handle.address_bits != 64)
    return false;
  return query != Query::kOther;
}

}  // namespace membound::vgpu::program
