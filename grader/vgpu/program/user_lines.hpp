// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tells instructions by lines of the user's own source, also where the compiler put code of a
/// header in a call's place.
/// Place in the chain: linker -> [user_lines] -> faults, findings, counters by line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Whether a file is a header of the CUDA toolkit or of the grader, wherever they are installed.
[[nodiscard]] bool is_foreign_header(std::string_view file);

/// In place of each line of a foreign header that of the call; or, where the call stands in such a
/// header, too, of the last instruction before it that is the user's own. `files` is
/// Program::files().
void attribute_to_user_lines(Function& function, std::span<const std::string> files);

}  // namespace membound::vgpu::program
