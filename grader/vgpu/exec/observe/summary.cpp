// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/summary.hpp"

#include <map>

#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::exec {
namespace {

using counters::Counters;
using program::Instruction;
using program::Opcode;
using program::Unit;

/// What all workers together did at one step.
struct StepTotal {
  std::uint64_t issued = 0;
  std::uint64_t lanes = 0;
  StepStats stats;
};

void add(StepStats& to, const StepStats& from) {
  to.requests += from.requests;
  to.sectors += from.sectors;
  to.ideal_sectors += from.ideal_sectors;
  to.lines += from.lines;
  to.bytes += from.bytes;
  to.extra_sectors += from.extra_sectors;
  to.lanes += from.lanes;
  to.collisions += from.collisions;
  to.shared_requests += from.shared_requests;
  to.wavefronts += from.wavefronts;
  to.ideal_wavefronts += from.ideal_wavefronts;
  to.shared_bytes += from.shared_bytes;
  to.local_requests += from.local_requests;
  to.local_sectors += from.local_sectors;
  to.divergent += from.divergent;
  to.l1_hits += from.l1_hits;
  to.partial_sectors += from.partial_sectors;
  to.loop_loads += from.loop_loads;
  to.loop_load_wavefronts += from.loop_load_wavefronts;
  to.loop_ideal_wavefronts += from.loop_ideal_wavefronts;
  to.word_loads += from.word_loads;
  to.word_load_sectors += from.word_load_sectors;
  to.word_load_ideal_sectors += from.word_load_ideal_sectors;
  to.word_load_bytes += from.word_load_bytes;
}

void add_global(Counters& c, const StepStats& s) {
  c.global_tag_requests += s.lines;
  c.theoretical_global_sectors += s.sectors;
  c.ideal_global_sectors += s.ideal_sectors;
}

void add_load(Counters& c, const Instruction& in, const StepStats& s) {
  if (in.has(program::kParamMemory)) return;
  if (in.has(program::kConstantMemory)) {
    c.constant_load_requests += s.requests;
    c.constant_load_words += s.lanes;
    return;
  }
  c.global_load_requests += s.requests;
  c.global_load_sectors += s.sectors;
  c.global_load_ideal_sectors += s.ideal_sectors;
  c.global_load_bytes += s.bytes;
  add_global(c, s);
  c.shared_load_requests += s.shared_requests;
  c.shared_load_wavefronts += s.wavefronts;
  c.shared_load_ideal_wavefronts += s.ideal_wavefronts;
  c.local_load_requests += s.local_requests;
  c.local_load_sectors += s.local_sectors;
}

void add_store(Counters& c, const Instruction& in, const StepStats& s) {
  if (in.has(program::kParamMemory)) return;
  c.global_store_requests += s.requests;
  c.global_store_sectors += s.sectors;
  c.global_store_ideal_sectors += s.ideal_sectors;
  c.global_store_bytes += s.bytes;
  c.partial_store_sectors += s.partial_sectors;
  add_global(c, s);
  c.shared_store_requests += s.shared_requests;
  c.shared_store_wavefronts += s.wavefronts;
  c.shared_store_ideal_wavefronts += s.ideal_wavefronts;
  c.local_store_requests += s.local_requests;
  c.local_store_sectors += s.local_sectors;
}

/// True for what the hardware runs as a reduction: nobody reads the result, the operation is no
/// exchange nor a loop of them, and the address is known to be of global memory.
bool is_reduction(const Instruction& in) {
  const program::Atomic operation = in.as<program::AtomicAccess>().operation;
  return in.has(program::kResultUnused) && in.space == ptx::StateSpace::kGlobal &&
         operation != program::Atomic::kExch && operation != program::Atomic::kCas &&
         !loops_on_a_word(in);
}

void add_atomic(Counters& c, const Instruction& in, const StepStats& s) {
  if (is_reduction(in)) {
    c.reduction_requests += s.requests;
    c.reduction_sectors += s.extra_sectors;
  } else {
    c.atomic_requests += s.requests;
    c.atomic_sectors += s.extra_sectors;
  }
  c.atomic_lanes += s.lanes;
  c.atomic_same_address += s.collisions;
  add_global(c, s);
  c.global_load_requests += s.word_loads;
  c.global_load_sectors += s.word_load_sectors;
  c.global_load_ideal_sectors += s.word_load_ideal_sectors;
  c.global_load_bytes += s.word_load_bytes;
  c.shared_atomic_requests += s.shared_requests;
  c.shared_atomic_wavefronts += s.wavefronts;
  c.shared_atomic_loops += s.loop_loads;
  c.shared_load_requests += s.loop_loads;
  c.shared_load_wavefronts += s.loop_load_wavefronts;
  c.shared_load_ideal_wavefronts += s.loop_ideal_wavefronts;
  c.shared_wavefronts += s.loop_load_wavefronts;
  c.ideal_shared_wavefronts += s.loop_ideal_wavefronts;
}

void add_async(Counters& c, const StepStats& s) {
  c.async_copy_requests += s.requests;
  c.async_copy_sectors += s.sectors;
  c.global_load_requests += s.requests;
  c.global_load_sectors += s.sectors;
  c.global_load_ideal_sectors += s.ideal_sectors;
  c.async_copy_bytes += s.bytes;
  add_global(c, s);
  c.async_copy_wavefronts += s.wavefronts;
}

void add_texture(Counters& c, const Instruction& in, const StepStats& s) {
  switch (in.opcode) {
    case Opcode::kSuld:
      c.surface_load_requests += s.requests;
      break;
    case Opcode::kSust:
    case Opcode::kSured:
      c.surface_store_requests += s.requests;
      break;
    default:
      c.texture_requests += s.requests;
      c.texture_sectors += s.sectors;
      return;
  }
  c.surface_sectors += s.sectors;
}

void add_memory(Counters& c, const Instruction& in, const StepStats& s) {
  switch (in.opcode) {
    case Opcode::kLd:
    case Opcode::kLdu:
      add_load(c, in, s);
      break;
    case Opcode::kSt:
      add_store(c, in, s);
      break;
    case Opcode::kAtom:
    case Opcode::kRed:
      add_atomic(c, in, s);
      break;
    case Opcode::kCpAsync:
      add_async(c, s);
      break;
    case Opcode::kBra:
    case Opcode::kBrx:
      c.divergent_branches += s.divergent;
      break;
    default:
      if (in.unit == Unit::kTexture) add_texture(c, in, s);
      break;
  }
  c.shared_wavefronts += s.wavefronts;
  c.ideal_shared_wavefronts += s.ideal_wavefronts;
  c.shared_bytes += s.shared_bytes;
  c.l1_load_hit_sectors += s.l1_hits;
}

std::uint64_t* unit_counter(Counters& c, Unit unit) {
  switch (unit) {
    case Unit::kInteger:
      return &c.integer_instructions;
    case Unit::kFloat32:
      return &c.float32_instructions;
    case Unit::kFloat64:
      return &c.float64_instructions;
    case Unit::kHalf:
    case Unit::kTensor:
      return &c.half_instructions;
    case Unit::kConvert:
      return &c.convert_instructions;
    case Unit::kSpecialFunction:
      return &c.special_function_instructions;
    case Unit::kMove:
      return &c.move_instructions;
    case Unit::kMemory:
      return &c.memory_instructions;
    case Unit::kControl:
      return &c.control_instructions;
    case Unit::kBarrier:
      return &c.barrier_instructions;
    case Unit::kCollective:
      return &c.collective_instructions;
    case Unit::kAtomic:
      return &c.atomic_instructions;
    case Unit::kTexture:
      return &c.texture_instructions;
    case Unit::kAsync:
      return &c.async_instructions;
    case Unit::kByType:
      break;
  }
  return nullptr;
}

bool is_block_barrier(const Instruction& in) {
  return (in.opcode == Opcode::kBar || in.opcode == Opcode::kBarrier) &&
         in.as<program::BlockBarrier>().mode != program::BarrierMode::kWarp;
}

Counters counters_of(const Instruction& in, const StepTotal& total) {
  Counters c;
  if (!in.has(program::kHidden)) {
    c.warp_instructions = total.issued;
    c.thread_instructions = total.lanes;
    if (std::uint64_t* counter = unit_counter(c, in.unit)) *counter = total.issued;
    if (in.has(program::kStartsGlobalRound)) c.global_load_rounds = total.issued;
    if (in.has(program::kStartsSharedRound)) c.shared_load_rounds = total.issued;
    if (in.opcode == Opcode::kBra && in.guard) c.branches = total.issued;
    if (is_block_barrier(in)) c.block_barriers = total.issued;
  }
  add_memory(c, in, total.stats);
  if (in.has(program::kHidden)) c.divergent_branches = 0;
  return c;
}

}  // namespace

