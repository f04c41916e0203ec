// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/submission.hpp"

#include "grader/harness/device/cuda_check.hpp"

namespace membound::harness {
namespace {

base::Error not_loadable(const std::filesystem::path& file, cudaError_t code) {
  return {base::ErrorKind::kMachine, file.string(), cuda_error_text(code),
          "device code that this device and this driver can load",
          "compile it for the compute capability of the device (nvcc -arch=sm_XX)"};
}

}  // namespace

base::Result<Submission> Submission::load(const std::filesystem::path& file) {
  cudaLibrary_t library = nullptr;
  if (const cudaError_t code =
          cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
      code != cudaSuccess)
    return not_loadable(file, code);
  Submission submission;
  submission.library_.reset(library);
  unsigned count = 0;
  if (const cudaError_t code = cudaLibraryGetKernelCount(&count, library); code != cudaSuccess)
    return not_loadable(file, code);
  std::vector<cudaKernel_t> kernels(count);
  if (count > 0) {
    if (const cudaError_t code = cudaLibraryEnumerateKernels(kernels.data(), count, library);
        code != cudaSuccess)
      return not_loadable(file, code);
  }
  for (const cudaKernel_t kernel : kernels) {
    const char* name = nullptr;
    if (const cudaError_t code = cudaFuncGetName(&name, kernel); code != cudaSuccess)
      return not_loadable(file, code);
    submission.kernels_.push_back({kernel, base::parse_function_name(name)});
  }
  return submission;
}

Submission::Lookup Submission::find(const std::string& base_name, const std::string& instance,
                                    const std::string& parameters) const {
  std::vector<KernelName> names;
  names.reserve(kernels_.size());
  for (const Kernel& kernel : kernels_) names.push_back(kernel.name);
  Lookup lookup{nullptr, find_kernel(names, base_name, instance, parameters)};
  if (lookup.match.problem == KernelProblem::kNone) lookup.kernel = &kernels_[lookup.match.index];
  return lookup;
}

const void* Submission::find_plain(const std::string& name) const {
  for (const Kernel& kernel : kernels_)
    if (kernel.name.parameters.empty() && kernel.name.base == name) return kernel.function;
  return nullptr;
}

base::Result<cudaFuncAttributes> attributes_of(const Submission::Kernel& kernel) {
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, kernel.function);
  if (code == cudaSuccess) return attributes;
  return base::Error{base::ErrorKind::kMachine, "kernel " + shown_name(kernel.name),
                     cuda_error_text(code), "a kernel that the device can load",
                     "compile it for the compute capability of the device"};
}

std::string shown_name(const KernelName& name) { return name.base + name.instance; }

}  // namespace membound::harness
