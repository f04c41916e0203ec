// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joins the modules of a program: who defines which name, where shared variables lie, which
/// functions a kernel may reach.
/// Place in the chain: module (Program::link) -> [linker] -> program/decoder, function by function.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grader/vgpu/program/facts.hpp"
#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Builds a Program; one use.
class Linker {
 public:
  Linker(std::span<const ptx::Module> modules, std::uint32_t shared_gap_bytes);

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
  std::uint32_t shared_gap_bytes_;  // behind each shared variable
  std::uint32_t module_shared_bytes_ = 0;
  /// By kernel: its end of the shared variables declared outside of functions, where they overlay
  /// each other; empty where every kernel has all of them.
  std::unordered_map<const ptx::Function*, std::uint32_t> shared_end_of_;
};

}  // namespace membound::vgpu::program
