// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The platforms as the help of `membound export` lists them.
#pragma once

#include "grader/authoring/written_parts.hpp"

namespace membound::cli {

/// The table in help/export.md, written from platforms.def.
[[nodiscard]] authoring::WrittenPart platform_table();

}  // namespace membound::cli