counters::LaunchCounters summarise(const Launch& launch,
                                   std::span<const std::unique_ptr<Worker>> workers) {
  counters::LaunchCounters result;
  std::map<std::pair<std::string, std::uint32_t>, Counters> lines;
  const auto files = launch.request->program->files();
  std::vector<std::int64_t> issued(workers.size(), 0), lanes(workers.size(), 0);
  std::size_t step = 0;
  for (const FunctionCode& code : launch.code) {
    for (std::size_t i = 0; i < code.function->code.size(); ++i, ++step) {
      StepTotal total;
      for (std::size_t w = 0; w < workers.size(); ++w) {
        issued[w] += workers[w]->issue_delta[step];
        lanes[w] += workers[w]->lane_delta[step];
        total.issued += static_cast<std::uint64_t>(issued[w]);
        total.lanes += static_cast<std::uint64_t>(lanes[w]);
        if (launch.steps[step].stats != 0)
          add(total.stats, workers[w]->stats[launch.steps[step].stats]);
      }
      if (total.issued == 0) continue;
      const Counters c = counters_of(code.function->code[i], total);
      result.totals += c;
      const program::SourceLine line = code.function->lines[i];
      const bool known = line.line != 0 && line.file < files.size();
      lines[{known ? files[line.file] : "", known ? line.line : 0}] += c;
    }
  }
  for (auto& [place, c] : lines) result.lines.push_back({place.first, place.second, c});
  std::uint64_t blocks = 0;
  memory::HotWords hottest;
  for (const auto& worker : workers) {
    blocks += worker->blocks;
    hottest.add(worker->hottest);
  }
  result.totals.hottest_atomic_address_count = hottest.hottest();
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
      for (const auto& worker : workers) issued += worker->issue_delta[step];
      ++step;
      if (issued == 0 || in.has(program::kHidden)) continue;
      const auto* row = program::find_opcode(in.mnemonic.substr(0, in.mnemonic.find('.')));
      if (row != nullptr) executed.insert({row->name, in.type});
    }
  }
  return executed;
}

}  // namespace membound::vgpu::exec
