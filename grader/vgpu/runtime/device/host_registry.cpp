// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/host_registry.hpp"

#include <algorithm>

namespace membound::vgpu::runtime {

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

}  // namespace membound::vgpu::runtime
