// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Cases of the corpus that no file of a source tree can hold: archives with links, named pipes,
/// bombs and names that hide something, and those that claim an earlier date than that of their
/// arrival. Each is made, taken in, and removed.
#pragma once

#include <filesystem>

#include "grader/base/result.hpp"
#include "grader/classroom/selftest/corpus.hpp"

namespace membound::selftest {

/// "REFUSED" when nothing of it is to be graded, "SAFE" when what is to be graded is exactly the
/// honest file in it, else "LEAK", "ESCAPED" (a file lies where the archive wanted it) or "FILLED"
/// (the store holds more than may be read of one file). Of one that claims a date: SAFE where the
/// time that counts is the arrival's or the platform's, FORGED where it is the one that the student
/// wrote, or REFUSED.
[[nodiscard]] base::Result<CaseOutcome> intake_case(const std::filesystem::path& scratch,
                                                    const Case& one);

}  // namespace membound::selftest
