// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Grades as the files that learning platforms read. One row of platforms.def for each platform.
/// Place in the chain: cli -> [exchange] -> gradescope, canvas, moodle, …
/// Left out: deciding; a withheld score never becomes a number here, it is left out and said so.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/csv.hpp"
#include "grader/base/result.hpp"
#include "grader/course/grade.hpp"

namespace membound::exchange {

/// What some platforms must be told.
struct Settings {
  /// The file the platform itself gave out (Canvas: the exported gradebook, Moodle: the grading
  /// worksheet), filled in where it can be matched.
  std::optional<base::CsvTable> sheet;
  std::string sheet_name;  ///< of that file, for messages
  /// The assignment's title there, "Lab 3 (4711)"; empty: the lab's own. For one lab only.
  std::string assignment;
  std::optional<double> maximum;        ///< points that it is worth there; for one lab only
  std::map<std::string, double> worth;  ///< of labs that count otherwise than they add up
  /// Facts no grade holds, for classroom50: {"classroom": …, "commit": …}.
  nlohmann::json context = nlohmann::json::object();
};

/// One file to write, below the folder of the export.
struct Document {
  std::filesystem::path name;
  std::string text;
};

/// The files, what did not get into them, and what else a person should know, a sentence each.
struct Export {
  std::vector<Document> documents;
  std::vector<std::string> left_out;
  std::vector<std::string> notes = {};
};

/// A platform.
struct Format {
  std::string_view name;  ///< as on the command line
  std::string_view what;  ///< what comes out and where it goes, for the help text
  base::Result<Export> (*write)(std::span<const course::Grade> grades, const Settings& settings);
};

/// All of them, in alphabetical order.
[[nodiscard]] std::span<const Format> formats();

/// The files of one platform; an error for an unknown name lists all.
[[nodiscard]] base::Result<Export> write(std::string_view format,
                                         std::span<const course::Grade> grades,
                                         const Settings& settings);

}  // namespace membound::exchange
