// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Machine files as people read them: all in a table, one with where each number is from.
/// Place in the chain: vgpu/timing/machine_files -> [machine_text] -> machine list, machine show.
#pragma once

#include <string>
#include <vector>

#include "grader/report/style.hpp"
#include "grader/vgpu/timing/machine_files.hpp"

namespace membound::cli {

/// A row for each file that can be used.
[[nodiscard]] std::string machine_table(const std::vector<vgpu::timing::MachineFile>& files,
                                        const report::Style& style);

/// What is wrong with files of one's own: broken ones, and those that one built in hides.
[[nodiscard]] std::vector<base::Error> machine_problems(
    const std::vector<vgpu::timing::MachineFile>& files);

/// One machine, number by number. `file` must be one that machine_of() accepts.
[[nodiscard]] std::string machine_page(const vgpu::timing::MachineFile& file,
                                       const vgpu::timing::Machine& machine,
                                       const report::Style& style);

}  // namespace membound::cli
