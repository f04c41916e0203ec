// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/modules.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstring>

#include "grader/device_code/fatbin/cubin.hpp"
#include "grader/device_code/fatbin/machine_code.hpp"
#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/machine_accesses.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"

namespace membound::vgpu::runtime {
namespace {

base::Error out_of_memory(const std::string& where, const program::GlobalVariable& variable) {
  return {base::ErrorKind::kMachine, where,
          "no device memory is left for the variable " + variable.name, "",
          "choose a machine with more memory, or make the variable smaller"};
}

/// Memory with one address for host and device. Null when the system has none.
std::byte* map_managed(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// Of a function's machine code, what its loads and stores of shared memory are.
program::MachineCode shared_accesses_of(const fatbin::MachineFunction& function) {
  program::MachineCode code{.function = function.name, .has_lines = function.has_lines};
  for (const fatbin::MachineLoop& loop : function.loops) code.loop_lines.push_back(loop.ptx_line);
  for (const fatbin::MachineMemory& access : function.accesses) {
    const bool is_store = access.access == fatbin::MachineAccess::kStore;
    if (access.space != fatbin::MachineSpace::kShared ||
        (!is_store && access.access != fatbin::MachineAccess::kLoad))
      continue;
    code.shared_accesses.push_back({access.ptx_line, access.lane_bytes, {}, is_store});
    program::SharedAccess& shared = code.shared_accesses.back();
    for (const fatbin::MachineLoop& loop : function.loops)
      if (loop.begin_bytes <= access.offset_bytes && access.offset_bytes <= loop.end_bytes)
        shared.loop_lines.push_back(loop.ptx_line);
  }
  return code;
}

std::vector<std::string_view> names_of_functions(const ptx::Module& module) {
  std::vector<std::string_view> names;
  for (const ptx::Function& function : module.functions) names.push_back(function.name);
  return names;
}

cudaError_t find_symbol(Context& context, const void* symbol, PlacedVariable& found) {
  const RegisteredVariable* variable = context.registry.find_variable(symbol);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  const base::Status loaded = variable->module->load(context.memory, context.code_target());
  if (!loaded) {
    if (variable->module->take_first_report())
      messages::print(messages::unusable_code("", loaded.error()));
    return variable->module->load_code();
  }
  const auto placed = variable->module->variable(variable->name);
  if (!placed) return cudaErrorInvalidSymbol;
  found = *placed;
  return cudaSuccess;
}

/// The program of a module that is gone.
struct LinkedProgram {
  std::vector<std::byte> bytes;
  CodeTarget target;
  std::uint32_t ptx_version = 0;
  std::unique_ptr<program::Program> program;
};

/// Of the last few: before each timed case a submission is loaded anew, so that its variables are
/// what they were at first, and to parse and link it again would take as long as some cases do.
std::vector<LinkedProgram>& spare_programs() {
  static auto& all = *new std::vector<LinkedProgram>;
  return all;
}

}  // namespace

Module::Module(const void* image, bool is_wrapper, std::string origin)
    : image_(image), is_wrapper_(is_wrapper), origin_(std::move(origin)) {}

Module::Module(std::vector<std::byte> bytes, std::string origin)
    : bytes_(std::move(bytes)), origin_(std::move(origin)) {}

bool Module::take_first_report() { return !std::exchange(reported_, true); }

base::Result<std::vector<std::vector<fatbin::Entry>>> Module::read_entries() const {
  if (image_ != nullptr)
    return is_wrapper_ ? fatbin::read_wrapper(image_) : fatbin::read_image(image_);
  auto entries = fatbin::read(bytes_, origin_);
  if (!entries) return entries.error();
  return std::vector<std::vector<fatbin::Entry>>{std::move(*entries)};
}

base::Status Module::load(memory::AddressSpace& memory, const CodeTarget& target) {
  if (!loaded_) loaded_ = load_once(memory, target);
  return *loaded_;
}

base::Status Module::load_once(memory::AddressSpace& memory, const CodeTarget& target) {
  target_ = target;
  if (take_spare_program()) {
    load_code_ = cudaErrorMemoryAllocation;
    return place_program(memory);
  }
  const std::uint32_t arch = target.arch;
  auto containers = read_entries();
  load_code_ = cudaErrorInvalidKernelImage;
  if (!containers) return containers.error();
  std::vector<ptx::Module> modules;
  std::vector<const std::vector<fatbin::Entry>*> sources;  // by module
  std::optional<base::Error> without_ptx;
  for (const auto& entries : *containers) {
    auto chosen = fatbin::choose_ptx(entries, arch, origin_);
    if (!chosen) {
      // With -rdc=true the final container holds the linked cubin only: its PTX is in the others.
      without_ptx = chosen.error();
      continue;
    }
    auto parsed =
        ptx::parse((*chosen)->text(), (*chosen)->name.empty() ? origin_ : (*chosen)->name);
    load_code_ = cudaErrorInvalidPtx;
    if (!parsed) return parsed.error();
    ptx_version_ = std::max(ptx_version_, (*chosen)->arch);
    modules.push_back(std::move(*parsed));
    sources.push_back(&entries);
  }
  load_code_ = cudaErrorNoKernelImageForDevice;
  if (modules.empty() && without_ptx) return *without_ptx;
  auto linked = program::Program::link(modules, target.shared_red_zone_bytes, target.passes);
  load_code_ = cudaErrorInvalidPtx;
  if (!linked) return linked.error();
  program_ = std::make_unique<program::Program>(std::move(*linked));
  take_registers(*containers, arch);
  for (std::size_t i = 0; i < modules.size(); ++i)
    take_shared_accesses(modules[i], *sources[i], arch);
  load_code_ = cudaErrorMemoryAllocation;
  return place_program(memory);
}

base::Status Module::place_program(memory::AddressSpace& memory) {
  if (auto placed = place_variables(memory); !placed) return placed;
  for (auto& [name, handle] : handles_) handle->kernel = program_->find_kernel(name);
  load_code_ = cudaSuccess;
  return base::Done{};
}

bool Module::take_spare_program() {
  auto& spares = spare_programs();
  const auto found = std::ranges::find_if(spares, [&](const LinkedProgram& spare) {
    return !bytes_.empty() && spare.target == target_ && spare.bytes == bytes_;
  });
  if (found == spares.end()) return false;
  program_ = std::move(found->program);
  ptx_version_ = found->ptx_version;
  spares.erase(found);
  return true;
}

void Module::keep_spare_program() {
  constexpr std::size_t kMost = 2;
  auto& spares = spare_programs();
  if (load_code_ != cudaSuccess || program_ == nullptr || bytes_.empty()) return;
  spares.push_back({bytes_, target_, ptx_version_, std::move(program_)});
  if (spares.size() > kMost) spares.erase(spares.begin());
}

void Module::take_registers(const std::vector<std::vector<fatbin::Entry>>& containers,
                            std::uint32_t arch) {
  for (const auto& entries : containers) {
    const fatbin::Entry* cubin = fatbin::choose_cubin(entries, arch);
    if (cubin == nullptr) continue;
    auto kernels = fatbin::read_cubin(cubin->payload, origin_);
    if (!kernels) continue;  // a cubin of an unknown make: the estimate from the PTX stays
    for (const fatbin::CubinKernel& found : *kernels)
      if (program::Kernel* kernel = program_->find_kernel(found.name);
          kernel != nullptr && found.registers > 0)
        kernel->register_count = found.registers;
  }
}

void Module::take_shared_accesses(const ptx::Module& module,
                                  const std::vector<fatbin::Entry>& entries, std::uint32_t arch) {
  const fatbin::Entry* cubin = fatbin::choose_cubin(entries, arch);
  if (cubin == nullptr) return;
  const auto functions = fatbin::read_machine_code(cubin->payload, origin_);
  if (!functions) return;  // as the PTX has it
  std::vector<program::MachineCode> code;
  for (const fatbin::MachineFunction& function : *functions)
    code.push_back(shared_accesses_of(function));
  program::take_machine_accesses(*program_, names_of_functions(module), code);
}

base::Status Module::place_variables(memory::AddressSpace& memory) {
  const auto globals = program_->globals();
  for (std::size_t i = 0; i < globals.size(); ++i) {
    const program::GlobalVariable& variable = globals[i];
    const std::uint64_t bytes = std::max<std::uint64_t>(variable.size_bytes, 1);
    PlacedVariable placed{0, variable.size_bytes, variable.is_managed};
    if (variable.is_managed) {
      const std::uint64_t mapped = memory.host_array_bytes(bytes);
      std::byte* shared = map_managed(mapped);
      if (shared == nullptr) return out_of_memory(origin_, variable);
      memory.register_host_range(
          shared, bytes, {memory::AllocationKind::kManagedVariable, variable.name}, mapped - bytes);
      placed.address = reinterpret_cast<std::uint64_t>(shared);
    } else {
      const auto kind = variable.is_constant ? memory::AllocationKind::kConstant
                                             : memory::AllocationKind::kGlobalVariable;
      const auto address =
          memory.allocate(bytes, variable.alignment_bytes, {kind, variable.name, true});
      if (!address) return out_of_memory(origin_, variable);
      placed.address = *address;
    }
    program_->place_global(i, placed.address);
    variables_.push_back(placed);
  }
  for (std::size_t i = 0; i < globals.size(); ++i) {
    const std::vector<std::byte> image = program_->initial_image(i);
    if (image.empty()) continue;
    if (variables_[i].is_managed)
      std::memcpy(reinterpret_cast<void*>(variables_[i].address), image.data(), image.size());
    else
      memory.copy_in(variables_[i].address, image.data(), image.size());
  }
  return base::Done{};
}

KernelHandle& Module::handle(const std::string& name) {
  auto& slot = handles_[name];
  if (!slot) {
    slot = std::make_unique<CUkern_st>();
    slot->module = this;
    slot->name = name;
    if (program_) slot->kernel = program_->find_kernel(name);
  }
  return *slot;
}

std::vector<KernelHandle*> Module::all_handles() {
  std::vector<KernelHandle*> all;
  for (const program::Kernel& kernel : program_->kernels()) all.push_back(&handle(kernel.name));
  return all;
}

std::optional<PlacedVariable> Module::variable(std::string_view name) const {
  if (!program_) return std::nullopt;
  const auto index = program_->find_global(name);
  if (!index) return std::nullopt;
  return variables_[*index];
}

void Module::unload(memory::AddressSpace& memory) {
  for (const PlacedVariable& variable : variables_) {
    if (variable.is_managed) {
      memory.unregister_host_range(reinterpret_cast<void*>(variable.address));
      munmap(reinterpret_cast<void*>(variable.address),
             memory.host_array_bytes(std::max<std::uint64_t>(variable.bytes, 1)));
    } else {
      memory.free(variable.address);
    }
  }
  variables_.clear();
  for (auto& [name, handle] : handles_) handle->kernel = nullptr;
  keep_spare_program();
  program_.reset();
  loaded_.reset();
}

Module& Registry::add_program(const void* wrapper) {
  modules_.push_back(std::make_unique<Module>(wrapper, true, "the program's device code"));
  return *modules_.back();
}

Module& Registry::add_library(std::unique_ptr<Module> module) {
  modules_.push_back(std::move(module));
  return *modules_.back();
}

cudaLibrary_t Registry::handle_of(const Module& module) const {
  return reinterpret_cast<cudaLibrary_t>(const_cast<Module*>(&module));
}

Module* Registry::find_library(cudaLibrary_t handle) const {
  for (const auto& module : modules_)
    if (handle_of(*module) == handle) return module.get();
  return nullptr;
}

bool Registry::remove_library(cudaLibrary_t handle, memory::AddressSpace& memory) {
  Module* module = find_library(handle);
  if (module == nullptr) return false;
  remove_program(*module, memory);
  return true;
}

void Registry::remove_program(const Module& module, memory::AddressSpace& memory) {
  const auto belongs = [&](const auto& entry) { return entry.second->module == &module; };
  std::erase_if(stubs_, belongs);
  std::erase_if(handles_, belongs);
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == &module; });
  const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const auto& candidate) {
    return candidate.get() == &module;
  });
  if (found == modules_.end()) return;
  (*found)->unload(memory);
  modules_.erase(found);
}

