// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/opcode_table.hpp"

#include <array>
#include <unordered_map>

#include "grader/vgpu/program/module.hpp"

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

bool is_wide(const Instruction& in) { return ptx::size_bytes(in.type) == 8; }

bool touches_doubles(const Instruction& in) {
  return in.type == ptx::ScalarType::kF64 || in.type2 == ptx::ScalarType::kF64;
}

/// Integers of other sizes are a matter of registers.
Cost conversion(const Instruction& in) {
  if (touches_doubles(in)) return Cost::kConvert64;
  return ptx::is_float(in.type) || ptx::is_float(in.type2) ? Cost::kConvert : Cost::kMove;
}

Cost division(const Instruction& in) {
  if (touches_doubles(in)) return Cost::kDivideFp64;
  if (ptx::is_float(in.type))
    return in.has(kApprox) || in.has(kFull) ? Cost::kSfu : Cost::kDivideFloat;
  return is_wide(in) ? Cost::kDivide64 : Cost::kDivide;
}

Cost special(const Instruction& in, Cost rounded) {
  if (touches_doubles(in)) return Cost::kDivideFp64;
  return in.has(kApprox) || in.opcode == Opcode::kRsqrt ? Cost::kSfu : rounded;
}

Cost arithmetic(const Instruction& in, Cost of_integers) {
  if (in.unit == Unit::kFloat64) return Cost::kFp64;
  if (ptx::is_float(in.type)) return Cost::kFma;
  if (in.opcode == Opcode::kAdd || in.opcode == Opcode::kSub)
    return is_wide(in) ? Cost::kAdd64 : Cost::kAdd;
  if (of_integers == Cost::kAlu && is_wide(in)) return Cost::kAlu64;
  return of_integers == Cost::kMultiply && is_wide(in) ? Cost::kWideMultiply : of_integers;
}

/// membar.gl, fence.acq_rel.gpu: the scope is the last word.
Cost fence(const Instruction& in) {
  if (in.mnemonic.find(".sys") != std::string_view::npos) return Cost::kFenceSystem;
  return in.mnemonic.find(".cta") != std::string_view::npos ? Cost::kFenceBlock
                                                            : Cost::kFenceDevice;
}

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

bool may_be_global(const Instruction& in) {
  return in.space == ptx::StateSpace::kGlobal || in.space == ptx::StateSpace::kNone;
}

bool talks(const Instruction& in) {
  const Atomic operation = in.as<AtomicAccess>().operation;
  switch (in.opcode) {
    case Opcode::kAtom:
    case Opcode::kRed:
      if (!may_be_global(in)) return false;
      return !in.has(kResultUnused) || operation == Atomic::kExch || operation == Atomic::kCas ||
             (ptx::is_float(in.type) && operation != Atomic::kAdd);
    case Opcode::kLd:
      return may_be_global(in) && in.order != Order::kWeak;
    default:
      return false;
  }
}

bool counts_arrivals(const Instruction& in) {
  if (in.opcode != Opcode::kAtom || !talks(in)) return false;
  const Atomic operation = in.as<AtomicAccess>().operation;
  return (operation == Atomic::kAdd && !ptx::is_float(in.type)) || operation == Atomic::kInc ||
         operation == Atomic::kDec;
}

Cost cost_of(const Instruction& in) {
  if (in.fused) return Cost::kNone;
  const Cost cost = info_of(in.opcode).cost;
  switch (cost) {
    case Cost::kByType:
      return arithmetic(in, Cost::kAlu);
    case Cost::kMultiply:
      return arithmetic(in, cost);
    case Cost::kConvert:
      return conversion(in);
    case Cost::kDivide:
      return division(in);
    case Cost::kDivideFloat:
    case Cost::kRoot:
      return special(in, cost);
    case Cost::kAlu:
      if (in.unit == Unit::kFloat64) return Cost::kFp64;
      return is_wide(in) && !ptx::is_float(in.type) ? Cost::kAlu64 : cost;
    case Cost::kFenceDevice:
      return fence(in);
    case Cost::kBarrier:
      return in.as<BlockBarrier>().mode == BarrierMode::kWarp ? Cost::kWarpBarrier : cost;
    case Cost::kLsu:
      return in.has(kParamMemory) ? Cost::kMove : cost;
    default:
      return cost;
  }
}

Cost cost_of(const Function& function, const Instruction& in) {
  if (in.opcode != Opcode::kCall) return cost_of(in);
  const std::uint32_t call = in.as<CallSite>().call;
  const bool runtime =
      call < function.calls.size() && function.calls[call].builtin != Builtin::kNone;
  return runtime ? Cost::kRuntimeCall : Cost::kCall;
}

}  // namespace membound::vgpu::program
