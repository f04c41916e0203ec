// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <unordered_map>

#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

constexpr OpcodeInfo row(Opcode opcode, std::string_view name, Unit unit, Shape shape,
                         std::string_view section, std::string_view doc) {
  return {opcode, name, unit, shape, section, doc};
}

using enum Unit;
using enum Shape;
constexpr std::array kRows = {
#define MEMBOUND_OPCODE(id, name, unit, shape, section, doc) \
  row(Opcode::id, name, unit, shape, section, doc),
#include "grader/vgpu/program/opcodes.def"
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

}  // namespace membound::vgpu::program
