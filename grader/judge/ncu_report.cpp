// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/ncu_report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/json_io.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/vgpu/advice/advice.hpp"
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

namespace {

using nlohmann::json;
using vgpu::counters::BlockWork;
using vgpu::counters::Counters;
using vgpu::counters::LaunchCounters;
using vgpu::timing::LaunchShape;
using Counter = std::uint64_t Counters::*;

/// Rows that ncu does not count and that are a part of one that it does, or come with it: they
/// shrink and grow with that.
constexpr std::pair<Counter, Counter> kParts[] = {
    {&Counters::global_load_ideal_sectors, &Counters::global_load_sectors},
    {&Counters::global_load_run_sectors, &Counters::global_load_sectors},
    {&Counters::global_store_ideal_sectors, &Counters::global_store_sectors},
    {&Counters::global_store_run_sectors, &Counters::global_store_sectors},
    {&Counters::global_store_lines, &Counters::global_store_sectors},
    {&Counters::partial_store_sectors, &Counters::global_store_sectors},
    {&Counters::shared_load_ideal_wavefronts, &Counters::shared_load_wavefronts},
    {&Counters::ptx_shared_load_requests, &Counters::shared_load_requests},
    {&Counters::ptx_shared_load_wavefronts, &Counters::shared_load_wavefronts},
    {&Counters::ptx_shared_load_ideal_wavefronts, &Counters::shared_load_wavefronts},
    {&Counters::ptx_shared_store_requests, &Counters::shared_store_requests},
    {&Counters::ptx_shared_store_wavefronts, &Counters::shared_store_wavefronts},
    {&Counters::ptx_shared_store_ideal_wavefronts, &Counters::shared_store_wavefronts},
    {&Counters::ptx_shared_wavefronts, &Counters::shared_wavefronts},
    {&Counters::ptx_ideal_shared_wavefronts, &Counters::ideal_shared_wavefronts},
    {&Counters::shared_store_ideal_wavefronts, &Counters::shared_store_wavefronts},
    {&Counters::partial_local_store_sectors, &Counters::local_store_sectors},
    {&Counters::local_load_rounds, &Counters::local_load_requests},
    {&Counters::l1_load_joined_sectors, &Counters::l1_load_hit_sectors},
    {&Counters::l2_waiting_sectors, &Counters::l2_read_sectors},
    {&Counters::dram_fetched_pieces, &Counters::dram_read_bytes},
    {&Counters::dram_lone_pieces, &Counters::dram_read_bytes}};

base::Error other_launches(std::string found, std::string expected) {
  return {base::ErrorKind::kInput, "ncu's table", std::move(found), std::move(expected), ""};
}

template <typename Counts>
Counts read_counts(const json& in) {
  Counts counts;
  for (const auto& row : all_counters())
    course::read_field(in, std::string(row.name).c_str(), counts.*row.member);
  return counts;
}

vgpu::Dim3 dim3_of(const json& in) {
  return {in.at(0).get<std::uint32_t>(), in.at(1).get<std::uint32_t>(),
          in.at(2).get<std::uint32_t>()};
}

}  // namespace

LaunchCounters launch_counters_of(const json& kernel) {
  LaunchCounters all;
  all.totals = read_counts<Counters>(kernel.at("counters"));
  for (const json& line : kernel.at("lines"))
    all.lines.push_back(
        {line.at("file"), line.at("line"), read_counts<Counters>(line.at("counters"))});
  const json& work = kernel.at("work");
  for (const json& fields : work.at("kinds")) {
    BlockWork block;
    for (std::size_t i = 0; i < std::size(vgpu::counters::kBlockWorkFields); ++i)
      block.*vgpu::counters::kBlockWorkFields[i] = fields.at(i).get<std::uint64_t>();
    all.work.kinds.push_back(block);
  }
  for (const json& run : work.at("runs"))
    all.work.runs.push_back({run.at(0).get<std::size_t>(), run.at(1).get<std::uint64_t>()});
  work.at("instructions").get_to(all.work.instructions);
  return all;
}

LaunchShape launch_shape_of(const json& kernel) {
  return {dim3_of(kernel.at("grid")), dim3_of(kernel.at("block")),
          kernel.at("registers_per_thread"), kernel.at("shared_bytes"),
          kernel.at("work").at("constant_bytes")};
}

