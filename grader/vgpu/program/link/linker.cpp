// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Names, files and variables of all modules, and the passes over each function's code.
#include "grader/vgpu/program/link/linker.hpp"

#include <algorithm>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/link/decoder.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {
namespace {

/// What is done to the code of a function, in this order.
void run_passes(const AssemblerPasses& passes, Function& function, RegisterSizes sizes) {
  if (passes.unrolls) mark_unrolled(function, sizes);
  propagate_constants(function, sizes);
  if (passes.fuses) mark_fused(function, sizes);
  if (passes.joins_vectors) mark_vectors(function, sizes);
  (passes.batches_loads ? mark_load_batches : mark_single_loads)(function, sizes);
  if (passes.aggregates_atomics) mark_warp_aggregated_atomics(function, sizes);
  assign_registers(function, sizes);
}

/// Calls `visit` with the index of every module variable that `operands` name.
void for_each_global(std::span<const ptx::Operand> operands, const auto& visit) {
  for (const ptx::Operand& operand : operands) {
    if (operand.reference.kind == ptx::ReferenceKind::kGlobal) visit(operand.reference.index);
    for_each_global(operand.children, visit);
  }
}

base::Error unresolved(const ptx::Module& module, std::string_view name) {
  return base::Error{
      .kind = base::ErrorKind::kInput,
      .where = std::string(ptx::file_name_of(module)),
      .found = "variable '" + std::string(name) + "' is declared here and defined nowhere",
      .expected = "a definition in one of the linked modules",
      .advice = "add the file that defines it to the nvcc command, with -rdc=true"};
}

}  // namespace

Linker::Linker(std::span<const ptx::Module> modules, std::uint32_t shared_red_zone_bytes,
               const AssemblerPasses& passes)
    : shared_red_zone_bytes_(shared_red_zone_bytes), passes_(passes) {
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

/// Shared variables that functions declare lie after the module's, each function's after those of
/// the one before: a kernel may call any of them. A kernel's own lie after all that it may use.
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
                  {shared_base_bytes, shared_red_zone_bytes_});
  Function& function = program_.functions_[f];
  if (auto status = decoder.decode(function, facts_[f]); !status) return status;
  std::vector<std::uint8_t> sizes(source.register_count);
  for (std::uint32_t r = 0; r < sizes.size(); ++r) sizes[r] = slots_of(source.group_of(r).type);
  run_passes(passes_, function, sizes);
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
                                    std::uint32_t shared_red_zone_bytes,
                                    const AssemblerPasses& passes) {
  auto program = Linker(modules, 0, passes).run();
  if (!program || shared_red_zone_bytes == 0) return program;
  const bool has_neighbours =
      std::any_of(program->kernels_.begin(), program->kernels_.end(), [](const Kernel& kernel) {
        return kernel.shared_variables.size() + (kernel.uses_dynamic_shared ? 1 : 0) > 1;
      });
  if (!has_neighbours) return program;
  auto apart = Linker(modules, shared_red_zone_bytes, passes).run();
  if (!apart) return program;  // too large with the red zones
  for (std::size_t k = 0; k < apart->kernels_.size(); ++k)
    apart->kernels_[k].static_shared_bytes = program->kernels_[k].static_shared_bytes;
  return apart;
}

void Linker::add_global(const ptx::Module& module, const ptx::Variable& variable) {
  GlobalVariable global;
  global.name = std::string(variable.name);
  global.size_bytes = variable.size_bytes;
  global.alignment_bytes = std::max<std::uint64_t>(1, variable.alignment_bytes);
  global.is_constant = variable.space == ptx::StateSpace::kConst;
  global.is_managed = variable.is_managed;
  if (variable.has_initial) global.initial = variable.initial;
  for (const ptx::Relocation& relocation : variable.relocations) {
    GlobalVariable::Relocation made;
    made.offset_bytes = relocation.offset_bytes;
    made.size_bytes = relocation.size_bytes;
    made.shift_bits = relocation.shift_bits;
    made.addend = relocation.addend;
    made.generic = relocation.generic;
    made.target = relocation.target.kind == ptx::ReferenceKind::kFunction
                      ? std::string(module.functions[relocation.target.index].name)
                      : std::string(relocation.target.name);
    global.relocations.push_back(std::move(made));
  }
  program_.globals_.push_back(std::move(global));
}

