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

/// and.pred, selp.pred, mov.pred: all operands are predicates.
bool is_on_predicates(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kSelp:
    case Opcode::kMov:
      return in.type == ptx::ScalarType::kPred;
    default:
      return false;
  }
}

bool reads_predicate(const Instruction& in, std::size_t index) {
  switch (shape_of(in)) {
    case Shape::kDABP:
    case Shape::kSetp:
    case Shape::kSet:
      return index == 2 || is_on_predicates(in);
    case Shape::kBar:
      return index == 2;
    case Shape::kVote:
      return index == 0;
    default:
      return is_on_predicates(in);
  }
}

bool writes_predicate(const Instruction& in, std::size_t index) {
  if (is_on_predicates(in)) return true;
  switch (shape_of(in)) {
    case Shape::kSetp:
    case Shape::kDAddress:
      return true;
    case Shape::kShfl:
    case Shape::kMatch:
    case Shape::kElect:
      return index == 1;
    case Shape::kVote:
      return in.as<Vote>().mode != VoteMode::kBallot;
    case Shape::kMbarrier: {
      const MbarrierMode mode = in.as<MbarrierOperation>().mode;
      return mode >= MbarrierMode::kTestWait && mode <= MbarrierMode::kTryWaitParity;
    }
    case Shape::kBar: {
      const auto& barrier = in.as<BlockBarrier>();
      return barrier.mode == BarrierMode::kRed && barrier.operation != Atomic::kPopc;
    }
    default:
      return in.opcode == Opcode::kTestp;
  }
}

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

}  // namespace membound::vgpu::program
