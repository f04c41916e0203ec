// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks some stages of some labs: what commands that check have in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/judge/check_request.hpp"

namespace CLI {
class App;
}

namespace membound::cli {

/// Adds --device, --compiler and --seed. `both` allows "--compiler both".
void add_check_options(CLI::App& command, judge::CheckOptions& options, bool both = false);

/// Device and compiler that the options lead to; says which GPU of this machine cannot serve.
[[nodiscard]] base::Result<judge::Tools> chosen_tools(const judge::Workplace& place,
                                                      const judge::CheckOptions& options);

/// --size must be what each lab's tests take: as many numbers as the lab has sizes.
[[nodiscard]] base::Status check_size(const std::string& size,
                                      const std::vector<course::Selection>& selections);

/// The labs that `words` name; all where there are none.
[[nodiscard]] base::Result<std::vector<const course::Lab*>> labs_of(
    const course::Course& course, const std::vector<std::string>& words);

/// The one stage that `word` names ("transpose/4"), for a command that takes no more; `command` is
/// how the advice calls it.
[[nodiscard]] base::Result<course::Selection> one_stage(const course::Course& course,
                                                        const std::string& word,
                                                        const std::string& command);

/// What came of it.
struct Checked {
  std::vector<course::Result> results;
  bool stopped = false;  ///< by Ctrl-C
};

/// Compiles all labs at once, runs them one after the other, remembers each result (unless another
/// kernel.cu was given) and hands it on as soon as it is there.
[[nodiscard]] base::Result<Checked> check_labs(
    const Context& context, const judge::Tools& tools, const judge::CheckOptions& options,
    const std::vector<course::Selection>& selections, const std::atomic<bool>* stop,
    const std::function<void(const course::Result&)>& on_result);

/// Checks `stage` of `lab`, and goes on to the next one after a pass, whenever its kernel.cu is
/// saved, until a key or Ctrl-C ends it; returns the exit code.
int watch_stage(const Context& context, const judge::CheckOptions& options, const course::Lab& lab,
                int stage);

/// 0, 1 or 3 as the verdicts say; 130 when stopped.
[[nodiscard]] int exit_code_of(const Checked& checked);

}  // namespace membound::cli
