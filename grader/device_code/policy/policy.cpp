// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/policy/policy.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "grader/base/failpoint.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"
#include "grader/device_code/ptx/parser.hpp"

namespace membound::policy {
namespace {

/// Who a thread is, and how much shared memory it was given. Left out is what no lab needs, and
/// what tells a device, a run or a moment from another: %globaltimer*, %clock*, %pm*, %gridid,
/// %smid, %nsmid, %envreg*, %current_graph_exec; %warpid and %nwarpid, which are places on a
/// multiprocessor (a warp's number in its block is threadIdx.x / 32); %total_smem_size,
/// %aggr_smem_size and %reserved_smem_offset_*, which are the driver's share. Of these
/// %reserved_smem_offset_1 is what cooperative groups' tiles of more than 32 threads use.
constexpr std::array kRegisters = std::to_array<std::string_view>(
    {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%lanemask_eq", "%lanemask_le",
     "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clusterid", "%nclusterid", "%cluster_ctaid",
     "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster",
     "%dynamic_smem_size", "%reserved_smem_offset_1"});

constexpr std::array kDirectives = std::to_array<std::string_view>(
    {".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".noreturn",
     ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters", ".pragma",
     ".unique", ".abi_preserve", ".abi_preserve_control"});

/// Functions that the device itself brings: printf, malloc, assert.
constexpr std::array kFunctions =
    std::to_array<std::string_view>({"vprintf", "malloc", "free", "__assertfail"});

/// Libraries of the toolkit that would do the work of a lab.
constexpr std::array kLibraries =
    std::to_array<std::string_view>({"/cub/", "/thrust/", "/cutlass/", "/cublasdx/", "/cufftdx/"});

template <std::size_t kCount>
bool has(const std::array<std::string_view, kCount>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Walks one module and notes what is in no list.
class Inspector {
 public:
  Inspector(const ptx::Module& module, const std::vector<std::string>& also)
      : module_(module), also_(also.begin(), also.end()) {}

  std::vector<Breach> inspect() {
    for (const ptx::Variable& variable : module_.globals) {
      if (variable.is_managed) note(".managed", variable.name, nullptr, ptx::kNoIndex);
      const bool from_elsewhere =
          variable.linkage == ptx::Linkage::kExtern && variable.space != ptx::StateSpace::kShared;
      if (from_elsewhere) note(".extern", variable.name, nullptr, ptx::kNoIndex);
    }
    inspect_files();
    for (const ptx::Alias& alias : module_.aliases)
      note(".alias", alias.name, nullptr, ptx::kNoIndex);
    for (const ptx::Function& function : module_.functions) inspect(function);
    return std::move(breaches_);
  }

 private:
  /// Line tables name every header that code came from.
  void inspect_files() {
    for (const ptx::File& file : module_.files) {
      for (const std::string_view folder : kLibraries) {
        if (file.name.find(folder) == std::string_view::npos) continue;
        note(folder.substr(1, folder.size() - 2), file.name.substr(file.name.rfind('/') + 1),
             nullptr, ptx::kNoIndex);
        break;
      }
    }
  }

  void inspect(const ptx::Function& function) {
    if (!function.has_body && !is_defined(function.name) && !has(kFunctions, function.name))
      note(".extern", function.name, &function, ptx::kNoIndex);
    for (const ptx::Directive& directive : function.directives)
      if (!has(kDirectives, directive.name))
        note(directive.name, directive.name, &function, ptx::kNoIndex);
    for (const ptx::Instruction& instruction : function.instructions) {
      if (!is_graded_opcode(instruction.opcode))
        note(instruction.opcode, instruction.mnemonic, &function, instruction.location);
      for (const ptx::Operand& operand : instruction.operands)
        inspect(operand, instruction, function);
    }
  }

  void inspect(const ptx::Operand& operand, const ptx::Instruction& instruction,
               const ptx::Function& function) {
    if (operand.reference.kind == ptx::ReferenceKind::kSpecialRegister) {
      // Written with a component: %tid.x.
      const std::string_view name =
          operand.reference.name.substr(0, operand.reference.name.find('.'));
      if (!has(kRegisters, name)) note(name, instruction.mnemonic, &function, instruction.location);
    }
    for (const ptx::Operand& child : operand.children) inspect(child, instruction, function);
  }

  [[nodiscard]] bool is_defined(std::string_view name) const {
    const ptx::Function* const function = module_.find_function(name);
    return function != nullptr && function->has_body;
  }

  void note(std::string_view what, std::string_view instruction, const ptx::Function* function,
            std::uint32_t location) {
    if (also_.contains(what) || breaches_.size() >= kMostBreaches) return;
    Breach breach{std::string(what), std::string(instruction), "", "", 0};
    if (function != nullptr) breach.function = function->name;
    if (function != nullptr && location != ptx::kNoIndex) {
      const ptx::SourceLocation& place = function->locations[location];
      // Where a macro or an inlined helper of the toolkit was called from says more to its author.
      const bool inlined = place.inlined_at_line != 0;
      breach.file = module_.file_name(inlined ? place.inlined_at_file : place.file);
      breach.file = breach.file.substr(breach.file.rfind('/') + 1);
      breach.line = static_cast<int>(inlined ? place.inlined_at_line : place.line);
    }
    breaches_.push_back(std::move(breach));
  }

  const ptx::Module& module_;
  std::set<std::string, std::less<>> also_;
  std::vector<Breach> breaches_;
};

}  // namespace

bool is_graded_opcode(std::string_view opcode) {
  constexpr bool kGraded = true, kRefused = false;
  static const std::set<std::string_view> kOpcodes = [] {
    std::set<std::string_view> names;
#define MEMBOUND_OPCODE(id, name, shape, suffixes, family, results, unit, cost, graded, section, \
                        doc)                                                                     \
  if (graded) names.insert(name);
#include "grader/device_code/ptx/opcodes.def"
#undef MEMBOUND_OPCODE
    return names;
  }();
  return kOpcodes.contains(opcode);
}

std::string to_string(const Breach& breach) {
  std::string text = breach.file.empty() ? "kernel.cu" : breach.file;
  if (breach.line > 0) text += ":" + std::to_string(breach.line);
  text += ": " + breach.what + " is not allowed in graded code";
  if (breach.instruction != breach.what) text += " (" + breach.instruction + ")";
  if (!breach.function.empty()) text += ", in " + breach.function;
  return text;
}

base::Result<std::vector<Breach>> check_ptx(std::string_view text,
                                            const std::vector<std::string>& also) {
  const auto module = ptx::parse(text, "kernel.ptx");
  if (!module) return module.error();
  return Inspector(*module, also).inspect();
}

base::Result<std::vector<Breach>> check_policy(std::string_view compiled,
                                               const std::vector<std::string>& also) {
  if (base::switched_off("policy")) return std::vector<Breach>{};
  if (fatbin::is_program_without_device_code(std::as_bytes(std::span(compiled))))
    return std::vector<Breach>{};
  const auto entries = fatbin::read(std::as_bytes(std::span(compiled)), "compiled kernel");
  if (!entries) return entries.error();
  std::vector<Breach> all;
  bool any = false;
  for (const fatbin::Entry& entry : *entries) {
    if (entry.kind != fatbin::EntryKind::kPtx) continue;
    any = true;
    const auto breaches = check_ptx(entry.text(), also);
    if (!breaches) return breaches.error();
    all.insert(all.end(), breaches->begin(), breaches->end());
  }
  if (!any) {
    return base::Error{base::ErrorKind::kInput, "compiled kernel", "holds no PTX",
                       "PTX, which is what graded code is checked by", "nvcc -arch=sm_90"};
  }
  return all;
}

}  // namespace membound::policy
