// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student reads of a failed check, and which hint fits: GoogleTest's wrapping ("Value of: …
/// Actual: false (…)") taken off the text inside. Place in the chain: stage_recorder ->
/// [test_message]. Left out: GoogleTest itself.
#pragma once

#include <string>

#include "grader/course/contract.hpp"

namespace membound::harness {

/// The inner text of a failed EXPECT_TRUE(assertion_result), with whatever was streamed after it;
/// any other text as it is. Without a final newline.
[[nodiscard]] std::string unwrap_message(const std::string& gtest_message);

/// The tag for a failed test: what the harness found out itself about an unusable kernel or a slow
/// one comes before the lab's tag; what a lab's test may be about (guard zones) comes after it.
[[nodiscard]] std::string choose_tag(const std::string& lab_tag, course::Cause cause);

}  // namespace membound::harness
