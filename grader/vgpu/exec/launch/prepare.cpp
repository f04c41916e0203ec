// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/prepare.hpp"

#include <algorithm>
#include <limits>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/lanes/issued_accesses.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/launch/launch_constants.hpp"
#include "grader/vgpu/exec/launch/path_weights.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/program/machine_accesses.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::exec {
namespace {

/// The handler of what has none.
const Step* unsupported(Warp& w, const Step* s) {
  return raise(w, s, FaultKind::kUnsupportedInstruction,
               static_cast<std::uint32_t>(__builtin_ctz(w.mask)), 0,
               describe_unsupported(*s->extra->in));
}

using program::Family;
using program::Function;
using program::Instruction;
using program::Opcode;
using program::Shape;
using program::Unit;
using program::Value;
using program::ValueKind;

constexpr std::uint32_t kScratchSlots = 4;       ///< for destinations nobody named
constexpr std::uint32_t kMostSlots = 1u << 23;   ///< of an area: a Ref has 30 bits for bytes
constexpr std::uint32_t kScratchPredicates = 2;  ///< "always", and a sink

/// The door to registers, constants and predicates: a place inside its area, or none. Handlers read
/// and write up to four slots from a place on; every area has three more behind its last.
Ref ref_of(const Value& value, const Function& function) {
  const auto slot = [&](Area area, std::uint32_t slots) {
    MEMBOUND_CHECK(value.index < slots && slots <= kMostSlots);
    return Ref{area} << 30 | value.index * kSlotBytes;
  };
  switch (value.kind) {
    case ValueKind::kRegister:
      return slot(kFrameArea, std::max(1u, function.register_slots));
    case ValueKind::kConstant:
      return slot(kConstantArea, function.constant_slot_count);
    case ValueKind::kWarp:
      return slot(kWarpArea, program::kWarpSlots);
    case ValueKind::kBlock:
      return slot(kBlockArea, program::kBlockSlots);
    case ValueKind::kPredicate:
      MEMBOUND_CHECK(value.index < function.predicate_count);
      return value.index * 2 + value.negated;
    case ValueKind::kTrue:
      return function.predicate_count * 2 + value.negated;
    case ValueKind::kNone:
      break;
  }
  return kFrameArea << 30 | ((function.register_slots + 3) / 4 * 4) * kSlotBytes;
}

/// An operand that is not there has a place too, where its kind has it: the predicate holds.
Ref source_of(const Instruction& in, std::size_t index, const Function& function) {
  const Value& value = in.s[index];
  return value || !program::reads_predicate(in, index) ? ref_of(value, function)
                                                       : function.predicate_count * 2;
}

/// Likewise a destination that nobody wants: it is written, and never read.
Ref destination_of(const Instruction& in, std::size_t index, const Function& function) {
  const Value& value = in.d[index];
  return value || !program::writes_predicate(in, index) ? ref_of(value, function)
                                                        : (function.predicate_count + 1) * 2;
}

/// `length`: of the loop that the branch closes, in instructions.
std::int32_t loop_cost(const Instruction& in, std::ptrdiff_t length) {
  if (!in.has(program::kBackward)) return 0;
  if (in.has(program::kPollLoop)) return kPollCost;
  if (in.has(program::kSpinLoop)) return kSpinCost;
  return static_cast<std::int32_t>(
      std::clamp<std::ptrdiff_t>(length, kLeastLoopCost, kMostLoopCost));
}

/// Arithmetic keeps none: how often it was executed is known of the runs that it lies in.
bool keeps_stats(const Instruction& in) {
  switch (program::info_of(in.opcode).unit) {
    case Unit::kMemory:
    case Unit::kBarrier:
    case Unit::kCollective:
    case Unit::kAtomic:
    case Unit::kTexture:
    case Unit::kAsync:
    case Unit::kTensor:
      return true;
    default:
      return (in.opcode == Opcode::kBra || in.opcode == Opcode::kBrx) && !in.has(program::kHidden);
  }
}

void fill_operand(const FunctionCode& code, const Instruction& in, Step& step) {
  const bool has_second = static_cast<bool>(in.d[1]);
  switch (program::shape_of(in)) {
    case Shape::kSetp:
    case Shape::kSet:
      step.compare = {in.as<program::Compare>().combine, has_second};
      break;
    case Shape::kShfl:
    case Shape::kMatch:
      step.collective = {has_second};
      break;
    case Shape::kLop3:
      step.lop3 = {in.as<program::TruthTable>().table};
      break;
    case Shape::kBra: {
      const auto target = in.as<program::Branch>().target;
      const std::ptrdiff_t here = &in - code.function->code.data();
      step.branch = {code.begin + target, loop_cost(in, here - target)};
      break;
    }
    case Shape::kBrx:
      step.branch = {nullptr, loop_cost(in, kMostLoopCost)};
      break;
    case Shape::kMade:
      step.address = {in.as<program::FrameAddress>().offset};
      break;
    default:
      step.address = {access_of(in).offset};
      break;
  }
}

/// Numbers the steps that access memory, for who remembers which of them touched a place. Those
/// beyond the last number have none.
std::uint16_t number_of(Launch& launch, const Instruction& in, const Step& step) {
  constexpr std::size_t kMostOrigins = std::numeric_limits<std::uint16_t>::max();
  if (!program::accesses_memory(in) || launch.origins.size() > kMostOrigins) return 0;
  launch.origins.push_back(&step);
  return static_cast<std::uint16_t>(launch.origins.size() - 1);
}

/// A branch that could go two ways. Lists of branches have no guard here.
bool may_part_lanes(const Instruction& in) {
  return (in.opcode == Opcode::kBra && in.guard) || (in.opcode == Opcode::kBrx && !in.guard);
}

/// Does it access memory by which warps wait for each other?
bool tells_or_hears(const Instruction& in) {
  const bool moves_data = in.opcode == Opcode::kLd || in.opcode == Opcode::kSt;
  return in.opcode == Opcode::kAtom || in.opcode == Opcode::kRed ||
         (moves_data && in.order != program::Order::kWeak);
}

/// Whether somebody asks how the kernel's threads came past a barrier of their block.
bool notes_branches(const Launch& launch) {
  return launch.request->checks.synccheck &&
         std::ranges::any_of(launch.code.front().function->code, program::is_block_barrier);
}

void fill_step(Launch& launch, std::uint32_t function_index, const Instruction& in, Step& step,
               Extra& extra, Variant variant) {
  const FunctionCode& code = launch.code[function_index];
  const Function& function = *code.function;
  extra.in = &in;
  extra.function = function_index;
  for (std::size_t i = 0; i < in.d.size(); ++i) extra.d[i] = destination_of(in, i, function);
  for (std::size_t i = 0; i < in.s.size(); ++i) extra.s[i] = source_of(in, i, function);
  step.extra = &extra;
  step.d = extra.d[0];
  step.a = extra.s[0];
  step.b = extra.s[1];
  step.c = extra.s[2];
  fill_operand(code, in, step);
  if (in.guard) step.guard = ref_of(in.guard, function);
  step.origin = number_of(launch, in, step);
  if (keeps_stats(in)) step.stats = launch.stats_count++;
  step.handler = choose_handler(in, variant);
  if (in.issued_bytes != program::kAsWritten) {
    extra.as_written = step.handler;
    step.handler = issued_access_handler();
  }
  if (launch.notes_branches && function_index == 0 && may_part_lanes(in)) {
    extra.inner = step.handler;
    step.handler = noted_branch_handler();
  } else if (in.guard && in.opcode != Opcode::kBra) {
    extra.inner = step.handler;
    step.handler = variant == Variant::kAvx2 ? avx2::guarded_handler() : generic::guarded_handler();
  }
  if (launch.request->warp_order_seed && tells_or_hears(in)) {
    extra.whole = step.handler;
    step.handler = pausing_handler();
  }
}

Handler handler_of(const Instruction& in, Variant variant) {
  switch (program::info_of(in.opcode).family) {
    case Family::kAtomic:
      return select_atomic(in);
    case Family::kCollective:
      return select_collective(in);
    case Family::kSync:
      return select_sync(in);
    case Family::kCall:
      return select_call(in);
    case Family::kAsync:
      return select_async(in);
    case Family::kTexture:
      return select_texture(in);
    default:
      return variant == Variant::kAvx2 ? avx2::select(in) : generic::select(in);
  }
}

}  // namespace

