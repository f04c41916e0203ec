// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finds the kernel a stage needs among the names of a compiled module, and tells "not there" from
/// "there, but with other parameters".
/// Place in the chain: submission -> [signature]. Left out: loading the module; here are only
/// names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/demangle.hpp"
#include "grader/base/result.hpp"

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

}  // namespace membound::harness
