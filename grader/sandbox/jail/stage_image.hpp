// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The stage's program, which travels inside this library so that no file has to be found, trusted
/// or reachable at the moment a jail is made.
/// Place in the chain: stage (built first) -> [stage_image] -> supervisor.
#pragma once

#include "grader/base/files.hpp"

namespace membound::jail {

/// A sealed file in memory that holds the program; -1 when the machine forbids such files. One for
/// the whole process.
[[nodiscard]] const base::Descriptor& stage_program();

}  // namespace membound::jail