base::Status Linker::collect_globals() {
  std::unordered_map<std::string_view, SymbolPlace> visible;
  const auto is_declaration = [](const ptx::Variable& v) {
    return v.linkage == ptx::Linkage::kExtern && v.space != ptx::StateSpace::kShared;
  };
  for (std::size_t m = 0; m < program_.modules_.size(); ++m) {
    const ptx::Module& module = program_.modules_[m];
    symbols_[m].globals.resize(module.globals.size());
    for (std::size_t g = 0; g < module.globals.size(); ++g) {
      const ptx::Variable& variable = module.globals[g];
      if (is_declaration(variable)) continue;
      SymbolPlace place;
      const bool shareable = variable.linkage != ptx::Linkage::kInternal;
      if (shareable && visible.contains(variable.name)) {  // weak or common: one for all
        symbols_[m].globals[g] = visible[variable.name];
        continue;
      }
      if (variable.space == ptx::StateSpace::kShared) {
        place.kind = variable.size_bytes == 0 ? SymbolPlace::Kind::kDynamicShared
                                              : SymbolPlace::Kind::kShared;
        const std::uint64_t begin = align_up(module_shared_bytes_, variable.alignment_bytes);
        if (begin > kMostBytes || variable.size_bytes > kMostBytes - begin)
          return too_large(module, "the shared variable", variable.name);
        if (place.kind == SymbolPlace::Kind::kShared)
          place.offset_bytes = static_cast<std::uint32_t>(begin);
        module_shared_bytes_ = static_cast<std::uint32_t>(begin + variable.size_bytes);
        if (variable.size_bytes != 0) module_shared_bytes_ += shared_red_zone_bytes_;
      } else {
        place.index = static_cast<std::uint32_t>(program_.globals_.size());
        add_global(module, variable);
      }
      symbols_[m].globals[g] = place;
      if (shareable) visible.emplace(variable.name, place);
    }
  }
  for (std::size_t m = 0; m < program_.modules_.size(); ++m) {
    const ptx::Module& module = program_.modules_[m];
    for (std::size_t g = 0; g < module.globals.size(); ++g) {
      if (!is_declaration(module.globals[g])) continue;
      const auto found = visible.find(module.globals[g].name);
      if (found == visible.end()) return unresolved(module, module.globals[g].name);
      symbols_[m].globals[g] = found->second;
    }
  }
  return base::Done{};
}

/// clang declares the shared variables of all kernels side by side, outside of functions. Only
/// those that a kernel names take place in it; so variables that no kernel uses together may have
/// the same place. Left as they are where a function that several kernels may call names one.
void Linker::overlay_shared() {
  if (program_.modules_.size() != 1 || module_shared_bytes_ == 0) return;
  const ptx::Module& module = program_.modules_.front();
  std::vector<std::vector<const ptx::Function*>> users(module.globals.size());
  for (const ptx::Function& function : module.functions) {
    bool called_from_elsewhere = false;
    for (const ptx::Instruction& instruction : function.instructions) {
      for_each_global(instruction.operands, [&](std::uint32_t g) {
        if (module.globals[g].space != ptx::StateSpace::kShared) return;
        called_from_elsewhere = called_from_elsewhere || !function.is_entry;
        if (users[g].empty() || users[g].back() != &function) users[g].push_back(&function);
      });
    }
    if (called_from_elsewhere) return;
  }
  const auto meet = [&](std::size_t g, std::size_t h) {
    return std::any_of(users[g].begin(), users[g].end(), [&](const ptx::Function* user) {
      return std::find(users[h].begin(), users[h].end(), user) != users[h].end();
    });
  };
  std::vector<SymbolPlace>& places = symbols_.front().globals;
  module_shared_bytes_ = 0;
  for (const ptx::Function& function : module.functions)
    if (function.is_entry) shared_end_of_[&function] = 0;
  for (std::size_t g = 0; g < places.size(); ++g) {
    if (places[g].kind != SymbolPlace::Kind::kShared) continue;
    const auto size =
        static_cast<std::uint32_t>(module.globals[g].size_bytes) + shared_red_zone_bytes_;
    std::uint32_t offset = 0;
    for (std::size_t h = 0; h < g; ++h) {  // after every one that it meets in a kernel
      if (places[h].kind != SymbolPlace::Kind::kShared || !meet(g, h)) continue;
      const std::uint64_t end =
          places[h].offset_bytes + module.globals[h].size_bytes + shared_red_zone_bytes_;
      offset = std::max(
          offset, static_cast<std::uint32_t>(align_up(end, module.globals[g].alignment_bytes)));
    }
    places[g].offset_bytes = offset;
    module_shared_bytes_ = std::max(module_shared_bytes_, offset + size);
    for (const ptx::Function* user : users[g])
      shared_end_of_[user] = std::max(shared_end_of_[user], offset + size);
  }
}

std::uint32_t Linker::module_shared_end(std::uint32_t function) const {
  const auto own = shared_end_of_.find(sources_[function]);
  return own == shared_end_of_.end() ? module_shared_bytes_ : own->second;
}

/// Those that the function names and that are declared outside of functions.
void Linker::add_module_shared(std::uint32_t function, std::vector<SharedVariable>& all) const {
  if (module_shared_bytes_ == 0) return;
  const std::uint32_t m = module_of_[function];
  const ptx::Module& module = program_.modules_[m];
  for (const ptx::Instruction& instruction : sources_[function]->instructions) {
    for_each_global(instruction.operands, [&](std::uint32_t g) {
      const SymbolPlace& place = symbols_[m].globals[g];
      if (place.kind != SymbolPlace::Kind::kShared) return;
      const ptx::Variable& variable = module.globals[g];
      SharedVariable made{std::string(variable.name), place.offset_bytes,
                          static_cast<std::uint32_t>(variable.size_bytes)};
      if (std::find(all.begin(), all.end(), made) == all.end()) all.push_back(std::move(made));
    });
  }
}

}  // namespace membound::vgpu::program
