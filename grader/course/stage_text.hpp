// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which part of a kernel.cu is a stage's: from its head, "// Stage 3: …", to the next one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace membound::course {

/// The number of a head "// Stage 3: …" (or "// Stage 3 …"), 0 for any other line.
[[nodiscard]] int stage_of_head(std::string_view line);

/// The lines of `kernel` that belong to `stage`, its head among them: none where another stage has
/// a head and this one has not, all where no stage has one.
[[nodiscard]] std::string stage_text(std::string_view kernel, int stage);

/// The stage in whose part line `line` of `kernel` stands, counted from 1; 0 before the first head.
[[nodiscard]] int stage_of_line(std::string_view kernel, int line);

/// `kernel` with this stage's part, from its head to the next one, as it stands in `source`;
/// nothing where one of the two does not have that head exactly once.
[[nodiscard]] std::optional<std::string> with_stage_of(std::string_view kernel,
                                                       std::string_view source, int stage);

/// `kernel` with empty lines in place of the other stages, but for earlier ones that define a name
/// which stands in what is left: what a compiler needs for `stage`, every line at its own number.
[[nodiscard]] std::string without_other_stages(std::string_view kernel, int stage);

}  // namespace membound::course