Handler unsupported_handler() { return &unsupported; }

Handler choose_handler(const Instruction& in, Variant variant) {
  const Handler handler = in.has(program::kUnsupportedForm) ? nullptr : handler_of(in, variant);
  return handler != nullptr ? handler : &unsupported;
}

void prepare(Launch& launch, Variant variant) {
  const program::Program& program = *launch.request->program;
  const auto functions = program.functions();
  launch.code_of.assign(functions.size(), program::kNoTarget);
  std::size_t total = 0;
  for (const std::uint32_t f : launch.kernel->reachable) {
    launch.code_of[f] = static_cast<std::uint32_t>(launch.code.size());
    FunctionCode& code = launch.code.emplace_back();
    code.function = &functions[f];
    code.register_bytes = ((functions[f].register_slots + 3) / 4 * 4 + kScratchSlots) * kSlotBytes;
    code.predicate_words = functions[f].predicate_count + kScratchPredicates;
    total += functions[f].code.size();
  }
  launch.steps.assign(total + 1, Step{});
  launch.extras.assign(total + 1, Extra{});
  launch.origins.assign(1, nullptr);
  std::size_t at = 0;
  for (FunctionCode& code : launch.code) {
    code.begin = launch.steps.data() + at;
    at += code.function->code.size();
    fill_constants(launch, code);
  }
  launch.notes_branches = notes_branches(launch);
  at = 0;
  for (std::uint32_t f = 0; f < launch.code.size(); ++f) {
    for (const Instruction& in : launch.code[f].function->code) {
      fill_step(launch, f, in, launch.steps[at], launch.extras[at], variant);
      ++at;
    }
  }
  launch.path_weights = path_weights(launch);
  launch.load_round_clocks = static_cast<std::uint32_t>(costs_of(launch).load_round_clocks);
}

}  // namespace membound::vgpu::exec