void Registry::add_kernel(const void* stub, Module& module, const std::string& name) {
  KernelHandle& handle = module.handle(name);
  stubs_[stub] = &handle;
  remember(handle);
}

void Registry::add_variable(const void* host, RegisteredVariable variable) {
  variables_[host] = std::move(variable);
}

KernelHandle* Registry::find_kernel(const void* stub_or_handle) const {
  if (const auto stub = stubs_.find(stub_or_handle); stub != stubs_.end()) return stub->second;
  const auto handle = handles_.find(stub_or_handle);
  return handle == handles_.end() ? nullptr : handle->second;
}

const RegisteredVariable* Registry::find_variable(const void* host) const {
  const auto found = variables_.find(host);
  return found == variables_.end() ? nullptr : &found->second;
}

std::vector<const RegisteredVariable*> Registry::variables_of(const Module& module) const {
  std::vector<const RegisteredVariable*> found;
  for (const auto& [host, variable] : variables_)
    if (variable.module == &module) found.push_back(&variable);
  return found;
}

void Registry::remember(KernelHandle& handle) {
  handles_[static_cast<CUkern_st*>(&handle)] = &handle;
}

void Registry::unload_all(memory::AddressSpace& memory) {
  for (const auto& module : modules_) module->unload(memory);
}

cudaError_t symbol_range(Context& context, const void* symbol, std::size_t offset,
                         std::size_t bytes, std::uint64_t& address) {
  PlacedVariable found;
  if (const cudaError_t code = find_symbol(context, symbol, found); code != cudaSuccess)
    return code;
  if (offset > found.bytes || bytes > found.bytes - offset) return cudaErrorInvalidValue;
  address = found.address + offset;
  return cudaSuccess;
}

cudaError_t symbol_size(Context& context, const void* symbol, std::size_t& bytes) {
  PlacedVariable found;
  const cudaError_t code = find_symbol(context, symbol, found);
  bytes = found.bytes;
  return code;
}

}  // namespace membound::vgpu::runtime
