// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/prepare.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/critical_path/critical_path.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/program/machine_accesses.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

using program::Constant;
using program::Family;
using program::Function;
using program::Instruction;
using program::LaunchRegister;
using program::Opcode;
using program::Shape;
using program::Unit;
using program::Value;
using program::ValueKind;

std::uint32_t lane_value(LaunchRegister id, std::uint32_t lane) {
  const std::uint32_t bit = 1u << lane;
  switch (id) {
    case LaunchRegister::kLaneId:
      return lane;
    case LaunchRegister::kLaneMaskEq:
      return bit;
    case LaunchRegister::kLaneMaskLt:
      return bit - 1;
    case LaunchRegister::kLaneMaskLe:
      return bit | (bit - 1);
    case LaunchRegister::kLaneMaskGt:
      return ~(bit | (bit - 1));
    case LaunchRegister::kLaneMaskGe:
      return ~(bit - 1);
    default:
      return 0;
  }
}

/// What a block is given: whole units, as on a GPU.
std::uint64_t total_shared_bytes(const Launch& launch) {
  const LaunchRequest& request = *launch.request;
  const std::uint64_t unit = std::max(1u, request.registers.shared_unit_bytes);
  const std::uint64_t asked = program::shared_bytes(*launch.kernel, request.dynamic_shared_bytes);
  return (asked + unit - 1) / unit * unit;
}

std::uint64_t special_value(const Launch& launch, std::uint32_t index, std::uint32_t lane) {
  const LaunchRequest& request = *launch.request;
  const auto environment = static_cast<std::uint32_t>(LaunchRegister::kEnvironment);
  if (index >= environment) {
    // Cooperative groups find the grid barrier's address in envreg1 (high half) and envreg2.
    const std::uint32_t number = index - environment;
    if (number == 1) return launch.grid_barrier_address >> 32;
    if (number == 2) return launch.grid_barrier_address & 0xFFFFFFFFu;
    return 0;
  }
  switch (static_cast<LaunchRegister>(index)) {
    case LaunchRegister::kNtidX:
      return request.block.x;
    case LaunchRegister::kNtidY:
      return request.block.y;
    case LaunchRegister::kNtidZ:
      return request.block.z;
    case LaunchRegister::kNctaidX:
      return request.grid.x;
    case LaunchRegister::kNctaidY:
      return request.grid.y;
    case LaunchRegister::kNctaidZ:
      return request.grid.z;
    case LaunchRegister::kNwarpid:
      return request.registers.warps_per_sm;
    case LaunchRegister::kNsmid:
      return request.sm_count;
    case LaunchRegister::kGridId:
      return request.number;
    case LaunchRegister::kDynamicShared:
      return request.dynamic_shared_bytes;
    case LaunchRegister::kTotalShared:
      return total_shared_bytes(launch);
    case LaunchRegister::kAggregateShared:
      return total_shared_bytes(launch) + request.registers.shared_reserved_bytes;
    case LaunchRegister::kZero:
      return 0;
    case LaunchRegister::kOne:
      return 1;
    default:
      return lane_value(static_cast<LaunchRegister>(index), lane);
  }
}

bool is_signed(ptx::ScalarType type) {
  return type == ptx::ScalarType::kS8 || type == ptx::ScalarType::kS16 ||
         type == ptx::ScalarType::kS32;
}

std::uint64_t parameter_value(const LaunchRequest& request, const Constant& constant,
                              std::uint32_t half) {
  std::uint64_t value = 0;
  const std::uint64_t offset = constant.bits + 8 * half, size = request.parameters.size();
  const std::uint32_t bytes = std::min(8u, ptx::size_bytes(constant.type));
  if (bytes > size || offset > size - bytes) return 0;
  std::memcpy(&value, request.parameters.data() + offset, bytes);
  if (!is_signed(constant.type)) return value;
  const std::uint32_t up = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << up) >> up);
}

