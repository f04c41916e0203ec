// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student reads of a failed check: GoogleTest's wrapping ("Value of: … Actual: false (…)")
/// taken off the text inside.
/// Place in the chain: stage_recorder -> [test_message]. Left out: GoogleTest itself.
#pragma once

#include <string>

namespace membound::harness {

/// The inner text of a failed EXPECT_TRUE(assertion_result), with whatever was streamed after it;
/// any other text as it is. Without a final newline.
[[nodiscard]] std::string unwrap_message(const std::string& gtest_message);

}  // namespace membound::harness
