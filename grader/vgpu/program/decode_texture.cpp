// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operands of textures and surfaces: what is fetched, where, and at which level of detail.
#include "grader/vgpu/program/decoder.hpp"

namespace membound::vgpu::program {

using ptx::OperandKind;
using ptx::ScalarType;

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
