// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/html_kernel.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "grader/base/check.hpp"
#include "grader/base/filled_template.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/report/advice_text.hpp"
#include "grader/report/html_template.hpp"
#include "grader/report/roofline.hpp"
#include "grader/report/step_through.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::KernelProfile;
using course::MemoryAccess;
using course::StageResult;
using nlohmann::json;

constexpr std::size_t kPicturesShown = 6;
constexpr std::size_t kStepsShown = 24;

json facts(const KernelProfile& kernel) {
  const auto fact = [](const char* name, std::string value) -> json {
    return {{"name", name}, {"value", std::move(value)}};
  };
  return {fact("launch", launch_in_words(kernel)),
          fact("occupancy", amount(100 * kernel.occupancy) + " %, " +
                                std::to_string(kernel.blocks_per_sm) +
                                " blocks a multiprocessor; limited by " + kernel.limiter),
          fact("active lanes", amount(kernel.lanes_per_instruction) + " of 32 on average"),
          fact("time", duration(kernel.predicted_ns) + ", predicted"),
          fact("bounded by", bound_words(kernel))};
}

json bounds(const KernelProfile& kernel) {
  json rows = json::array();
  if (kernel.bounds.empty() || kernel.bounds.front().ns <= 0) return rows;
  for (const course::TimeBound& bound : kernel.bounds) {
    const double share = 100 * bound.ns / kernel.bounds.front().ns;
    if (share < 0.5) break;
    rows.push_back(
        {{"name", bound.name}, {"value", duration(bound.ns)}, {"percent", coordinate(share)}});
  }
  return rows;
}

json advice(const KernelProfile& kernel) {
  json rows = json::array();
  for (const course::SpeedAdvice& one : kernel.advice) {
    const std::string place = place_of(one);
    rows.push_back({{"gain", number(one.gain) + " ×"},
                    {"fault", one.fault + (place.empty() ? "" : ", " + place)},
                    {"what", one.what},
                    {"evidence", evidence_of(one)},
                    {"remedy", one.remedy},
                    {"explained", explained_in(one)}});
  }
  return rows;
}

/// The lines of the source from the first that costs something to the last.
json lines(const StageResult& stage, const KernelProfile& kernel, const SourceText& source) {
  json shown = json::array();
  const auto [first, last] = lines_shown(kernel, source);
  if (first == 0 || source.empty()) return shown;
  const std::vector<ProfileRow> rows = profile_rows(stage, kernel);
  for (int line = first; line <= last; ++line) {
    json costs = json::array();
    bool hot = false;
    for (const ProfileRow& row : rows) {
      if (row.line != line) continue;
      hot = hot || row.wasteful;
      costs.push_back({{"access", row.access},
                       {"requests", row.requests},
                       {"per_request", row.per_request},
                       {"wasteful", row.wasteful},
                       {"ideal", row.ideal}});
    }
    shown.push_back({{"line", std::to_string(line)},
                     {"hot", hot},
                     {"costs", std::move(costs)},
                     {"source", source[static_cast<std::size_t>(line - 1)]}});
  }
  return shown;
}

double waste(const MemoryAccess& access) {
  return access.ideal > 0 ? static_cast<double>(access.units) / access.ideal : 1;
}

/// One access of each line and kind, the most wasteful first.
std::vector<const MemoryAccess*> pictured(const KernelProfile& kernel) {
  std::vector<const MemoryAccess*> chosen;
  for (const MemoryAccess& access : kernel.accesses) {
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const MemoryAccess* other) {
      return other->line == access.line && other->space == access.space &&
             other->kind == access.kind;
    });
    if (!known && std::filesystem::path(access.file).extension() == ".cu")
      chosen.push_back(&access);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const MemoryAccess* a, const MemoryAccess* b) {
    return waste(*a) > waste(*b);
  });
  if (chosen.size() > kPicturesShown) chosen.resize(kPicturesShown);
  return chosen;
}

json pictures(const KernelProfile& kernel) {
  json shown = json::array();
  const auto& block = kernel.traced_block;
  std::string where = "block (" + std::to_string(block[0]) + ", " + std::to_string(block[1]) +
                      ", " + std::to_string(block[2]) + "), warp " +
                      std::to_string(kernel.traced_warp);
  if (!kernel.traced_label.empty() && kernel.traced_label != kernel.label)
    where += ", at " + kernel.traced_label;
  if (kernel.accesses.size() > 1) {
    std::vector<MemoryAccess> first = kernel.accesses;
    first.resize(std::min(first.size(), kStepsShown));
    shown.push_back({{"open", true},
                     {"summary", "What this warp asks of memory, step by step"},
                     {"picture", draw_steps(first, kernel.name, where, false)}});
  }
  for (const MemoryAccess* access : pictured(kernel)) {
    const std::string what = "Line " + std::to_string(access->line) + ", " +
                             (access->is_shared() ? "shared " : "") + access->kind;
    shown.push_back({{"open", shown.size() < 2},  // the most wasteful is shown at once
                     {"summary", what + ": " + cost_in_words(*access)},
                     {"picture", draw_access(*access, what, where, false)}});
  }
  if (const auto roofline = roofline_of(kernel))
    shown.push_back({{"open", false},
                     {"summary", "Roofline"},
                     {"picture", draw_roofline(*roofline, "Instruction roofline, predicted")}});
  return shown;
}

}  // namespace

std::string kernel_section(const StageResult& stage, const KernelProfile& kernel,
                           const SourceText& source) {
  json values = {{"name", kernel.name},
                 {"label", kernel.label},
                 {"facts", facts(kernel)},
                 {"bounds", bounds(kernel)},
                 {"overlap", overlap_words(kernel)},
                 {"advice", advice(kernel)},
                 {"lines", lines(stage, kernel, source)},
                 {"pictures", pictures(kernel)}};
  for (const char* list : {"bounds", "advice", "lines"})
    values[std::string("has_") + list] = !values[list].empty();
  auto section =
      base::filled_template(std::string(template_text("kernel")), values, base::Quoting::kHtml);
  MEMBOUND_CHECK(section.ok());
  return *std::move(section);
}

}  // namespace membound::report
