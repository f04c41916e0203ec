// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/submission.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "grader/base/strings.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"

namespace membound::harness {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "int const*" without the const that says what is pointed to, for arguments_fit().
std::string without_const(std::string type) {
  const std::string word = " const";
  for (std::size_t at = type.find(word); at != std::string::npos; at = type.find(word))
    type.erase(at, word.size());
  return type;
}

base::Error missing_kernel(const std::vector<KernelName>& kernels, const std::string& wanted,
                           const std::string& parameters) {
  std::vector<std::string> names;
  for (const KernelName& kernel : kernels)
    if (!kernel.parameters.empty()) names.push_back(base::without_namespaces(kernel.base));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string list = base::joined(names);
  base::Error error{base::ErrorKind::kInput,
                    "kernel.cu",
                    "there is no kernel `" + wanted + "`" +
                        (names.empty() ? ", nor any other kernel" : "; there are: " + list),
                    "__global__ void " + wanted + parameters,
                    {}};
  if (const auto near = base::nearest(wanted, names))
    error.advice = "is `" + *near + "` a slip of the pen for `" + wanted + "`?";
  else
    error.advice =
        "keep the name of the skeleton's kernel; `membound reset` brings the skeleton back";
  return error;
}

/// The name alone, without types: what extern "C" makes of a kernel.
bool has_no_types(const KernelName& kernel, const std::string& wanted) {
  return kernel.parameters.empty() && kernel.base == wanted &&
         !wanted.starts_with("membound_launch_of_");
}

base::Error kernel_without_types(const std::string& wanted, const std::string& parameters) {
  return {base::ErrorKind::kInput, "kernel.cu",
          "`" + wanted + "` is extern \"C\", so that nothing says which parameters it takes",
          "__global__ void " + wanted + parameters, "leave out extern \"C\""};
}

base::Error missing_instance(const std::vector<const KernelName*>& same_name,
                             const std::string& wanted, const std::string& instance) {
  std::string list;
  for (const KernelName* kernel : same_name)
    list += (list.empty() ? "`" : ", `") + wanted + kernel->instance + "`";
  return {base::ErrorKind::kInput, "kernel.cu",
          "the kernel `" + wanted + instance + "` is not instantiated; there is " + list,
          "an instance of `" + wanted + "` for " + instance,
          "keep the INSTANTIATE line that the skeleton has after the kernel"};
}

base::Error wrong_signature(const KernelName& found, const std::string& name,
                            const std::string& parameters) {
  return {base::ErrorKind::kInput, "kernel.cu", "`" + name + "` takes " + found.parameters,
          name + parameters, "give the kernel the parameters of the skeleton, in that order"};
}

}  // namespace

std::string instantiate_parameters(const std::string& parameters, const std::string& instance) {
  if (instance.size() < 2) return parameters;
  const std::string type = instance.substr(1, instance.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool alone = parameters[i] == 'T' && (i == 0 || !is_word(parameters[i - 1])) &&
                       (i + 1 == parameters.size() || !is_word(parameters[i + 1]));
    if (alone)
      text += type;
    else
      text += parameters[i];
  }
  return text;
}

std::string with_scratch(const std::string& parameters) {
  if (parameters == "()") return "(void*)";
  return parameters.substr(0, parameters.size() - 1) + ", void*)";
}

std::vector<std::string> parameter_types(std::string_view parameters) {
  std::vector<std::string> types;
  std::string type;
  int depth = 0;
  for (const char c : parameters.substr(1, parameters.size() - 2)) {
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      types.push_back(std::move(type));
      type.clear();
    } else if (!(c == ' ' && type.empty())) {
      type += c;
    }
  }
  if (!type.empty()) types.push_back(std::move(type));
  return types;
}

bool arguments_fit(const std::vector<std::string>& argument_types, const std::string& parameters) {
  const std::vector<std::string> wanted = parameter_types(parameters);
  if (wanted.size() != argument_types.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (argument_types[i] == wanted[i]) continue;
    if (wanted[i].back() != '*' || without_const(wanted[i]) != argument_types[i]) return false;
  }
  return true;
}

KernelMatch find_kernel(const std::vector<KernelName>& kernels, const std::string& base_name,
                        const std::string& instance, const std::string& parameters) {
  std::vector<const KernelName*> same_name;
  const KernelName* other_parameters = nullptr;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelName& kernel = kernels[i];
    if (base::without_namespaces(kernel.base) != base_name || kernel.parameters.empty()) continue;
    same_name.push_back(&kernel);
    if (kernel.instance != instance) continue;
    if (kernel.parameters == parameters) return {KernelProblem::kNone, i, {}};
    other_parameters = &kernel;
  }
  const auto without_types = [&](const KernelName& each) { return has_no_types(each, base_name); };
  if (same_name.empty() && std::any_of(kernels.begin(), kernels.end(), without_types))
    return {KernelProblem::kMissing, 0, kernel_without_types(base_name, parameters)};
  if (same_name.empty())
    return {KernelProblem::kMissing, 0, missing_kernel(kernels, base_name, parameters)};
  if (other_parameters != nullptr)
    return {KernelProblem::kWrongSignature, 0,
            wrong_signature(*other_parameters, base_name + instance, parameters)};
  // A plain function where a template was wanted, or the other way round: its parameters differ.
  if (instance.empty() || same_name.front()->instance.empty())
    return {
        KernelProblem::kWrongSignature, 0,
        wrong_signature(*same_name.front(), base_name + same_name.front()->instance, parameters)};
  return {KernelProblem::kMissing, 0, missing_instance(same_name, base_name, instance)};
}

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

cudaError_t Submission::fill_variable(const std::string& name,
                                      std::span<const std::byte> bytes) const {
  void* d_variable = nullptr;
  std::size_t room = 0;
  if (cudaLibraryGetGlobal(&d_variable, &room, library_.get(), name.c_str()) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return cudaSuccess;
  }
  if (room < bytes.size()) return cudaErrorInvalidValue;
  return cudaMemcpy(d_variable, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
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