std::uint64_t constant_value(const Launch& launch, const Constant& constant, std::uint32_t lane,
                             std::uint32_t half) {
  const LaunchRequest& request = *launch.request;
  const std::uint64_t dynamic = dynamic_shared_begin(*launch.kernel);
  switch (constant.kind) {
    case Constant::Kind::kLiteral:
      return half == 0 ? constant.bits : 0;
    case Constant::Kind::kParameter:
      return parameter_value(request, constant, half);
    case Constant::Kind::kParameterAddress:
      return launch.parameter_address + constant.bits;
    case Constant::Kind::kSpecial:
      return special_value(launch, constant.index, lane);
    case Constant::Kind::kGlobal:
      return request.program->globals()[constant.index].device_address + constant.bits;
    case Constant::Kind::kDynamicShared:
      return dynamic + constant.bits;
    case Constant::Kind::kFunction:
      return program::function_address(constant.index);
    case Constant::Kind::kSharedWindow:
      return launch.shared_window + constant.bits;
    case Constant::Kind::kSharedWindowDynamic:
      return launch.shared_window + dynamic + constant.bits;
  }
  return 0;
}

/// Fills the constants of a function of this launch.
void fill_constants(const Launch& launch, FunctionCode& code) {
  const program::Function& function = *code.function;
  code.constant_storage.assign(
      (std::size_t{function.constant_slot_count} + kSlackSlots) * (kSlotBytes / 8) + 8, 0);
  const auto start = reinterpret_cast<std::uintptr_t>(code.constant_storage.data());
  code.constants = reinterpret_cast<std::byte*>((start + 63) & ~std::uintptr_t{63});
  for (std::size_t c = 0; c < function.constants.size(); ++c) {
    const Constant& constant = function.constants[c];
    std::byte* row = code.constants + std::size_t{function.constant_slots[c]} * kSlotBytes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (constant.slots == 1) {
        const auto value = static_cast<std::uint32_t>(constant_value(launch, constant, lane, 0));
        std::memcpy(row + 4 * lane, &value, 4);
        continue;
      }
      for (std::uint32_t half = 0; half < constant.slots / 2u; ++half) {
        const std::uint64_t value = constant_value(launch, constant, lane, half);
        std::memcpy(row + 256 * half + 8 * lane, &value, 8);
      }
    }
  }
}

/// The handler of what has none.
const Step* unsupported(Warp& w, const Step* s) {
  return raise(w, s, FaultKind::kUnsupportedInstruction,
               static_cast<std::uint32_t>(__builtin_ctz(w.mask)), 0,
               describe_unsupported(*s->extra->in));
}

constexpr std::uint32_t kScratchSlots = 4;       ///< for destinations nobody named
constexpr std::uint32_t kMostSlots = 1u << 23;   ///< of an area: a Ref has 30 bits for bytes
constexpr std::uint32_t kScratchPredicates = 2;  ///< "always", and a sink

/// The door to registers, constants and predicates: a place inside its area, or none. Handlers read
/// and write up to four slots from a place on; every area has three more past its last.
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

/// Does it tell other blocks something?
bool tells_blocks(const Instruction& in) {
  return tells_or_hears(in) && in.opcode != Opcode::kLd && program::may_be_global(in);
}

/// May blocks share work out by it? An addition whose result is used.
bool may_be_ticket(const Instruction& in) {
  if (in.opcode != Opcode::kAtom || in.has(program::kResultUnused)) return false;
  const program::Atomic operation = in.as<program::AtomicAccess>().operation;
  return operation == program::Atomic::kAdd || operation == program::Atomic::kInc;
}

/// Whether somebody asks how the kernel's threads came past a barrier of their block.
bool notes_branches(const Launch& launch) {
  return launch.request->checks.synccheck &&
         std::ranges::any_of(launch.code.front().function->code, program::is_block_barrier);
}

