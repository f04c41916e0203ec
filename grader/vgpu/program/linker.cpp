// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/linker.hpp"

#include <algorithm>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/decoder.hpp"
#include "grader/vgpu/program/fusion.hpp"
#include "grader/vgpu/program/joining.hpp"
#include "grader/vgpu/program/registers.hpp"
#include "grader/vgpu/program/rounds.hpp"
#include "grader/vgpu/program/unrolling.hpp"
#include "grader/vgpu/program/user_lines.hpp"
#include "grader/vgpu/program/vectors.hpp"

namespace membound::vgpu::program {

Linker::Linker(std::span<const ptx::Module> modules, std::uint32_t shared_gap_bytes)
    : shared_gap_bytes_(shared_gap_bytes) {
  program_.modules_.assign(modules.begin(), modules.end());
}

base::Result<Program> Linker::run() {
  symbols_.resize(program_.modules_.size());
  if (auto status = collect_globals(); !status) return status.error();
  overlay_shared();
  if (auto status = collect_functions(); !status) return status.error();
  if (auto status = collect_files(); !status) return status.error();
  if (auto status = decode_all(); !status) return status.error();
  for (Function& function : program_.functions_) attribute_to_user_lines(function, program_.files_);
  const std::vector<std::uint64_t> stacks = known_stacks();
  for (std::uint32_t f = 0; f < sources_.size(); ++f) {
    if (!sources_[f]->is_entry || !sources_[f]->has_body) continue;
    add_kernel(f);
    program_.kernels_.back().stack_bytes = stacks[f];
  }
  return std::move(program_);
}

base::Error Linker::too_large(const ptx::Module& module, std::string_view what,
                              std::string_view name) {
  return base::Error{.kind = base::ErrorKind::kInput,
                     .where = std::string(ptx::file_name_of(module)),
                     .found = std::string(what) + " '" + std::string(name) + "' is too large",
                     .expected = "a size that a GPU can have",
                     .advice = "make it smaller"};
}

base::Status Linker::collect_functions() {
  // Definitions first, so that a prototype anywhere finds them; internal names stay per module.
  for (std::uint32_t m = 0; m < program_.modules_.size(); ++m) {
    const ptx::Module& module = program_.modules_[m];
    symbols_[m].functions.assign(module.functions.size(), kNoTarget);
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
      const ptx::Function& function = module.functions[f];
      if (!function.has_body) continue;
      const bool internal = function.linkage == ptx::Linkage::kInternal;
      const auto found = function_by_name_.find(function.name);
      if (!internal && found != function_by_name_.end()) {
        symbols_[m].functions[f] = found->second;
        continue;
      }
      const auto index = static_cast<std::uint32_t>(sources_.size());
      symbols_[m].functions[f] = index;
      sources_.push_back(&function);
      module_of_.push_back(m);
      if (!internal) function_by_name_.emplace(function.name, index);
    }
  }
  for (std::uint32_t m = 0; m < program_.modules_.size(); ++m) {
    const ptx::Module& module = program_.modules_[m];
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
      const ptx::Function& function = module.functions[f];
      if (function.has_body) continue;
      std::uint32_t index = kNoTarget;
      for (std::size_t other = 0; other < module.functions.size(); ++other) {
        if (module.functions[other].has_body && module.functions[other].name == function.name)
          index = symbols_[m].functions[other];
      }
      if (index == kNoTarget) {
        const auto [place, added] = function_by_name_.try_emplace(
            function.name, static_cast<std::uint32_t>(sources_.size()));
        if (added) {  // provided by the device runtime, or a fault when called
          sources_.push_back(&function);
          module_of_.push_back(m);
        }
        index = place->second;
      }
      symbols_[m].functions[f] = index;
    }
  }
  return base::Done{};
}

