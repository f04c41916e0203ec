// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A small class for the exporters' tests.
#pragma once

#include <string>
#include <vector>

#include "grader/classroom/exchange/exchange.hpp"

namespace membound::exchange {

/// A lab of two stages with 4 and 6 points, both passed: 10 of 10.
[[nodiscard]] course::Grade passed(const std::string& student, const std::string& name = "",
                                   const std::string& email = "");
/// The first stage is passed, the second failed a test whose message is `message`: 4 of 10.
[[nodiscard]] course::Grade failed(const std::string& student,
                                   const std::string& message = "element 7 is 1, not 2");
/// Faster than the device can be.
[[nodiscard]] course::Grade suspicious(const std::string& student);
/// Does not compile; the compiler said `output`.
[[nodiscard]] course::Grade uncompiled(const std::string& student, const std::string& output);
/// Handed in nothing.
[[nodiscard]] course::Grade missing(const std::string& student);

/// The export, which must succeed.
[[nodiscard]] Export exported(std::string_view format, const std::vector<course::Grade>& grades,
                              const Settings& settings = {});
/// The error of an export that must fail, as users see it.
[[nodiscard]] std::string refusal(std::string_view format, const std::vector<course::Grade>& grades,
                                  const Settings& settings = {});
/// The text of one of its files; fails the test when there is none.
[[nodiscard]] std::string text_of(const Export& result, const std::string& name);
/// A table that must be readable.
[[nodiscard]] base::CsvTable table_of(std::string_view text);

}  // namespace membound::exchange