namespace {

void put_counts(const NcuLaunch& launch, Counters& totals) {
  const Counters before = totals;
  for (std::size_t i = 0; i < all_counters().size(); ++i)
    if (i < launch.counts.size() && launch.counts[i])
      totals.*all_counters()[i].member = *launch.counts[i];
  for (const auto& [part, whole] : kParts) {
    if (before.*whole == 0) continue;
    const double share = static_cast<double>(totals.*whole) / static_cast<double>(before.*whole);
    totals.*part =
        static_cast<std::uint64_t>(std::round(static_cast<double>(totals.*part) * share));
  }
}

/// Whether this is the launch that ncu saw; a text for a message where it is not.
std::string difference(const json& kernel, const NcuLaunch& launch) {
  const auto extent = [](const auto& e) {
    return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
  };
  std::array<std::int64_t, 3> grid{}, block{};
  course::read_field(kernel, "grid", grid);
  course::read_field(kernel, "block", block);
  const std::string name = course::text_or_empty(kernel, "name");
  if (name != launch.kernel) return launch.kernel + " where " + name + " was launched";
  if (grid != launch.grid || block != launch.block)
    return extent(launch.grid) + " blocks of " + extent(launch.block) + " threads where " +
           extent(grid) + " of " + extent(block) + " were launched";
  return "";
}

/// A stage times its kernels in several cases, one after the other, and the report is of one of
/// them: the first launch of the case that has the report's shapes; without one, the first of all.
std::vector<NcuLaunch>::const_iterator first_of_the_case(const std::vector<const json*>& own,
                                                         const std::vector<NcuLaunch>& launches) {
  const auto launches_of_a_case = static_cast<std::ptrdiff_t>(own.size());
  for (auto first = launches.begin(); first != launches.end(); first += launches_of_a_case)
    if (std::equal(own.begin(), own.end(), first, [](const json* kernel, const NcuLaunch& launch) {
          return difference(*kernel, launch).empty();
        }))
      return first;
  return launches.begin();
}

/// One launch, predicted again.
base::Status predict_again(const NcuLaunch& launch, const vgpu::timing::Machine& machine,
                           json& kernel) {
  using vgpu::timing::Prediction;
  constexpr double kSame = 1e-6;  // of a time
  LaunchCounters counters = launch_counters_of(kernel);
  const LaunchShape shape = launch_shape_of(kernel);
  const double before = kernel.at("predicted_ns");
  if (std::abs(predict(machine, counters, shape).ns - before) > kSame * before)
    return base::Error{base::ErrorKind::kInput, "the clock of " + machine.id,
                       "does not repeat its own prediction of " + launch.kernel, "", ""};
  put_counts(launch, counters.totals);
  const Prediction prediction = predict(machine, counters, shape);
  kernel["counters"] = json::parse(to_json(counters.totals, false));
  kernel["predicted_ns"] = prediction.ns;
  kernel["bound"] = to_string(prediction.binding);
  kernel["bounds"] = json::array();
  for (const vgpu::timing::Bound& bound : prediction.bounds)
    if (bound.ns > 0)
      kernel["bounds"].push_back({{"name", to_string(bound.kind)}, {"ns", bound.ns}});
  kernel["advice"] = json::array();
  for (const vgpu::advice::Advice& one :
       vgpu::advice::advise(machine, counters, shape, prediction)) {
    const vgpu::counters::RuleInfo& rule = *one.rule;
    const auto row = static_cast<std::size_t>(vgpu::counters::find_counter(rule.counter) -
                                              all_counters().data());
    kernel["advice"].push_back(course::SpeedAdvice{
        std::string(rule.name), std::string(rule.fault), one.speedup, one.what,
        std::string(rule.counter), one.value, one.file, static_cast<int>(one.line),
        std::string(rule.remedy), std::string(rule.handout), std::string(rule.section),
        launch.counts[row] ? "ncu" : "virtual GPU"});
  }
  return base::Done{};
}

}  // namespace

std::vector<const json*> own_launches(const json& report) {
  std::vector<const json*> own;
  const auto kernels = report.is_object() ? report.find("kernels") : report.end();
  if (kernels == report.end() || !kernels->is_array()) return own;
  for (const json& kernel : *kernels)
    if (!is_harness_kernel(kernel_name(kernel))) own.push_back(&kernel);
  return own;
}

base::Result<json> with_ncu_counts(json report, const std::vector<NcuLaunch>& launches,
                                   const vgpu::timing::Machine& machine) {
  const std::vector<const json*> own = own_launches(report);
  if (own.empty() || launches.empty() || launches.size() % own.size() != 0)
    return other_launches(std::to_string(launches.size()) + " launches",
                          std::to_string(own.size()) + ", as on the virtual GPU");
  try {
    auto launch = first_of_the_case(own, launches);
    for (json& kernel : report["kernels"]) {
      if (is_harness_kernel(kernel_name(kernel))) continue;
      if (std::string found = difference(kernel, *launch); !found.empty())
        return other_launches(std::move(found), "the launches of the virtual GPU");
      if (const auto done = predict_again(*launch, machine, kernel); !done) return done.error();
      ++launch;
    }
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::kInternal, "the virtual GPU's report", error.what(), "",
                       ""};
  }
  return report;
}

}  // namespace membound::judge