base::Status Linker::collect_files() {
  constexpr std::uint32_t kMostFiles = 1u << 20;
  program_.files_.push_back("");
  // Every module numbers its files from 1; a file keeps its number in the first module.
  for (const ptx::Module& module : program_.modules_) {
    for (const ptx::File& file : module.files) {
      if (file.index >= kMostFiles) return too_large(module, "the number of the file", file.name);
      if (program_.files_.size() <= file.index) program_.files_.resize(file.index + 1);
    }
    if (&module == &program_.modules_.front()) {
      for (const ptx::File& file : module.files)
        program_.files_[file.index] = std::string(file.name);
    }
  }
  return base::Done{};
}

/// Shared variables that functions declare lie behind the module's, each function's behind those of
/// the one before: a kernel may call any of them. A kernel's own lie behind all that it may use.
base::Status Linker::decode_all() {
  program_.functions_.resize(sources_.size());
  facts_.resize(sources_.size());
  std::uint32_t functions_end = module_shared_bytes_;
  bool functions_use_shared = false;
  for (const bool entries : {false, true}) {
    for (Function& function : program_.functions_)
      attribute_to_user_lines(function, program_.files_);
    for (std::uint32_t f = 0; f < sources_.size(); ++f) {
      if (sources_[f]->is_entry != entries) continue;
      const bool packed = entries && !functions_use_shared;
      const std::uint32_t base = packed ? module_shared_end(f) : functions_end;
      if (auto status = decode_one(f, base); !status) return status;
      if (entries || facts_[f].shared_end_bytes == 0) continue;
      functions_end = facts_[f].shared_end_bytes;
      functions_use_shared = true;
    }
  }
  return base::Done{};
}

base::Status Linker::decode_one(std::uint32_t f, std::uint32_t shared_base_bytes) {
  const ptx::Function& source = *sources_[f];
  Decoder decoder(program_.modules_[module_of_[f]], source, symbols_[module_of_[f]], sources_,
                  {shared_base_bytes, shared_gap_bytes_});
  Function& function = program_.functions_[f];
  if (auto status = decoder.decode(function, facts_[f]); !status) return status;
  std::vector<std::uint8_t> sizes(source.register_count);
  for (std::uint32_t r = 0; r < sizes.size(); ++r) sizes[r] = slots_of(source.group_of(r).type);
  mark_unrolled(function, sizes.size());
  propagate_constants(function, sizes);
  mark_fused(function, sizes.size());
  mark_vectors(function, sizes.size());
  mark_rounds(function, sizes.size());
  mark_joined_atomics(function, sizes.size());
  assign_registers(function, sizes);
  gather_facts(function, facts_[f]);
  if (module_of_[f] == 0) return base::Done{};
  const auto by_name = [&](SourceLine& line) {  // file numbers of later modules
    if (line.line == 0) return;
    const std::string_view name = program_.modules_[module_of_[f]].file_name(line.file);
    const auto found = std::find(program_.files_.begin(), program_.files_.end(), name);
    line.file = static_cast<std::uint32_t>(found - program_.files_.begin());
    if (found == program_.files_.end()) program_.files_.push_back(std::string(name));
  };
  for (SourceLine& line : function.lines) by_name(line);
  for (SourceLine& line : function.call_sites) by_name(line);
  return base::Done{};
}

base::Result<Program> Program::link(std::span<const ptx::Module> modules,
                                    std::uint32_t shared_gap_bytes) {
  auto program = Linker(modules, 0).run();
  if (!program || shared_gap_bytes == 0) return program;
  const bool has_neighbours =
      std::any_of(program->kernels_.begin(), program->kernels_.end(), [](const Kernel& kernel) {
        return kernel.shared_variables.size() + (kernel.uses_dynamic_shared ? 1 : 0) > 1;
      });
  if (!has_neighbours) return program;
  auto apart = Linker(modules, shared_gap_bytes).run();
  if (!apart) return program;  // too large with the gaps
  for (std::size_t k = 0; k < apart->kernels_.size(); ++k)
    apart->kernels_[k].static_shared_bytes = program->kernels_[k].static_shared_bytes;
  return apart;
}

}  // namespace membound::vgpu::program
