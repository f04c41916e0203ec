// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks some stages of some labs: what `check` and `watch` have in common.
/// Place in the chain: check, watch -> [checking] -> judge.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/device.hpp"
#include "grader/judge/compiler.hpp"

namespace CLI {
class App;
}

namespace membound::cli {

/// Options of a check as the command line gives them.
struct CheckOptions {
  std::string device;      ///< "" = the GPU if one answers, else the virtual GPU
  std::string compiler;    ///< "" = nvcc, or clang where there is none and the device is virtual
  std::string submission;  ///< another kernel.cu; empty: the lab's
  std::uint64_t seed = 1;
  bool trace = false;  ///< on the virtual GPU: keep what one warp asks of memory, for pictures
};

/// Adds --device, --compiler and --seed. `both` allows "--compiler both".
void add_check_options(CLI::App& command, CheckOptions& options, bool both = false);

/// Device and compiler that the options lead to on this machine.
struct Tools {
  Device device;
  judge::CompilerInfo compiler;
  std::optional<judge::CompilerInfo> second_compiler = {};  ///< --compiler both
};
[[nodiscard]] base::Result<Tools> choose_tools(const Context& context, const CheckOptions& options);

/// The request for one lab.
[[nodiscard]] judge::CheckRequest request_for(const Context& context, const Tools& tools,
                                              const CheckOptions& options,
                                              const course::Selection& selection,
                                              const std::atomic<bool>* stop);

/// What came of it.
struct Checked {
  std::vector<course::Result> results;
  bool stopped = false;  ///< by Ctrl-C
};

/// Compiles all labs at once, runs them one after the other, remembers each result (unless another
/// kernel.cu was given) and hands it on as soon as it is there.
[[nodiscard]] base::Result<Checked> check_labs(
    const Context& context, const Tools& tools, const CheckOptions& options,
    const std::vector<course::Selection>& selections, const std::atomic<bool>* stop,
    const std::function<void(const course::Result&)>& on_result);

/// 0, 1 or 3 as the verdicts say; 130 when stopped.
[[nodiscard]] int exit_code_of(const Checked& checked);

}  // namespace membound::cli
