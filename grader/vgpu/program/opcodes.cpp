// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <unordered_map>

#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

constexpr std::array kRows = {
#define MEMBOUND_OPCODE(id, name, shape, suffixes, family, results, unit, cost, graded, section, \
                        doc)                                                                     \
  OpcodeInfo{Opcode::id,     name,    Shape::shape, Suffixes::suffixes,                          \
             Family::family, results, Unit::unit,   Cost::cost,                                  \
             section,        doc},
#include "grader/device_code/ptx/opcodes.def"
#undef MEMBOUND_OPCODE
};

}  // namespace

std::span<const OpcodeInfo> all_opcodes() { return kRows; }

const OpcodeInfo* find_opcode(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new std::unordered_map<std::string_view, const OpcodeInfo*>;
    for (const OpcodeInfo& info : kRows) map->emplace(info.name, &info);
    return map;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second;
}

const OpcodeInfo& info_of(Opcode opcode) { return kRows[static_cast<std::size_t>(opcode)]; }

bool accesses_memory(const Instruction& in) {
  switch (shape_of(in)) {
    case Shape::kLoad:
    case Shape::kStore:
    case Shape::kAtom:
    case Shape::kRed:
    case Shape::kCpAsync:
      return true;
    default:
      return false;
  }
}

Cost cost_of(const Instruction& in) {
  const Cost cost = info_of(in.opcode).cost;
  const bool doubles = in.type == ptx::ScalarType::kF64 || in.type2 == ptx::ScalarType::kF64;
  if (in.unit == Unit::kFloat64 || (cost == Cost::kSfu && doubles)) return Cost::kFp64;
  if (cost != Cost::kByType) return cost;
  return ptx::is_float(in.type) ? Cost::kFma : Cost::kAlu;
}

}  // namespace membound::vgpu::program
