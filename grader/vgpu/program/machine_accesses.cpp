// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/machine_accesses.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::program {
namespace {

std::uint32_t bytes_of(const Instruction& access) {
  return ptx::size_bytes(access.type) * access.vector;
}

bool is_shared_access(const Instruction& in) {
  return (in.opcode == Opcode::kLd || in.opcode == Opcode::kSt) &&
         in.space == ptx::StateSpace::kShared && !in.has(kUnsupportedForm);
}

/// The loads and stores of shared memory of one function, in code order.
std::vector<Instruction*> shared_accesses(Function& function) {
  std::vector<Instruction*> accesses;
  for (Instruction& in : function.code)
    if (is_shared_access(in)) accesses.push_back(&in);
  return accesses;
}

// --- By lines of the PTX -------------------------------------------------------------------------

/// All that the machine code of a module has of one line of the PTX.
struct Copies {
  std::uint8_t lane_bytes = 0;  ///< of each of them
  bool differ = false;          ///< in that
  std::vector<const SharedAccess*> all = {};
};
using CopiesByLine = std::map<std::uint32_t, Copies>;

CopiesByLine copies_by_line(std::span<const MachineCode> code) {
  CopiesByLine by_line;
  for (const MachineCode& each : code)
    for (const SharedAccess& access : each.shared_accesses) {
      Copies& copies = by_line[access.ptx_line];
      copies.differ =
          copies.differ || (!copies.all.empty() && copies.lane_bytes != access.lane_bytes);
      copies.lane_bytes = access.lane_bytes;
      copies.all.push_back(&access);
    }
  return by_line;
}

/// Lines of the branches back of the loops around instruction `at`: [target, branch] in code order.
std::vector<std::uint32_t> loops_around(const Function& function, std::size_t at) {
  std::vector<std::uint32_t> lines;
  for (std::size_t i = at; i < function.code.size(); ++i) {
    const Instruction& in = function.code[i];
    if (in.opcode == Opcode::kBra && in.has(kBackward) && in.as<Branch>().target <= at)
      lines.push_back(in.ptx_line);
  }
  return lines;
}

/// Whether the copies run as often as the PTX's access does. A loop of the PTX that the machine
/// code still has must be around one of them: the others are what is left over of unrolled
/// iterations.
bool stays_in_its_loops(const Function& function, std::size_t at, const Copies& copies,
                        const std::set<std::uint32_t>& machine_loops) {
  for (const std::uint32_t line : loops_around(function, at)) {
    const auto is_inside = [&](const SharedAccess* access) {
      return std::ranges::find(access->loop_lines, line) != access->loop_lines.end();
    };
    if (machine_loops.contains(line) && std::ranges::none_of(copies.all, is_inside)) return false;
  }
  return true;
}

/// What each access of `function` became; nothing where that is not clear.
std::optional<std::vector<std::uint8_t>> found_by_line(const Function& function,
                                                       const CopiesByLine& by_line,
                                                       const std::set<std::uint32_t>& loops) {
  std::vector<std::uint8_t> found;
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    const Instruction& in = function.code[i];
    if (!is_shared_access(in)) continue;
    const auto copies = by_line.find(in.ptx_line);
    if (copies == by_line.end()) {
      found.push_back(kNotIssued);
      continue;
    }
    if (copies->second.differ || copies->second.lane_bytes < bytes_of(in) ||
        !stays_in_its_loops(function, i, copies->second, loops))
      return std::nullopt;
    const bool same = copies->second.lane_bytes == bytes_of(in);
    found.push_back(same ? kAsWritten : copies->second.lane_bytes);
  }
  return found;
}

// --- By widths -----------------------------------------------------------------------------------

/// How many loads there are of 1, 2, 4, 8 and 16 bytes a lane; after them, how many stores.
constexpr std::size_t kWidths = 5;
using Widths = std::array<std::size_t, 2 * kWidths>;
void count_width(Widths& widths, std::uint32_t lane_bytes, bool is_store) {
  for (std::size_t i = 0; i < kWidths; ++i)
    widths[i + (is_store ? kWidths : 0)] += lane_bytes == 1u << i;
}

