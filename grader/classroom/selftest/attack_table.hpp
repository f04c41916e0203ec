// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The corpus as the table in grader/tests/attacks/corpus.md, which a test holds against it.
/// Place in the chain: corpus -> [attack_table] -> grader/tests/attacks/corpus.md.
#pragma once

#include <string>
#include <vector>

#include "grader/classroom/selftest/corpus.hpp"

namespace membound::selftest {

/// A Markdown table with a row for each case, ordered by id, a line feed behind each row.
[[nodiscard]] std::string markdown_table(const std::vector<Case>& cases);

}  // namespace membound::selftest
