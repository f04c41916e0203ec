// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which part of a kernel.cu is a stage's: from its head, "// Stage 3: …", to the next one.
/// Place in the chain: kernel.cu -> [stage_text] -> handout snippets, progress, solution.
#pragma once

#include <string>
#include <string_view>

namespace membound::course {

/// The number of a head "// Stage 3: …" (or "// Stage 3 …"), 0 for any other line.
[[nodiscard]] int stage_of_head(std::string_view line);

/// The lines of `kernel` that belong to `stage`, its head among them: none where another stage has
/// a head and this one has not, all where no stage has one.
[[nodiscard]] std::string stage_text(std::string_view kernel, int stage);

}  // namespace membound::course
