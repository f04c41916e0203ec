// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// grader/tests/attacks/defended.md says of what was found which test holds it. Are those tests
/// there? Place in the chain: grader/tests/attacks/defended.md, grader/tests, solutions ->
/// [named_tests] -> dev check. Left out: whether a test shows what the row says.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/authoring/drift.hpp"

namespace membound::authoring {

/// What the last cell of a table row names as its tests: one test, all of a suite, an attack of the
/// corpus, a wrong answer, or a script; as named_tests.cpp tells them apart.
[[nodiscard]] std::vector<std::string> tests_named_in(std::string_view cell);

/// Rows of the page's tables with a column "test" whose test is not in the tree, or that name none
/// and do not say "not closed".
[[nodiscard]] std::vector<Drift> check_named_tests(const std::filesystem::path& root);

}  // namespace membound::authoring
