// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which host addresses stand for which kernels and variables, and which modules there are.
/// Place in the chain: nvcc's registration calls, library calls -> [host_registry] -> launches,
/// symbols.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "grader/vgpu/runtime/device/modules.hpp"

namespace membound::vgpu::runtime {

/// A variable nvcc registered.
struct RegisteredVariable {
  Module* module = nullptr;
  std::string name;
  void** managed_pointer = nullptr;  ///< the host variable to fill for a __managed__ one
};

/// Kernels and variables by the addresses host code knows them under.
class Registry {
 public:
  /// A fat binary of the program; the handle nvcc's code keeps.
  Module& add_program(const void* wrapper);
  /// A module loaded by a library call.
  Module& add_library(std::unique_ptr<Module> module);
  [[nodiscard]] Module* find_library(cudaLibrary_t handle) const;
  bool remove_library(cudaLibrary_t handle, memory::AddressSpace& memory);
  [[nodiscard]] cudaLibrary_t handle_of(const Module& module) const;
  void remove_program(const Module& module, memory::AddressSpace& memory);

  void add_kernel(const void* stub, Module& module, const std::string& name);
  void add_variable(const void* host, RegisteredVariable variable);

  /// Accepts host stubs and kernel handles alike; null for anything else.
  [[nodiscard]] KernelHandle* find_kernel(const void* stub_or_handle) const;
  [[nodiscard]] const RegisteredVariable* find_variable(const void* host) const;
  /// Variables of one module.
  [[nodiscard]] std::vector<const RegisteredVariable*> variables_of(const Module& module) const;
  /// Makes a handle known, so that find_kernel() accepts it.
  void remember(KernelHandle& handle);
  [[nodiscard]] const std::list<std::unique_ptr<Module>>& modules() const { return modules_; }

  /// cudaDeviceReset: loaded code is dropped; registered code is loaded again when used.
  void unload_all(memory::AddressSpace& memory);

 private:
  std::list<std::unique_ptr<Module>> modules_;
  std::unordered_map<const void*, KernelHandle*> stubs_;
  std::unordered_map<const void*, KernelHandle*> handles_;
  std::unordered_map<const void*, RegisteredVariable> variables_;
};

}  // namespace membound::vgpu::runtime
