// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One function for each platform, and nothing else: each stands in a file of its own.
#pragma once

#include "grader/classroom/exchange/exchange.hpp"

namespace membound::exchange {

using Grades = std::span<const course::Grade>;

#define MEMBOUND_PLATFORM(name, what) \
  base::Result<Export> write_##name(Grades grades, const Settings& settings);
#include "grader/classroom/exchange/platforms.def"

}  // namespace membound::exchange
