// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code as the runtime holds it: what nvcc registered or a library call loaded, turned into
/// a program on first use, and the host addresses and handles by which kernels and variables are
/// found.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"
#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::runtime {

class Context;
class Module;

/// One kernel as API handles see it.
struct KernelHandle {
  Module* module = nullptr;
  std::string name;                         ///< mangled
  const program::Kernel* kernel = nullptr;  ///< null until the module is loaded
  int max_dynamic_shared_bytes = -1;        ///< -1: the default, 48 KiB less static
  int preferred_carveout = -1;
};

/// A variable of a loaded module, where it lies.
struct PlacedVariable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool is_managed = false;
};

}  // namespace membound::vgpu::runtime

/// What a cudaKernel_t points to.
struct CUkern_st final : membound::vgpu::runtime::KernelHandle {};

namespace membound::vgpu::runtime {

/// What code is made ready for.
struct CodeTarget {
  std::uint32_t arch = 0;                   ///< 90 for compute capability 9.0
  std::uint32_t shared_red_zone_bytes = 0;  ///< between shared variables: see Program::link
  program::AssemblerPasses passes = {};
  friend bool operator==(const CodeTarget&, const CodeTarget&) = default;
};

/// One program's worth of device code: a registered fat binary or a library.
class Module {
 public:
  /// `image` is what __cudaRegisterFatBinary or cudaLibraryLoadData got: read when first needed.
  Module(const void* image, bool is_wrapper, std::string origin);
  /// The bytes of a file.
  Module(std::vector<std::byte> bytes, std::string origin);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Reads, parses, links and places everything, once; later calls return the first answer.
  base::Status load(memory::AddressSpace& memory, const CodeTarget& target);
  /// The code of the error that load() gave.
  [[nodiscard]] cudaError_t load_code() const { return load_code_; }
  /// True the first time it is asked after a failed load: its message is printed once.
  [[nodiscard]] bool take_first_report();

  /// The handle of a kernel, made on demand; before loading, any name gets one.
  KernelHandle& handle(const std::string& name);
  /// Handles of all kernels of a loaded module, in the program's order.
  std::vector<KernelHandle*> all_handles();
  [[nodiscard]] std::optional<PlacedVariable> variable(std::string_view name) const;

  [[nodiscard]] const program::Program& program() const { return *program_; }
  [[nodiscard]] std::uint32_t ptx_version() const { return ptx_version_; }
  [[nodiscard]] const std::string& origin() const { return origin_; }
  /// Gives back the memory of variables.
  void unload(memory::AddressSpace& memory);

 private:
  base::Status load_once(memory::AddressSpace& memory, const CodeTarget& target);
  base::Result<std::vector<std::vector<fatbin::Entry>>> read_entries() const;
  void take_registers(const std::vector<std::vector<fatbin::Entry>>& containers,
                      std::uint32_t arch);
  void take_shared_accesses(const ptx::Module& module, const std::vector<fatbin::Entry>& entries,
                            std::uint32_t arch);
  base::Status place_program(memory::AddressSpace& memory);
  base::Status place_variables(memory::AddressSpace& memory);
  /// That of an unloaded module with the same bytes; false: there is none.
  bool take_spare_program();
  void keep_spare_program();

  const void* image_ = nullptr;
  bool is_wrapper_ = false;
  std::vector<std::byte> bytes_;
  std::string origin_;
  CodeTarget target_;  ///< of the program
  std::optional<base::Status> loaded_;
  cudaError_t load_code_ = cudaSuccess;
  bool reported_ = false;
  std::unique_ptr<program::Program> program_;
  std::map<std::string, std::unique_ptr<CUkern_st>> handles_;
  std::vector<PlacedVariable> variables_;  // parallel to program_->globals()
  std::uint32_t ptx_version_ = 0;
};

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

/// The device address of `bytes` bytes from `offset` on; a range that leaves the variable is an
/// invalid value, an address nobody registered an invalid symbol.
cudaError_t symbol_range(Context& context, const void* symbol, std::size_t offset,
                         std::size_t bytes, std::uint64_t& address);
/// The variable's size.
cudaError_t symbol_size(Context& context, const void* symbol, std::size_t& bytes);

}  // namespace membound::vgpu::runtime
