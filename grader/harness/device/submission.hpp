// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A compiled kernel.cu, loaded: a student's or the reference.
/// Place in the chain: session, launcher -> [submission] -> signature -> CUDA runtime.
/// Left out: compiling (judge does), launching (launcher does).
#pragma once

#include <cuda_runtime_api.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/harness/device/launch_validator.hpp"
#include "grader/harness/device/signature.hpp"

namespace membound::harness {

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