/// How many of the launch's blocks the checkers hear; 0: all. Of blocks that tell each other
/// something all are heard while their threads are few, because one that is left out may be what
/// orders two others.
std::uint64_t heard_blocks(const LaunchRequest& request) {
  // More than all threads that a GPU runs at the same time, so that every grid that waits for
  // itself, or whose last block does the rest, is among them: an H200 runs 270,336.
  constexpr std::uint64_t kFewThreads = std::uint64_t{1} << 19;
  const bool few = request.grid.count() * request.block.count() <= kFewThreads;
  return request.kernel->communicates_between_blocks && few ? 0 : request.checks.most_blocks;
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
  const LaunchRequest& request = *launch.request;
  const bool may_draw = draws_at(launch, extra);
  step.handler = choose_handler(in, variant, request.lane_order_seed && may_draw);
  if (in.issued_bytes != program::kAsWritten) {
    extra.as_written = step.handler;
    step.handler = issued_access_handler();
  }
  if (launch.notes_branches && function_index == 0 && may_part_lanes(in)) {
    extra.inner = step.handler;
    step.handler = noted_branch_handler();
  } else if (in.guard && in.opcode != Opcode::kBra) {
    extra.inner = step.handler;
    step.handler = variant == Variant::kAvx2 ? MEMBOUND_NEWER_LANES::guarded_handler()
                                             : MEMBOUND_OLDER_LANES::guarded_handler();
  }
  if (request.warp_order_seed && may_draw && tells_or_hears(in)) {
    extra.whole = step.handler;
    step.handler = request.order_lines ? waiting_handler() : pausing_handler();
  } else if (launch.hands_over && tells_blocks(in)) {
    extra.whole = step.handler;
    step.handler = may_be_ticket(in) ? ticket_handler() : handing_over_handler();
  }
}

Handler handler_of(const Instruction& in, Variant variant, bool lanes_drawn) {
  switch (program::info_of(in.opcode).family) {
    case Family::kAtomic:
      return select_atomic(in, lanes_drawn);
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
      return variant == Variant::kAvx2 ? MEMBOUND_NEWER_LANES::select(in)
                                       : MEMBOUND_OLDER_LANES::select(in);
  }
}

}  // namespace

void set_up(Launch& launch, const LaunchRequest& request, Workspace& workspace) {
  launch.request = &request;
  launch.kernel = request.kernel;
  launch.stats_count = 1;  // 0: keeps none
  launch.warps_per_block = static_cast<std::uint32_t>((request.block.count() + 31) / 32);
  launch.shared_bytes = request.kernel->placed_shared_bytes;
  if (request.dynamic_shared_bytes != 0)
    launch.shared_bytes = dynamic_shared_begin(*request.kernel) + request.dynamic_shared_bytes;
  launch.shared_window = request.memory->shared_window();
  for (const auto& global : request.program->globals())
    if (global.is_constant) launch.constant_variable = global.device_address;
  launch.local_window = request.memory->local_window();
  launch.precise = request.checks.memcheck;
  if (!launch.precise && launch.shared_bytes != 0)
    launch.shared_bytes += request.shared_reach_bytes;
  launch.counts = request.counts;
  launch.cached_sms = std::max(1u, request.sm_count);
  launch.sample = {request.grid.count(), heard_blocks(request)};
  // What a block wrote that nobody heard counts as written, here and from now on.
  if (launch.sample.leaves_out_some()) request.memory->track_initialised(false);
  launch.scheduler = request.scheduling == Scheduling::kLockstep ? &lockstep_scheduler()
                                                                 : &independent_scheduler();
  launch.defer_reductions = request.kernel->orders_float_reductions && !request.cooperative;
  if (request.kernel->takes_parameter_addresses) {
    launch.parameter_address = workspace.take(request.parameters.size() + 16, "kernel parameters");
    request.memory->copy_in(launch.parameter_address, request.parameters.data(),
                            request.parameters.size());
  }
  if (request.kernel->uses_grid_sync && request.cooperative)
    launch.grid_barrier_address = workspace.take(256, "grid barrier");
}

Handler unsupported_handler() { return &unsupported; }

Handler choose_handler(const Instruction& in, Variant variant, bool lanes_drawn) {
  const Handler handler =
      in.has(program::kUnsupportedForm) ? nullptr : handler_of(in, variant, lanes_drawn);
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
  const LaunchRequest& request = *launch.request;
  launch.hands_over = launch.kernel->communicates_between_blocks && launch.counts &&
                      !request.warp_order_seed && !request.keeps_block_order && !request.sample &&
                      !request.checks.of_kernels();
  at = 0;
  for (std::uint32_t f = 0; f < launch.code.size(); ++f) {
    for (const Instruction& in : launch.code[f].function->code) {
      fill_step(launch, f, in, launch.steps[at], launch.extras[at], variant);
      ++at;
    }
  }
  launch.critical_path = critical_path(launch);
  launch.load_batch_clocks = static_cast<std::uint32_t>(costs_of(launch).load_round_clocks);
}

}  // namespace membound::vgpu::exec
