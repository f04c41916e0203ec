// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the linker says of a kernel: all that it may call, what these need together, and what in
/// them lets blocks talk to each other.
#include <algorithm>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/link/decoder.hpp"
#include "grader/vgpu/program/link/linker.hpp"

namespace membound::vgpu::program {
namespace {

bool is_float_reduction(const Instruction& in) {
  return (in.opcode == Opcode::kAtom || in.opcode == Opcode::kRed) && may_be_global(in) &&
         in.has(kResultUnused) && in.as<AtomicAccess>().operation == Atomic::kAdd &&
         ptx::is_float(in.type);
}

/// Is a global load reachable after a float reduction (along forward and backward branches)?
bool loads_after(const Function& function) {
  const std::vector<BasicBlock> blocks = basic_blocks(function);
  std::vector<bool> after(blocks.size(), false);
  const auto scan = [&](const BasicBlock& block, bool armed) {
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& in = function.code[i];
      const bool load = in.opcode == Opcode::kLd && may_be_global(in) && !in.has(kNonCoherent);
      if (armed && (load || in.opcode == Opcode::kCall)) return std::pair(true, true);
      armed = armed || is_float_reduction(in);
    }
    return std::pair(false, armed);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto [found, armed] = scan(blocks[b], after[b]);
      if (found) return true;
      if (!armed) continue;
      for (const std::uint32_t successor : blocks[b].successors) {
        if (!after[successor]) after[successor] = true, changed = true;
      }
    }
  }
  return false;
}

Dim3 dimensions_of(const ptx::Directive& directive) {
  const auto at = [&](std::size_t i) {
    return i < directive.values.size() ? static_cast<std::uint32_t>(directive.values[i]) : 1u;
  };
  return {at(0), at(1), at(2)};
}

void read_launch_bounds(const ptx::Function& source, Kernel& kernel) {
  if (const auto* threads = source.find_directive(".maxntid"))
    kernel.max_threads_per_block = static_cast<std::uint32_t>(dimensions_of(*threads).count());
  if (const auto* threads = source.find_directive(".reqntid")) {
    kernel.required_block = dimensions_of(*threads);
    kernel.max_threads_per_block = static_cast<std::uint32_t>(kernel.required_block->count());
  }
  if (const auto* blocks = source.find_directive(".reqnctapercluster"))
    kernel.cluster_blocks = dimensions_of(*blocks).count();
  if (const auto* blocks = source.find_directive(".minnctapersm"))
    kernel.min_blocks_per_sm =
        blocks->values.empty() ? 0 : static_cast<std::uint32_t>(blocks->values.front());
  // __launch_bounds__(512) alone promises that one block of 512 threads can run.
  const bool is_bounded = source.find_directive(".maxntid") || source.find_directive(".reqntid");
  if (is_bounded) kernel.min_blocks_per_sm = std::max(1u, kernel.min_blocks_per_sm);
}

/// Launch bounds are a promise that ptxas keeps, if need be by putting registers aside.
void limit_registers(Kernel& kernel) {
  kernel.register_count = std::min(255u, std::max(16u, kernel.register_count));
  if (kernel.min_blocks_per_sm == 0) return;
  constexpr std::uint64_t kRegistersOfSm = 65536;
  const std::uint64_t threads = std::max(1u, kernel.max_threads_per_block);
  const auto most =
      static_cast<std::uint32_t>(kRegistersOfSm / (kernel.min_blocks_per_sm * threads));
  kernel.register_count = std::min(kernel.register_count, std::max(16u, most / 8 * 8));
}

}  // namespace

void gather_facts(const Function& function, FunctionFacts& facts) {
  for (const Instruction& in : function.code) {
    if (talks(in)) facts.talks_to_blocks = true;
    if (counts_arrivals(in)) facts.counts_arrivals = true;
    if (is_float_reduction(in)) facts.float_reductions = true;
  }
  if (facts.float_reductions) facts.loads_after_reduction = loads_after(function);
}

