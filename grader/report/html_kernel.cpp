// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/html_kernel.hpp"

#include <algorithm>
#include <filesystem>

#include "grader/report/access_picture.hpp"
#include "grader/report/roofline.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::KernelProfile;
using course::MemoryAccess;
using course::StageResult;

constexpr std::size_t kPicturesShown = 6;

std::string row(const std::string& name, const std::string& value) {
  return "<tr><th scope=\"row\">" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
}

std::string facts(const KernelProfile& kernel) {
  std::string text = "<table class=\"facts\">\n";
  text += row("launch", launch_in_words(kernel));
  text += row("occupancy", amount(100 * kernel.occupancy) + " %, " +
                               std::to_string(kernel.blocks_per_sm) +
                               " blocks a multiprocessor; limited by " + kernel.limiter);
  text += row("active lanes", amount(kernel.lanes_per_instruction) + " of 32 on average");
  text += row("time", duration(kernel.predicted_ns) + ", predicted");
  text += row("bounded by", kernel.bound);
  return text + "</table>\n";
}

std::string bounds(const KernelProfile& kernel) {
  if (kernel.bounds.empty() || kernel.bounds.front().ns <= 0) return "";
  std::string text =
      "<table class=\"bounds\"><caption>Were this the only limit, the kernel would "
      "take</caption>\n";
  for (const course::TimeBound& bound : kernel.bounds) {
    const double share = 100 * bound.ns / kernel.bounds.front().ns;
    if (share < 0.5) break;
    text += "<tr><th scope=\"row\">" + escaped(bound.name) + "</th><td class=\"n\">" +
            duration(bound.ns) + "</td><td class=\"bar\"><span style=\"width:" + coordinate(share) +
            "%\"></span></td></tr>\n";
  }
  return text + "</table>\n";
}

std::string costs(const std::vector<ProfileRow>& rows, int line) {
  std::string access, requests, cost, ideal;
  for (const ProfileRow& row : rows) {
    if (row.line != line) continue;
    const std::string open = row.wasteful ? "<b>" : "<span>";
    const std::string close = row.wasteful ? "</b>" : "</span>";
    access += "<span>" + escaped(row.access) + "</span>";
    requests += "<span>" + row.requests + "</span>";
    cost += open + escaped(row.per_request) + (row.wasteful ? " !" : "") + close;
    ideal += "<span>" + (row.ideal.empty() ? "&nbsp;" : row.ideal) + "</span>";
  }
  return "<td>" + access + "</td><td class=\"n\">" + requests + "</td><td class=\"n\">" + cost +
         "</td><td class=\"n\">" + ideal + "</td>";
}

std::string listing(const StageResult& stage, const KernelProfile& kernel,
                    const SourceText& source) {
  const auto [first, last] = lines_shown(kernel, source);
  if (first == 0 || source.empty()) return "";
  const std::vector<ProfileRow> rows = profile_rows(stage, kernel);
  // The costs first: lines of code are longer than a page is wide, and scroll away to the right.
  std::string text =
      "<div class=\"wide\"><table class=\"source\"><thead><tr><th>line</th><th>access</th>"
      "<th>requests</th><th>per request</th><th>ideal</th><th>source</th></tr></thead>\n<tbody>\n";
  for (int line = first; line <= last; ++line) {
    const bool hot = std::any_of(rows.begin(), rows.end(), [&](const ProfileRow& one) {
      return one.line == line && one.wasteful;
    });
    text += std::string(hot ? "<tr class=\"hot\">" : "<tr>") + "<td class=\"n\">" +
            std::to_string(line) + "</td>" + costs(rows, line) + "<td><code>" +
            escaped(source[static_cast<std::size_t>(line - 1)]) + "</code></td></tr>\n";
  }
  return text + "</tbody></table></div>\n";
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

std::string pictures(const KernelProfile& kernel) {
  std::string text;
  bool open = true;  // the most wasteful is shown at once
  for (const MemoryAccess* access : pictured(kernel)) {
    const std::string what = "Line " + std::to_string(access->line) + ", " +
                             (access->is_shared() ? "shared " : "") + access->kind;
    const auto& block = kernel.traced_block;
    const std::string where = "block (" + std::to_string(block[0]) + ", " +
                              std::to_string(block[1]) + ", " + std::to_string(block[2]) +
                              "), warp " + std::to_string(kernel.traced_warp);
    text += std::string("<details") + (open ? " open" : "") + "><summary>" + escaped(what) + ": " +
            escaped(cost_in_words(*access)) + "</summary>\n<figure>" +
            draw_access(*access, what, where, false) + "</figure></details>\n";
    open = false;
  }
  return text;
}

}  // namespace

std::string html_of_kernel(const StageResult& stage, const KernelProfile& kernel,
                           const SourceText& source) {
  std::string text = "<section>\n<h3><code>" + escaped(kernel.name) + "</code></h3>\n";
  if (!kernel.label.empty()) text += "<p>" + escaped(kernel.label) + "</p>\n";
  text += facts(kernel) + bounds(kernel) + listing(stage, kernel, source) + pictures(kernel);
  if (const auto roofline = roofline_of(kernel))
    text += "<details><summary>Roofline</summary>\n<figure>" +
            draw_roofline(*roofline, "Instruction roofline, predicted") + "</figure></details>\n";
  return text + "</section>\n";
}

}  // namespace membound::report
