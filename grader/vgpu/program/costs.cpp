// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/costs.hpp"

#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

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
