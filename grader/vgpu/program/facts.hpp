// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the linker must know about a function beyond its code: whom it calls, which memory it
/// needs, and what in it lets blocks talk to each other.
/// Place in the chain: program/decoder -> [facts] -> program/linker.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Where a module-level name lives.
struct SymbolPlace {
  enum class Kind : std::uint8_t { kGlobal, kShared, kDynamicShared };
  Kind kind = Kind::kGlobal;
  std::uint32_t index = 0;         ///< kGlobal: into Program::globals()
  std::uint32_t offset_bytes = 0;  ///< kShared
};

/// The names of one PTX module, resolved over all linked modules.
struct ModuleSymbols {
  std::vector<SymbolPlace> globals;      ///< by index into ptx::Module::globals
  std::vector<std::uint32_t> functions;  ///< by index into ptx::Module::functions
};

/// What one function does that matters to whoever launches it.
struct FunctionFacts {
  std::vector<std::uint32_t> callees;
  bool calls_indirectly = false;
  bool talks_to_blocks =
      false;  ///< returned atomics, volatile or ordered loads, last-writer atomics
  bool counts_arrivals = false;        ///< among these, integers added with a result
  bool float_reductions = false;       ///< float atomics on global memory whose result is unused
  bool loads_after_reduction = false;  ///< a global load may run after one of them
  bool uses_grid_sync = false;
  bool uses_dynamic_shared = false;
  bool takes_parameter_addresses = false;
  std::vector<SharedVariable> shared_variables = {};  ///< of the function itself
  std::uint32_t shared_end_bytes = 0;                 ///< static shared memory up to here is in use
};

/// Can the outcome depend on the order of blocks, or a block learn what another did?
[[nodiscard]] bool talks(const Instruction& in);
/// Of what talks: may it count who has arrived?
[[nodiscard]] bool counts_arrivals(const Instruction& in);

/// Fills the facts that follow from decoded code.
void gather_facts(const Function& function, FunctionFacts& facts);

}  // namespace membound::vgpu::program
