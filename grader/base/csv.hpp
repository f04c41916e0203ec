// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables as comma-separated text: what rosters come as and what learning platforms import.
/// libcsv reads and writes the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::base {

/// A header and rows below it, all of the header's length.
struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  char delimiter = ',';  ///< as it was read, or as it shall be written

  /// The first column of that title; letters' case and spaces around it do not matter.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view title) const;
};

/// Reads `text`: UTF-8, with or without a byte order mark, separated by commas, semicolons or tabs
/// (whichever the header holds most of), fields quoted where they need it. Empty lines are left
/// out, short rows filled up. An error names `file_name` and the row: no header, a row longer than
/// the header, a quote that is never closed, bytes that are not text.
[[nodiscard]] base::Result<CsvTable> read_csv(std::string_view text, const std::string& file_name);

/// Who will open what is written.
enum class CsvReader {
  kProgram,     ///< another program: every field as it is
  kSpreadsheet  ///< a person: a field that a spreadsheet would run as a formula gets a ' in front
};

/// The table as text, lines ended by "\r\n" (RFC 4180); fields are quoted only where they need it.
[[nodiscard]] std::string write_csv(const CsvTable& table, CsvReader reader);

}  // namespace membound::base
