// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `grade` and `explain` have in common: settings from device, compiler and context.
#pragma once

#include <string>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// Settings of a batch on the device that the options name. `context` must outlive them.
[[nodiscard]] base::Result<queue::Settings> grading_settings(const Context& context,
                                                             const judge::CheckOptions& options,
                                                             bool trust_submissions);

/// `options` with the device and the kind of compiler of an earlier run, where they name none: a
/// verdict must not depend on what else is installed by now. `compiler` as results record it.
[[nodiscard]] judge::CheckOptions as_before(judge::CheckOptions options, const std::string& device,
                                            const std::string& compiler);

}  // namespace membound::cli
