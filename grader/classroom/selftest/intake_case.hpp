// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Archives that no file of a source tree can hold: links, named pipes, bombs, names that hide
/// something. Each is made, taken in, and removed.
/// Place in the chain: corpus -> [intake_case] -> intake.
#pragma once

#include <filesystem>

#include "grader/classroom/selftest/run_case.hpp"

namespace membound::selftest {

/// "REFUSED" when nothing of it is to be graded, "SAFE" when what is to be graded is exactly the
/// honest file in it, else "LEAK", "ESCAPED" (a file lies where the archive wanted it) or "FILLED"
/// (the store holds more than may be read of one file).
[[nodiscard]] base::Result<CaseOutcome> intake_case(const std::filesystem::path& scratch,
                                                    const Case& one);

}  // namespace membound::selftest
