// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Branches, exits and guards. What happens when lanes part is the scheduler's.
#include <initializer_list>
#include <string>

#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Family;
using program::Instruction;
using program::Opcode;

/// Every running lane goes to `target`.
[[gnu::always_inline]] inline const Step* go_to(Warp& w, const Step* s, const Step* target,
                                                std::int32_t cost) {
  end_run(w, s + 1);
  w.run_begin = target;
  w.time_slice -= cost;
  if (w.time_slice <= 0) [[unlikely]] {
    w.yielded = cost >= kSpinCost;
    w.groups[w.current].pc = target;
    w.leave = Leave::kTimeSliceSpent;
    return w.stop;
  }
  if (w.group_count != 1) [[unlikely]]
    return w.launch->scheduler->redirect(w, target);
  return target;
}
[[gnu::always_inline]] inline const Step* take(Warp& w, const Step* s) {
  return go_to(w, s, s->branch.target, s->branch.cost);
}

const Step* branch(Warp& w, const Step* s) { return take(w, s); }

const Step* branch_if(Warp& w, const Step* s) {
  const std::uint32_t taken = predicate(w, s->guard) & w.mask;
  if (taken == 0) return s + 1;
  if (taken == w.mask) return take(w, s);
  w.stats[s->stats].divergent_branches += 1;
  end_run(w, s + 1);
  w.time_slice -= s->branch.cost;
  return w.launch->scheduler->diverge(w, s, taken);
}

const Step* branch_list(Warp& w, const Step* s) {
  const auto& list = w.launch->code[s->extra->function]
                         .function->branch_lists[s->extra->in->as<program::BranchList>().list];
  const Step* begin = w.launch->code[s->extra->function].begin;
  const std::uint32_t* choice = at<const std::uint32_t>(w, s->a);
  const Step* targets[32];
  bool together = true;
  const int leader = __builtin_ctz(w.mask);
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (choice[i] >= list.size())
      return raise(w, s, FaultKind::kIllegalAddress, static_cast<std::uint32_t>(i), choice[i],
                   "branch to entry " + std::to_string(choice[i]) + " of a list of " +
                       std::to_string(list.size()) + " labels");
    targets[i] = begin + list[choice[i]];
    together = together && targets[i] == targets[leader];
  }
  if (together) return go_to(w, s, targets[leader], s->branch.cost);
  end_run(w, s + 1);
  w.stats[s->stats].divergent_branches += 1;
  return scatter_group(w, targets);
}

const Step* exit_all(Warp& w, const Step* s) {
  end_run(w, s + 1);
  return exit_lanes(w, s);
}

const Step* guarded(Warp& w, const Step* s) {
  const std::uint32_t whole = w.mask;
  const std::uint32_t mask = predicate(w, s->guard) & whole;
  if (mask == whole) return s->extra->inner(w, s);
  if (mask == 0) return s + 1;
  set_mask(w, mask);
  const Step* next = s->extra->inner(w, s);
  set_mask(w, whole);
  return next;
}

}  // namespace

Handler select_control(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kBra:
      return in.guard ? &branch_if : &branch;
    case Opcode::kBrx:
      return &branch_list;
    case Opcode::kExit:
      return &exit_all;
    default:
      return nullptr;
  }
}

Handler guarded_handler() { return &guarded; }

Handler select(const Instruction& in) {
  using Selector = Handler (*)(const Instruction&);
  const auto first_of = [&](std::initializer_list<Selector> selectors) {
    Handler handler = nullptr;
    for (const Selector each : selectors)
      if (handler == nullptr) handler = each(in);
    return handler;
  };
  if (in.has(program::kCarryOut)) return select_carry(in);
  switch (program::info_of(in.opcode).family) {
    case Family::kArithmetic:
      return first_of(
          {select_packed, select_integer, select_float, select_rounded, select_half, select_carry});
    case Family::kBits:
      return select_bits(in);
    case Family::kCompare:
      return first_of({select_compare, select_half});
    case Family::kConvert:
      return first_of({select_small_float, select_convert});
    case Family::kMove:
    case Family::kNothing:
      return select_move(in);
    case Family::kMemory:
      return first_of({select_global, select_shared, select_local});
    case Family::kControl:
      return select_control(in);
    case Family::kVideo:
      return select_video(in);
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
