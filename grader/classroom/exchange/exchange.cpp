// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/exchange/exchange.hpp"

#include <array>

#include "grader/classroom/exchange/platforms.hpp"

namespace membound::exchange {
namespace {

constexpr std::array<Format, 8> kFormats = {{
    {"autolab", "one file a submission whose last line Autolab reads, and the scoreboard's columns",
     write_autolab},
    {"canvas", "a gradebook to import under Grades; --sheet: the gradebook exported from there",
     write_canvas},
    {"classroom50", "one classroom50/result/v1 file a submission; --context: what the course knows",
     write_classroom50},
    {"gradescope", "one results.json a submission", write_gradescope},
    {"junit", "one JUnit XML file for all, a test suite for each submission", write_junit},
    {"markdown", "a table of the class, and a page for each submission", write_markdown},
    {"moodle", "a gradebook to import; --sheet: the offline grading worksheet, filled in",
     write_moodle},
    {"prairielearn", "one results.json a submission", write_prairielearn},
}};

}  // namespace

std::span<const Format> formats() { return kFormats; }

base::Result<Export> write(std::string_view format, std::span<const course::Grade> grades,
                           const Settings& settings) {
  std::string names;
  for (const Format& row : kFormats) {
    if (row.name == format) return row.write(grades, settings);
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return base::Error{
      base::ErrorKind::kUsage, "--format", std::string(format), "one of " + names, {}};
}

}  // namespace membound::exchange
