// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joins the modules of a program: who defines which name, where shared variables lie, which
/// functions a kernel may reach, and what each function needs and does beyond its code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Fills the facts that follow from decoded code.
void gather_facts(const Function& function, FunctionFacts& facts);

/// Builds a Program; one use.
class Linker {
 public:
  Linker(std::span<const ptx::Module> modules, std::uint32_t shared_red_zone_bytes,
         const AssemblerPasses& passes);

  base::Result<Program> run();

 private:
  base::Status collect_globals();
  void overlay_shared();
  [[nodiscard]] std::uint32_t module_shared_end(std::uint32_t function) const;
  base::Status collect_functions();
  base::Status collect_files();
  base::Status decode_all();
  base::Status decode_one(std::uint32_t f, std::uint32_t shared_base_bytes);
  void add_kernel(std::uint32_t function);
  /// All functions that `function` may call, itself first.
  [[nodiscard]] std::vector<std::uint32_t> reachable_from(std::uint32_t function) const;
  /// What all that it reaches needs and does together.
  void add_facts(Kernel& kernel) const;
  void add_module_shared(std::uint32_t function, std::vector<SharedVariable>& all) const;
  [[nodiscard]] std::vector<std::uint64_t> known_stacks() const;
  void add_global(const ptx::Module& module, const ptx::Variable& variable);
  static base::Error too_large(const ptx::Module& module, std::string_view what,
                               std::string_view name);

  Program program_;
  std::vector<ModuleSymbols> symbols_;
  std::vector<const ptx::Function*> sources_;  // by program function
  std::vector<std::uint32_t> module_of_;       // by program function
  std::vector<FunctionFacts> facts_;
  std::unordered_map<std::string_view, std::uint32_t> function_by_name_;
  std::uint32_t shared_red_zone_bytes_;  // after each shared variable
  AssemblerPasses passes_;
  std::uint32_t module_shared_bytes_ = 0;
  /// By kernel: its end of the shared variables declared outside of functions, where they overlay
  /// each other; empty where every kernel has all of them.
  std::unordered_map<const ptx::Function*, std::uint32_t> shared_end_of_;
};

}  // namespace membound::vgpu::program
