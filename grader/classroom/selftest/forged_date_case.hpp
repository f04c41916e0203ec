// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Cases of the corpus that claim an earlier date than that of their arrival, in each form in which
/// work is handed in. Place in the chain: corpus -> [forged_date_case] -> intake.
#pragma once

#include <filesystem>

#include "grader/base/result.hpp"
#include "grader/classroom/selftest/run_case.hpp"

namespace membound::selftest {

/// Whether the case's generator is one of these.
[[nodiscard]] bool forges_a_date(const Case& one);

/// Takes it in. SAFE: the time that counts is the arrival's or the platform's; FORGED: it is the
/// one that the student wrote; REFUSED.
[[nodiscard]] base::Result<CaseOutcome> forged_date_case(const std::filesystem::path& scratch,
                                                         const Case& one);

}  // namespace membound::selftest
