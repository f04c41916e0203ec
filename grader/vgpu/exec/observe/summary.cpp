// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/summary.hpp"

#include <map>

#include "grader/vgpu/program/instruction.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

using counters::Counters;
using program::Instruction;
using program::is_block_barrier;
using program::Opcode;
using program::Unit;

/// What a static instruction is, for the counters that only some have.
enum class Access : std::uint8_t {
  kOther,
  kLoad,
  kConstantLoad,
  kStore,
  kAtomic,
  kReduction,  ///< nobody reads the result, and the hardware runs it as a reduction
  kCopy,
  kTexture,
  kSurfaceLoad,
  kSurfaceStore
};

/// The operation is no exchange nor a loop of them, and the address is known to be of global
/// memory.
bool is_reduction(const Instruction& in) {
  const program::Atomic operation = in.as<program::AtomicAccess>().operation;
  return in.has(program::kResultUnused) && in.space == ptx::StateSpace::kGlobal &&
         operation != program::Atomic::kExch && operation != program::Atomic::kCas &&
         !loops_on_a_word(in);
}

Access kind_of_access(const Instruction& in) {
  if (in.has(program::kParamMemory)) return Access::kOther;
  switch (in.opcode) {
    case Opcode::kLd:
    case Opcode::kLdu:
      return in.has(program::kConstantMemory) ? Access::kConstantLoad : Access::kLoad;
    case Opcode::kSt:
      return Access::kStore;
    case Opcode::kAtom:
    case Opcode::kRed:
      return is_reduction(in) ? Access::kReduction : Access::kAtomic;
    case Opcode::kCpAsync:
      return in.as<program::AsyncCopy>().mode == program::CopyMode::kBulkStore ? Access::kStore
                                                                               : Access::kCopy;
    case Opcode::kSuld:
      return Access::kSurfaceLoad;
    case Opcode::kSust:
    case Opcode::kSured:
      return Access::kSurfaceStore;
    default:
      return in.unit == Unit::kTexture ? Access::kTexture : Access::kOther;
  }
}

bool is_conditional_branch(const Instruction& in) { return in.opcode == Opcode::kBra && in.guard; }
bool starts_local_round(const Instruction& in) {
  return in.has(program::kStartsGlobalBatch) && in.space == ptx::StateSpace::kLocal;
}
bool starts_global_round(const Instruction& in) {
  return in.has(program::kStartsGlobalBatch) && in.space != ptx::StateSpace::kLocal;
}
bool starts_shared_round(const Instruction& in) { return in.has(program::kStartsSharedBatch); }

/// What all workers together did at one static instruction; and the words of counters.def.
struct StepTotal : counters::StepCounts {
  std::uint64_t issued = 0;  ///< times a warp executed it
  std::uint64_t lanes = 0;   ///< active lanes in all these times

  [[nodiscard]] Counters counters_of(const Instruction& in) const;
};

Counters StepTotal::counters_of(const Instruction& in) const {
  using enum Unit;
  using Count = std::uint64_t;
  const Access access = kind_of_access(in);
  const auto when = [&](Access wanted, Count n) { return access == wanted ? n : 0; };
  const auto loads = [&](Count n) { return when(Access::kLoad, n); };
  const auto constant_loads = [&](Count n) { return when(Access::kConstantLoad, n); };
  const auto stores = [&](Count n) { return when(Access::kStore, n); };
  const auto atomics = [&](Count n) { return when(Access::kAtomic, n); };
  const auto reductions = [&](Count n) { return when(Access::kReduction, n); };
  const auto copies = [&](Count n) { return when(Access::kCopy, n); };
  const auto global = [&](Count n) {
    return loads(n) + stores(n) + atomics(n) + reductions(n) + copies(n);
  };
  // 16 bytes a lane take four passes, two where neighbours agree (h200_shared_loads.csv): the words
  // of the first 8 bytes and of the second as many as one of each, up to two.
  const Count second_half =
      std::min(wavefronts, 2 * (wavefronts - std::min(wavefronts, 2 * shared_requests)));
  const Count saved_by_vectors = !in.fused ? 0 : in.second_half ? second_half : wavefronts;
  const auto of_floats = [&](Count n) { return ptx::is_float(in.type) ? n : 0; };
  const auto textures = [&](Count n) { return when(Access::kTexture, n); };
  const auto surface_loads = [&](Count n) { return when(Access::kSurfaceLoad, n); };
  const auto surface_stores = [&](Count n) { return when(Access::kSurfaceStore, n); };
  // What a kernel's author did not write is not executed in his eyes.
  const Count executed = in.has(program::kHidden) ? 0 : issued;
  const Count executed_lanes = in.has(program::kHidden) ? 0 : lanes;
  const auto executed_on = [&](Unit unit) { return in.unit == unit ? executed : 0; };
  const auto executed_if = [&](auto holds) { return holds(in) ? executed : 0; };
  constexpr Count at_end = 0;

  Counters c;
#define MEMBOUND_COUNTER(name, unit, certainty, meaning, formed, metric, source) c.name = source;
#include "grader/vgpu/counters/counters.def"
  return c;
}

}  // namespace

