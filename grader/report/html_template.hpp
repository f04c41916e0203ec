// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The files of templates/, which the build puts into the program.
#pragma once

#include <string_view>

namespace membound::report {

/// A file of templates/: "page". Our own bug when there is none.
[[nodiscard]] std::string_view template_text(std::string_view name);

}  // namespace membound::report