/// By function, the stack of its deepest calls; one through a pointer may be of any function. A
/// call back to a function that is being looked at (recursion) counts as nothing.
std::vector<std::uint64_t> Linker::known_stacks() const {
  std::vector<std::uint64_t> stacks(sources_.size());
  std::vector<bool> seen(sources_.size(), false);
  std::vector<std::uint32_t> any;
  for (std::uint32_t f = 0; f < sources_.size(); ++f)
    if (!sources_[f]->is_entry) any.push_back(f);
  std::vector<std::pair<std::uint32_t, std::size_t>> path;  // function, its next callee
  for (std::uint32_t f = 0; f < sources_.size(); ++f) {
    if (!seen[f]) path.emplace_back(f, 0);
    while (!path.empty()) {
      auto& [at, next] = path.back();
      seen[at] = true;
      const std::vector<std::uint32_t>& callees =
          facts_[at].calls_indirectly ? any : facts_[at].callees;
      if (next < callees.size()) {
        const std::uint32_t callee = callees[next++];
        if (!seen[callee]) path.emplace_back(callee, 0);
        continue;
      }
      for (const std::uint32_t callee : callees) stacks[at] = std::max(stacks[at], stacks[callee]);
      stacks[at] += program_.functions_[at].stack_bytes;
      path.pop_back();
    }
  }
  return stacks;
}

std::vector<std::uint32_t> Linker::reachable_from(std::uint32_t function) const {
  std::vector<bool> seen(sources_.size(), false);
  std::vector<std::uint32_t> reachable;
  const auto reach = [&](std::uint32_t f) {
    if (!seen[f]) seen[f] = true, reachable.push_back(f);
  };
  reach(function);
  bool all_callable = false;
  for (std::size_t i = 0; i < reachable.size(); ++i) {
    const FunctionFacts& facts = facts_[reachable[i]];
    for (const std::uint32_t callee : facts.callees) reach(callee);
    if (facts.calls_indirectly && !all_callable) {
      all_callable = true;
      for (std::uint32_t f = 0; f < sources_.size(); ++f) {
        if (!sources_[f]->is_entry) reach(f);
      }
    }
  }
  return reachable;
}

void Linker::add_facts(Kernel& kernel) const {
  bool float_reductions = false, unordered = false;
  for (const std::uint32_t f : kernel.reachable) {
    const FunctionFacts& facts = facts_[f];
    kernel.static_shared_bytes = std::max(kernel.static_shared_bytes, facts.shared_end_bytes);
    kernel.shared_variables.insert(kernel.shared_variables.end(), facts.shared_variables.begin(),
                                   facts.shared_variables.end());
    add_module_shared(f, kernel.shared_variables);
    kernel.uses_dynamic_shared |= facts.uses_dynamic_shared;
    kernel.uses_grid_sync |= facts.uses_grid_sync;
    kernel.takes_parameter_addresses |= facts.takes_parameter_addresses;
    kernel.communicates_between_blocks |= facts.talks_to_blocks || facts.uses_grid_sync;
    kernel.counts_arrivals |= facts.counts_arrivals;
    kernel.register_count =
        std::max(kernel.register_count, program_.functions_[f].peak_registers + 8);
    float_reductions |= facts.float_reductions;
    unordered |= facts.float_reductions && (f != kernel.function || facts.loads_after_reduction);
  }
  if (unordered) kernel.communicates_between_blocks = true;
  kernel.orders_float_reductions = float_reductions && !kernel.communicates_between_blocks;
}

void Linker::add_kernel(std::uint32_t function) {
  const ptx::Function& source = *sources_[function];
  Kernel kernel;
  kernel.name = std::string(source.name);
  kernel.function = function;
  const auto layout = lay_out_call({}, source.parameters);  // the decoder has found room for it
  for (const FrameField& field : layout->fields) {
    const ptx::Variable& variable = source.parameters[kernel.parameters.size()];
    kernel.parameters.push_back(
        {field.offset_bytes, field.size_bytes, std::max(1u, variable.alignment_bytes)});
    kernel.parameter_bytes = field.offset_bytes + field.size_bytes;
  }
  read_launch_bounds(source, kernel);
  kernel.reachable = reachable_from(function);
  add_facts(kernel);
  kernel.static_shared_bytes = std::max(kernel.static_shared_bytes, module_shared_end(function));
  kernel.placed_shared_bytes = kernel.static_shared_bytes;
  limit_registers(kernel);
  kernel.local_bytes = program_.functions_[function].frame_bytes;
  program_.kernels_.push_back(std::move(kernel));
}

}  // namespace membound::vgpu::program
