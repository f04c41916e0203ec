// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The pages of help/*.md, which the build puts into the program.
#pragma once

#include <string_view>

namespace membound::cli {

/// The Markdown of `help/<name>.md`; our own bug when there is none.
[[nodiscard]] std::string_view help_text(std::string_view name);

}  // namespace membound::cli
