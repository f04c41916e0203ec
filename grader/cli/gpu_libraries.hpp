// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Libraries that a program asks the loader for and that work on a GPU only. A program may be
/// linked with one and not use it, so each gets a stand-in, which names the first call and ends
/// there. Place in the chain: run -> [gpu_libraries] -> stand_in_library.
#pragma once

#include <span>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/cli/stand_in_library.hpp"

namespace membound::cli {

/// Stand-ins for what a program, the bytes of an ELF file, needs of such libraries.
[[nodiscard]] std::vector<StandInLibrary> stand_ins_for(std::span<const std::byte> program);

/// Makes the loader take these instead of the real ones, in the program that takes our place and in
/// what it starts. No other thread runs.
[[nodiscard]] base::Status preload(const std::vector<StandInLibrary>& libraries);

}  // namespace membound::cli
