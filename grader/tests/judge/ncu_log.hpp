// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an H200's ncu printed of two launches, in the form in which it prints it. The counts are
/// those of grader/gpu_truth/data/h200_profiler.csv; names are mangled, as the check asks for.
#pragma once

#include <filesystem>
#include <string>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"

namespace membound::judge {

/// Lab 03's tiled transpose, of floats and of doubles, at 113x211.
inline std::string ncu_log_of_transpose() {
  const auto recorded = base::read_file(std::filesystem::path(MEMBOUND_SOURCE_DIR) /
                                        "grader/gpu_truth/data/h200_profiler.csv");
  if (!recorded) return "";
  std::string titles =
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Context\",\"Stream\"";
  std::string units = "\"\",\"\",\"\",\"\",\"\",\"\"", rows;
  const std::size_t start = recorded->find("## 03-transpose reference\n") + 26;
  const auto table = base::read_csv(
      std::string_view(*recorded).substr(start, recorded->find("\n##", start) - start), "recorded");
  if (!table) return "";
  for (const std::string& title : table->header) {
    titles += ",\"" + title + "\"";
    units += title.find("bytes") == std::string::npos ? ",\"\"" : ",\"byte\"";
  }
  int id = 0;
  for (const auto& row : table->rows) {
    if (row[0].find("transpose_tiled") == std::string::npos || row[2] != "(7, 4, 1)") continue;
    const bool is_float = row[0].find("<float>") != std::string::npos;
    rows += "\"" + std::to_string(id++) +
            R"(","4711","test","127.0.0.1","1","7","_Z15transpose_tiledI)" +
            (is_float ? "f" : "d") + "EvPT_PKS0_ii\"";
    for (std::size_t i = 1; i < row.size(); ++i) rows += ",\"" + row[i] + "\"";
    rows += "\n";
  }
  return "==PROF== Connected to process 4711 (/course/build/labs/03-transpose/test)\n"
         "==PROF== Disconnected from process 4711\n" +
         titles + "\n" + units + "\n" + rows;
}

}  // namespace membound::judge