/// Whether the machine code has these loads, or several copies of all of them (iterations of a
/// loop), and stores of these widths: mark_vectors expects no joined stores.
bool are_copies(const Widths& machine, const Widths& accesses) {
  constexpr std::size_t kMostCopies = 16;
  const auto found = std::span(machine), wanted = std::span(accesses);
  if (!std::ranges::equal(
          found.last(kWidths), wanted.last(kWidths), {}, [](std::size_t n) { return n > 0; },
          [](std::size_t n) { return n > 0; }))
    return false;
  for (std::size_t copies = 1; copies <= kMostCopies; ++copies)
    if (std::ranges::equal(found.first(kWidths), wanted.first(kWidths), {}, {},
                           [&](std::size_t n) { return copies * n; }))
      return true;
  return false;
}

/// What mark_vectors expects, or the PTX itself, where the machine code has just these.
std::optional<std::vector<std::uint8_t>> found_by_widths(const std::vector<Instruction*>& accesses,
                                                         const MachineCode& code) {
  Widths machine{}, written{}, joined{};
  for (const SharedAccess& access : code.shared_accesses)
    count_width(machine, access.lane_bytes, access.is_store);
  std::vector<std::uint8_t> as_written, as_joined;
  for (const Instruction* access : accesses) {
    const bool is_store = access->opcode == Opcode::kSt;
    const std::uint32_t bytes = bytes_of(*access);
    count_width(written, bytes, is_store);
    as_written.push_back(kAsWritten);
    if (!access->fused)
      count_width(joined, access->led_bytes != 0 ? access->led_bytes : bytes, is_store);
    as_joined.push_back(access->fused ? kNotIssued : access->led_bytes);
  }
  if (are_copies(machine, written)) return as_written;
  if (are_copies(machine, joined)) return as_joined;
  return std::nullopt;
}

void set(Function& function, const std::vector<Instruction*>& accesses,
         const std::optional<std::vector<std::uint8_t>>& found) {
  if (!found) return;
  for (std::size_t i = 0; i < accesses.size(); ++i) accesses[i]->issued_bytes = (*found)[i];
  function.accesses_from = AccessesFrom::kMachineCode;
}

/// Whether every access of `code` comes from a line that accesses memory: else it was made of
/// another text. (An atomic of floats is a loop that loads.)
bool is_of_this_text(const MachineCode& code, const std::set<std::uint32_t>& lines) {
  return std::ranges::all_of(code.shared_accesses, [&](const SharedAccess& access) {
    return lines.contains(access.ptx_line);
  });
}

}  // namespace

void take_machine_accesses(Program& program, std::span<const std::string_view> names,
                           std::span<const MachineCode> code) {
  std::vector<Function*> functions;
  std::set<std::uint32_t> lines, loops;
  for (const std::string_view name : names) {
    Function* const function = program.find_function(name);
    if (function == nullptr) continue;
    functions.push_back(function);
    for (const Instruction& in : function->code)
      if (accesses_memory(in)) lines.insert(in.ptx_line);
  }
  for (const MachineCode& each : code) loops.insert(each.loop_lines.begin(), each.loop_lines.end());
  const CopiesByLine by_line = copies_by_line(code);
  for (Function* const function : functions) {
    const std::vector<Instruction*> accesses = shared_accesses(*function);
    const auto own = std::ranges::find(code, function->name, &MachineCode::function);
    if (own == code.end()) {
      // ptxas has put it into its callers, or left it out.
      if (std::ranges::any_of(
              accesses, [&](const Instruction* in) { return by_line.contains(in->ptx_line); }))
        set(*function, accesses, found_by_line(*function, by_line, loops));
    } else if (!own->has_lines) {
      set(*function, accesses, found_by_widths(accesses, *own));
    } else if (is_of_this_text(*own, lines)) {
      set(*function, accesses, found_by_line(*function, by_line, loops));
    }
  }
}

std::optional<AccessesFrom> shared_accesses_from(const Program& program, const Kernel& kernel) {
  std::optional<AccessesFrom> from;
  for (const std::uint32_t f : kernel.reachable) {
    const Function& function = program.functions()[f];
    if (std::ranges::none_of(function.code, is_shared_access)) continue;
    from = std::min(from.value_or(AccessesFrom::kMachineCode), function.accesses_from);
  }
  return from;
}

}  // namespace membound::vgpu::program
