// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What people call a lab in names of folders, in headers and in cells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"

namespace membound::intake {

/// The id of the lab that a name means: "03-transpose", "transpose", "lab03-transpose-final".
[[nodiscard]] std::optional<std::string> lab_named(const std::string& name,
                                                   const std::vector<course::Lab>& labs);

/// The same, and what a command takes: "3", "trans". An error that lists the labs where it means
/// none or several. `where` is for the message.
[[nodiscard]] base::Result<std::string> lab_meant(const std::string& name,
                                                  const std::vector<course::Lab>& labs,
                                                  const std::string& where);

}  // namespace membound::intake
