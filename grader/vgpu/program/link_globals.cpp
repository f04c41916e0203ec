// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The linker's variables: who defines each, and where those in shared memory lie.
#include <algorithm>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/linker.hpp"

namespace membound::vgpu::program {
namespace {

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
        if (variable.size_bytes != 0) module_shared_bytes_ += shared_gap_bytes_;
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
    const auto size = static_cast<std::uint32_t>(module.globals[g].size_bytes) + shared_gap_bytes_;
    std::uint32_t offset = 0;
    for (std::size_t h = 0; h < g; ++h) {  // behind every one that it meets in a kernel
      if (places[h].kind != SymbolPlace::Kind::kShared || !meet(g, h)) continue;
      const std::uint64_t end =
          places[h].offset_bytes + module.globals[h].size_bytes + shared_gap_bytes_;
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
