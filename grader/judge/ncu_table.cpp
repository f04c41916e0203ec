// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/ncu_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/strings.hpp"
#include "grader/vgpu/counters/counters.hpp"

namespace membound::judge {
namespace {

using vgpu::counters::all_counters;
using vgpu::counters::CounterInfo;

constexpr const char* kNcuTable = "ncu's table";
constexpr double kMostCounted = 1e18;    // fits a counter of 64 bits
constexpr std::size_t kBytesShown = 60;  // bytes of a cell in a message

base::Error table_error(const std::string& where, std::string_view found, std::string expected) {
  return {base::ErrorKind::kInput, where,
          "\"" + base::printable(found.substr(0, kBytesShown)) + "\"", std::move(expected), ""};
}

/// "row 3, Block Size"; the header is row 1.
std::string cell_place(std::size_t row, const std::string& column) {
  return std::string(kNcuTable) + ", row " + std::to_string(row + 2) + ", " + column;
}

/// "(256, 1, 1)"
base::Result<std::array<std::int64_t, 3>> read_extent(const std::string& cell,
                                                      const std::string& where) {
  std::string text;
  std::copy_if(cell.begin(), cell.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  std::array<std::int64_t, 3> extent{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < extent.size(); ++i) {
    if (at == end || *at != (i == 0 ? '(' : ','))
      return table_error(where, cell, "three whole numbers, like (256, 1, 1)");
    const auto [stopped, code] = std::from_chars(at + 1, end, extent[i]);
    if (code != std::errc() || extent[i] < 1)
      return table_error(where, cell, "three whole numbers from 1 on, like (256, 1, 1)");
    at = stopped;
  }
  if (std::string_view(at, static_cast<std::size_t>(end - at)) != ")")
    return table_error(where, cell, "three whole numbers, like (256, 1, 1)");
  return extent;
}

/// Of one in that unit; ncu scales bytes alone, and not with --print-units base.
double factor_of(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9}, {"Tbyte", 1e12}};
  for (const auto& [name, factor] : kUnits)
    if (unit == name) return factor;
  return 1;
}

/// "1,209" or "3.5"; nothing for "n/a" and for an empty cell.
base::Result<std::optional<std::uint64_t>> read_count(const std::string& cell, double factor,
                                                      const std::string& where) {
  if (cell.empty() || cell == "n/a") return std::optional<std::uint64_t>();
  std::string digits = cell;
  std::erase(digits, ',');
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, code] = std::from_chars(digits.data(), end, number);
  const double count = std::round(number * factor);
  if (code != std::errc() || stopped != end || !(count >= 0) || count > kMostCounted)
    return table_error(where, cell, "a count from 0 to 10^18");
  return std::optional(static_cast<std::uint64_t>(count));
}

/// Only the table's lines: all of their fields are quoted.
std::string table_text(std::string_view log) {
  std::string text;
  while (!log.empty()) {
    const std::size_t length = std::min(log.find('\n'), log.size());
    if (log.front() == '"') text.append(log.substr(0, length)).append("\n");
    log.remove_prefix(std::min(length + 1, log.size()));
  }
  return text;
}

struct CountColumn {
  std::size_t counter;  ///< in all_counters()
  std::size_t column;
  double factor = 1;
};

}  // namespace

bool is_counted_by_ncu(std::string_view counter) {
  // What is on its way to DRAM when a kernel ends: ncu counts what had arrived by then, the clock
  // and the rules want what will arrive.
  constexpr std::string_view kDueLater = "dram_write_bytes";
  const CounterInfo* const row = vgpu::counters::find_counter(counter);
  return row != nullptr && !row->metric.empty() && counter != kDueLater;
}

std::string ncu_metrics() {
  std::set<std::string_view> metrics;  // several rows may be held against one
  for (const CounterInfo& row : all_counters())
    // What a launch was asked for ncu prints anyway, and cannot be asked.
    if (is_counted_by_ncu(row.name) && !row.metric.starts_with("launch__"))
      metrics.insert(row.metric);
  std::string text;
  for (const std::string_view metric : metrics) text.append(text.empty() ? "" : ",").append(metric);
  return text;
}

base::Result<std::vector<NcuLaunch>> read_ncu_table(std::string_view log) {
  const std::string text = table_text(log);
  if (text.empty())
    return table_error(kNcuTable, log.substr(0, kBytesShown),
                       "a table of launches, begun by its titles");
  const auto table = base::read_csv(text, kNcuTable);
  if (!table) return table.error();
  const auto name = table->column("Kernel Name"), block = table->column("Block Size"),
             grid = table->column("Grid Size");
  if (!name || !block || !grid)
    return table_error(kNcuTable, text.substr(0, kBytesShown),
                       "columns Kernel Name, Block Size and Grid Size");
  std::vector<CountColumn> columns;
  for (std::size_t i = 0; i < all_counters().size(); ++i) {
    const CounterInfo& row = all_counters()[i];
    if (!is_counted_by_ncu(row.name)) continue;
    if (const auto column = table->column(row.metric)) columns.push_back({i, *column});
  }
  std::vector<NcuLaunch> launches;
  for (std::size_t r = 0; r < table->rows.size(); ++r) {
    const std::vector<std::string>& cells = table->rows[r];
    if (cells[*name].empty()) {  // the row of units
      for (CountColumn& column : columns) column.factor = factor_of(cells[column.column]);
      continue;
    }
    const auto of_grid = read_extent(cells[*grid], cell_place(r, "Grid Size"));
    if (!of_grid) return of_grid.error();
    const auto of_block = read_extent(cells[*block], cell_place(r, "Block Size"));
    if (!of_block) return of_block.error();
    NcuLaunch launch{cells[*name], *of_grid, *of_block, {}};
    launch.counts.resize(all_counters().size());
    for (const CountColumn& column : columns) {
      auto count = read_count(cells[column.column], column.factor,
                              cell_place(r, table->header[column.column]));
      if (!count) return count.error();
      launch.counts[column.counter] = *count;
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

std::string ncu_problem(std::string_view log) {
  constexpr std::string_view kMark = "==ERROR==";
  const std::size_t start = log.find(kMark);
  if (start == std::string_view::npos) return "";
  std::string_view line = log.substr(start + kMark.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  constexpr std::size_t kOneLine = 160;
  return base::printable(line.substr(0, kOneLine));
}

}  // namespace membound::judge
