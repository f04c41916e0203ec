// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A compiled kernel.cu, loaded: a student's or the reference. Finds the kernel a stage needs among
/// its names, and tells "not there" from "there, but with other parameters".
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

#include "grader/base/demangle.hpp"
#include "grader/base/result.hpp"
#include "grader/harness/device/launch_validator.hpp"

namespace membound::harness {

/// The name of a __global__ function, taken apart.
using KernelName = base::FunctionName;

/// "(T*, T const*, int)" and "<float>" give "(float*, float const*, int)".
[[nodiscard]] std::string instantiate_parameters(const std::string& parameters,
                                                 const std::string& instance);

/// "(float*, int)" becomes "(float*, int, void*)".
[[nodiscard]] std::string with_scratch(const std::string& parameters);

/// The types of "(float*, int)" one by one.
[[nodiscard]] std::vector<std::string> parameter_types(std::string_view parameters);

/// Whether arguments of these C++ types may be given to these parameters: equal, but a pointer to
/// non-const may stand where a pointer to const is wanted.
[[nodiscard]] bool arguments_fit(const std::vector<std::string>& argument_types,
                                 const std::string& parameters);

/// Which of the two ways a kernel is not usable.
enum class KernelProblem { kNone, kMissing, kWrongSignature };

/// Either the index of the kernel in the list, or what is wrong.
struct KernelMatch {
  KernelProblem problem = KernelProblem::kNone;
  std::size_t index = 0;
  base::Error error;  ///< set unless problem is kNone
};

/// Looks for `base_name` + `instance` with exactly `parameters`. Namespaces are ignored.
[[nodiscard]] KernelMatch find_kernel(const std::vector<KernelName>& kernels,
                                      const std::string& base_name, const std::string& instance,
                                      const std::string& parameters);

/// A loaded module; unloaded with the object.
class Submission {
 public:
  /// Loads a fatbin, cubin or PTX file.
  [[nodiscard]] static base::Result<Submission> load(const std::filesystem::path& file);

  /// One kernel of the module.
  struct Kernel {
    const void* function = nullptr;  ///< what cudaLaunchKernel takes
    KernelName name;
  };
  /// A kernel found, or why not.
  struct Lookup {
    const Kernel* kernel = nullptr;
    KernelMatch match;
  };
  /// The kernel `base_name` + `instance` with these parameters.
  [[nodiscard]] Lookup find(const std::string& base_name, const std::string& instance,
                            const std::string& parameters) const;
  /// An extern "C" kernel by its plain name; null if there is none.
  [[nodiscard]] const void* find_plain(const std::string& name) const;
  /// Fills the first bytes of a variable of the module, in constant memory for example. A module
  /// that has no such variable is left alone; cudaErrorInvalidValue where it is too small.
  [[nodiscard]] cudaError_t fill_variable(const std::string& name,
                                          std::span<const std::byte> bytes) const;
  [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_; }

 private:
  struct Unload {
    void operator()(cudaLibrary_t library) const { cudaLibraryUnload(library); }
  };
  std::unique_ptr<CUlib_st, Unload> library_;
  std::vector<Kernel> kernels_;
};

/// Attributes of a loaded kernel.
[[nodiscard]] base::Result<cudaFuncAttributes> attributes_of(const Submission::Kernel& kernel);

/// "transpose_tiled<float>"
[[nodiscard]] std::string shown_name(const KernelName& name);

}  // namespace membound::harness