counters::LaunchCounters summarise(const Launch& launch,
                                   std::span<const std::unique_ptr<Worker>> workers) {
  counters::LaunchCounters result;
  result.work.instructions.assign(program::kCostClasses, 0);
  std::map<std::pair<std::string, std::uint32_t>, Counters> lines;
  const auto files = launch.request->program->files();
  std::vector<RunDelta> runs(workers.size());
  std::size_t step = 0;
  for (const FunctionCode& code : launch.code) {
    for (std::size_t i = 0; i < code.function->code.size(); ++i, ++step) {
      StepTotal total;
      for (std::size_t w = 0; w < workers.size(); ++w) {
        runs[w] += workers[w]->runs[step];
        total.issued += static_cast<std::uint64_t>(runs[w][0]);
        total.lanes += static_cast<std::uint64_t>(runs[w][1]);
        if (launch.steps[step].stats != 0) total += workers[w]->stats[launch.steps[step].stats];
      }
      if (total.issued == 0) continue;
      const Instruction& in = code.function->code[i];
      const Counters c = total.counters_of(in);
      if (!in.has(program::kHidden))
        result.work.instructions[static_cast<std::size_t>(program::cost_of(*code.function, in))] +=
            total.issued / (program::runs_once_per_unrolled_body(in) ? program::kUnrollFactor : 1);
      result.totals += c;
      const program::SourceLine line = code.function->lines[i];
      const bool known = line.line != 0 && line.file < files.size();
      lines[{known ? files[line.file] : "", known ? line.line : 0}] += c;
    }
  }
  for (auto& [place, c] : lines) result.lines.push_back({place.first, place.second, c});
  std::uint64_t blocks = 0;
  memory::HotWords hottest, busiest, sectors;
  for (const auto& worker : workers) {
    blocks += worker->blocks;
    result.totals.block_wait_turns += worker->waiting_sweeps;
    hottest.add(worker->hottest);
    busiest.add(worker->busiest_slices);
    sectors.add(worker->busiest_sectors);
  }
  result.totals.hottest_atomic_address_count = hottest.hottest();
  result.totals.busiest_atomic_piece_sectors = busiest.hottest();
  result.totals.busiest_atomic_sector_turns = sectors.hottest();
  result.totals.blocks = blocks;
  result.totals.warps = blocks * launch.warps_per_block;
  result.totals.threads = blocks * launch.request->block.count();
  return result;
}

std::set<ExecutedOpcode> executed_opcodes(const Launch& launch,
                                          std::span<const std::unique_ptr<Worker>> workers) {
  std::set<ExecutedOpcode> executed;
  std::int64_t issued = 0;
  std::size_t step = 0;
  for (const FunctionCode& code : launch.code) {
    for (const Instruction& in : code.function->code) {
      for (const auto& worker : workers) issued += worker->runs[step][0];
      ++step;
      if (issued == 0 || in.has(program::kHidden)) continue;
      const auto* row = program::find_opcode(in.mnemonic.substr(0, in.mnemonic.find('.')));
      if (row != nullptr) executed.insert({row->name, in.type});
    }
  }
  return executed;
}

}  // namespace membound::vgpu::exec
