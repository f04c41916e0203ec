// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One function for each platform, and nothing else: the rows of exchange.cpp's table.
#pragma once

#include "grader/classroom/exchange/exchange.hpp"

namespace membound::exchange {

using Grades = std::span<const course::Grade>;

base::Result<Export> write_autolab(Grades grades, const Settings& settings);
base::Result<Export> write_canvas(Grades grades, const Settings& settings);
base::Result<Export> write_classroom50(Grades grades, const Settings& settings);
base::Result<Export> write_gradescope(Grades grades, const Settings& settings);
base::Result<Export> write_junit(Grades grades, const Settings& settings);
base::Result<Export> write_markdown(Grades grades, const Settings& settings);
base::Result<Export> write_moodle(Grades grades, const Settings& settings);
base::Result<Export> write_prairielearn(Grades grades, const Settings& settings);

}  // namespace membound::exchange
