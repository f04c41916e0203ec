// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One plain sentence for the compiler messages that beginners in CUDA meet most.
#pragma once

#include <string>
#include <string_view>

namespace membound::compilers {

/// A hint for the first error in the compiler's output; a general one where none fits.
[[nodiscard]] std::string compile_hint(std::string_view output);

}  // namespace membound::compilers
