// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/result_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "grader/base/filled_template.hpp"
#include "grader/base/result.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/report/markdown_html.hpp"
#include "grader/report/profile_text.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::StageResult;
using nlohmann::json;

std::string look_of(course::Verdict verdict) {
  const Tone tone = tone_of(verdict);
  return tone == Tone::kGood ? "good" : tone == Tone::kBad ? "bad" : "faint";
}

json failed_tests(const StageResult& stage) {
  json failed = json::array();
  for (const course::TestOutcome& test : stage.tests)
    if (!test.skipped && !test.passed)
      failed.push_back({{"name", test.name}, {"message", test.message}});
  return failed;
}

std::string passed_tests(const StageResult& stage) {
  std::vector<std::string> passed;
  for (const course::TestOutcome& test : stage.tests)
    if (!test.skipped && test.passed) passed.push_back(test.name);
  return listed(passed);
}

json speeds(const StageResult& stage) {
  json rows = json::array();
  if (!stage.speed) return rows;
  const double most =
      std::max({*stage.speed, stage.reference_speed.value_or(0), stage.ceiling.value_or(0)});
  const auto row = [&](const char* name, const std::optional<double>& value) {
    if (!value || *value <= 0) return;
    rows.push_back({{"name", name},
                    {"value", speed(*value, stage.bound)},
                    {"percent", coordinate(100 * *value / most)}});
  };
  row("yours", stage.speed);
  row("reference", stage.reference_speed);
  row("ceiling of this device", stage.ceiling);
  return rows;
}

/// What names the cause of a failure, and what else was found.
enum class FindingsOf { kCause, kRest };

/// A note as a paragraph; what follows its first line as it is.
json note_row(const std::string& note) {
  const auto end = std::min(note.find('\n'), note.size());
  return {{"text", note.substr(0, end)},
          {"advice", ""},
          {"code", ""},
          {"drawing", end < note.size() ? note.substr(end + 1) : ""}};
}

/// The line of the student's source that a finding is about.
std::string source_line(const course::Finding& finding, const SourceText& source) {
  const bool own = finding.file.empty() || std::filesystem::path(finding.file).extension() == ".cu";
  const auto line = static_cast<std::size_t>(std::max(finding.line, 0));
  return own && line > 0 && line <= source.size() ? source[line - 1] : "";
}

json findings(const StageResult& stage, const SourceText& source, FindingsOf which) {
  json rows = json::array();
  for (const course::Finding& finding : stage.findings) {
    if (!finding.test.empty() || finding.text.empty()) continue;
    const bool is_cause = !finding.advice.empty() && !is_advice(finding, stage);
    if (is_cause != (which == FindingsOf::kCause)) continue;
    const std::string line = finding.line > 0 ? "Line " + std::to_string(finding.line) + ": " : "";
    rows.push_back({{"text", line + finding.text},
                    {"advice", finding.advice},
                    {"code", source_line(finding, source)},
                    {"drawing", ""}});
  }
  if (which == FindingsOf::kRest)
    for (const std::string& remark : stage.remarks) rows.push_back(note_row(remark));
  if (which == FindingsOf::kRest)
    for (const std::string& note : stage.notes)
      if (!stage.speed) rows.push_back(note_row(note));
  return rows;
}

/// ", double 4096 x 4096": of which case the speeds are, where there are several.
std::string case_of(const StageResult& stage) {
  const course::Timing* const timing = course::slowest(stage.timings);
  return timing == nullptr || stage.timings.size() < 2
             ? ""
             : ", " + timing->label + ": the lowest ratio of " +
                   std::to_string(stage.timings.size()) + " cases";
}

/// An address that holds the picture itself; empty without one.
std::string picture_of(const StageResult& stage, const PageParts& parts) {
  const auto found = parts.pictures.find(stage.stage);
  return found == parts.pictures.end() ? "" : "data:image/png;base64," + base64(found->second);
}

json stage_values(const StageResult& stage, const SourceText& source, const PageParts& parts) {
  json values = {{"number", std::to_string(stage.stage)},
                 {"title", stage.title},
                 {"tone", look_of(stage.verdict)},
                 {"verdict", words_for(stage.verdict)},
                 {"speed", stage.speed ? speed(*stage.speed, stage.bound) : "–"},
                 {"ratio", stage.ratio ? number(*stage.ratio) : "–"},
                 {"bar", number(stage.pass_ratio)},
                 {"points", points(stage.points) + " of " + points(stage.max_points)},
                 {"passed", passed_tests(stage)},
                 {"picture", picture_of(stage, parts)},
                 {"failed", json::array()},
                 {"more_failed", json::array()},
                 {"case", case_of(stage)},
                 {"speeds", speeds(stage)},
                 {"causes", findings(stage, source, FindingsOf::kCause)},
                 {"findings", findings(stage, source, FindingsOf::kRest)},
                 {"kernels", json::array()}};
  // The first one is the easiest to understand; most of the others fail for the same reason.
  json failed = failed_tests(stage);
  for (std::size_t i = 0; i < failed.size(); ++i)
    values[i == 0 ? "failed" : "more_failed"].push_back(std::move(failed[i]));
  values["more_count"] = std::to_string(values["more_failed"].size());
  for (const char* list : {"speeds", "causes", "findings", "more_failed"})
    values[std::string("has_") + list] = !values[list].empty();
  for (const course::KernelProfile& kernel : stage.profiles)
    values["kernels"].push_back({{"section", kernel_section(stage, kernel, source)}});
  return values;
}

/// Whether some kernel's accesses can be played.
bool has_a_trace(const course::Result& result) {
  return std::any_of(result.stages.begin(), result.stages.end(), [](const StageResult& stage) {
    return std::any_of(
        stage.profiles.begin(), stage.profiles.end(),
        [](const course::KernelProfile& kernel) { return kernel.accesses.size() > 1; });
  });
}

}  // namespace

std::string render_html(const course::Result& result, const SourceText& source,
                        const PageParts& parts) {
  json values = {
      {"style", template_text("style")},
      {"title", result.title},
      {"next", next_step(result, parts.untouched, parts.lab)},
      {"narrow", template_text("narrow")},
      {"made_from", result.submission + " on " + result.device.name_for_times() + ", " +
                        result.compiler + ", seed " + std::to_string(result.seed) + ", " +
                        result.created_at + "; Membound " + result.membound_version},
      {"script", has_a_trace(result) ? steps_script() : ""},
      {"compiler_output", result.compiler_output},
      {"ways", draw_ways(parts.dots)},
      {"stages", json::array()}};
  for (const StageResult& stage : result.stages) {
    if (!parts.untouched.contains(stage.stage)) {
      values["stages"].push_back(stage_values(stage, source, parts));
      continue;
    }
    // What a skeleton fails is no news: the stage's row, and nothing that was found.
    StageResult row;
    row.stage = stage.stage;
    row.title = stage.title;
    row.pass_ratio = stage.pass_ratio;
    row.max_points = stage.max_points;
    values["stages"].push_back(stage_values(row, source, parts));
    values["stages"].back().update({{"verdict", kNotStarted}, {"tone", "faint"}});
  }
  auto page =
      base::filled_template(std::string(template_text("page")), values, base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

namespace {

using course::KernelProfile;
using course::MemoryAccess;

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

namespace {

constexpr double kPlotWidth = 700, kHeight = 300;
constexpr double kPlotLeft = 74, kPlotRight = 24, kPlotTop = 46, kBottom = 52;

/// Powers of ten that enclose [low, high].
struct Scale {
  int low = 0, high = 0;
  double from = 0, to = 0;
  Scale(double low_, double high_, double from_, double to_)
      : low(static_cast<int>(std::floor(std::log10(low_)))),
        high(static_cast<int>(std::ceil(std::log10(high_)))),
        from(from_),
        to(to_) {
    if (high <= low) high = low + 1;
  }
  [[nodiscard]] double at(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
};

double bound_ns(const course::KernelProfile& kernel, const char* name) {
  for (const course::TimeBound& bound : kernel.bounds)
    if (bound.name == name) return bound.ns;
  return 0;
}

std::string power_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

void draw_axes(Svg& svg, const Scale& x, const Scale& y, std::string_view of_x,
               std::string_view of_y) {
  for (int power = x.low; power <= x.high; ++power) {
    const double value = std::pow(10, power);
    svg.line(x.at(value), y.from, x.at(value), y.to, "grid");
    svg.text(x.at(value), y.from + 15, kSmallText, "ink", "middle", power_text(value));
  }
  for (int power = y.low; power <= y.high; ++power) {
    const double value = std::pow(10, power);
    svg.line(x.from, y.at(value), x.to, y.at(value), "grid");
    svg.text(x.from - 6, y.at(value) + 3.5, kSmallText, "ink", "end", power_text(value));
  }
  svg.line(x.from, y.from, x.to, y.from, "axis");
  svg.line(x.from, y.from, x.from, y.to, "axis");
  svg.text((x.from + x.to) / 2, y.from + 33, kSmallText, "faint", "middle", of_x);
  svg.upward_text(16, y.from - 8, kSmallText, "faint", of_y);
}

/// `flat`: what the upper roof is of.
void draw_roofs(Svg& svg, const Roofline& r, const Scale& x, const Scale& y,
                const std::string& flat) {
  const double left = std::pow(10, x.low), right = std::pow(10, x.high);
  const double bend = std::clamp(r.issue_roof / r.dram_gbs, left, right);
  svg.line(x.at(left), y.at(r.roof_at(left)), x.at(bend), y.at(r.roof_at(bend)), "roof");
  svg.line(x.at(bend), y.at(r.roof_at(bend)), x.at(right), y.at(r.roof_at(right)), "roof");
  svg.text(kPlotWidth - kPlotRight, y.at(r.issue_roof) - 6, kSmallText, "ink", "end",
           flat + ": " + amount(r.issue_roof) + "e9 a second");
  svg.text(x.at(left) + 8, kPlotTop + 12, kSmallText, "ink", "start",
           "slope: DRAM, " + amount(r.dram_gbs) + " GB/s");
}

}  // namespace

std::optional<Roofline> roofline_of(const course::KernelProfile& kernel) {
  const double issue_ns = bound_ns(kernel, "issue slots");
  const double dram_ns = bound_ns(kernel, "DRAM bandwidth");
  if (issue_ns <= 0 || dram_ns <= 0 || kernel.predicted_ns <= 0 || kernel.dram_bytes == 0)
    return std::nullopt;
  const auto instructions = static_cast<double>(kernel.warp_instructions);
  const auto bytes = static_cast<double>(kernel.dram_bytes);
  return Roofline{instructions / bytes, instructions / kernel.predicted_ns, instructions / issue_ns,
                  bytes / dram_ns};
}

std::string draw_roofline(const Roofline& r, const std::string& title, bool standalone) {
  const double ridge = r.issue_roof / r.dram_gbs;
  const double low = std::min(ridge, r.instructions_per_byte) / 3;
  const double high = std::max(ridge, r.instructions_per_byte) * 3;
  const Scale x(low, high, kPlotLeft, kPlotWidth - kPlotRight);
  const double left = std::pow(10, x.low);
  const Scale y(std::min(r.reached, r.roof_at(left)), r.issue_roof * 1.5, kHeight - kBottom,
                kPlotTop);
  const double share = r.reached / r.roof_at(r.instructions_per_byte);
  const std::string words = amount(100 * share) + " % of the roof above it";
  Svg svg(kPlotWidth, title, words + "; predicted by the timing model");
  svg.text(12, 22, 14, "strong", "start", title);
  draw_axes(svg, x, y, "warp instructions per byte of DRAM traffic",
            "1e9 warp instructions a second");
  draw_roofs(svg, r, x, y, "issue slots");
  const double px = x.at(r.instructions_per_byte), py = y.at(r.reached);
  svg.line(px, py, px, y.at(r.roof_at(r.instructions_per_byte)), "dash");
  svg.circle(px, py, 5, "mark");
  const bool at_right = px > kPlotWidth / 2;
  svg.text(px + (at_right ? -10 : 10), py + 14, 11, "strong", at_right ? "end" : "start",
           "this kernel: " + words);
  return svg.finish(kHeight, standalone);
}

std::string way_on_roofline(const std::vector<course::RooflineDot>& dots) {
  std::string text;
  for (const course::RooflineDot& dot : dots) {
    const bool is_first = &dot == dots.data();
    text += (is_first           ? ""
             : &dot == &dots[1] ? "; then "
                                : ", ") +
            amount(dot.operations_per_byte) + (is_first ? " operations a byte, " : " at ") +
            speed(dot.operations_per_second, course::Bound::kOperations);
  }
  return dots.size() < 2 ? "" : text;
}

std::string draw_ways(const std::map<int, std::vector<course::RooflineDot>>& ways) {
  std::vector<course::RooflineDot> all;
  for (const auto& [stage, dots] : ways) all.insert(all.end(), dots.begin(), dots.end());
  if (all.size() < 2) return "";
  const course::RooflineDot& device = all.back();
  const Roofline roofs{0, 0, device.roof / 1e9, device.bytes_per_second / 1e9};
  const double ridge = roofs.issue_roof / roofs.dram_gbs;
  double low = ridge, high = ridge, slowest = roofs.issue_roof;
  for (const course::RooflineDot& dot : all) {
    low = std::min(low, dot.operations_per_byte);
    high = std::max(high, dot.operations_per_byte);
    slowest = std::min(slowest, dot.operations_per_second / 1e9);
  }
  const Scale x(low, high * 2, kPlotLeft, kPlotWidth - kPlotRight);
  const Scale y(std::min(slowest, roofs.roof_at(std::pow(10, x.low))), roofs.issue_roof * 1.5,
                kHeight - kBottom, kPlotTop);
  const std::string title = "From check to check";
  Svg svg(kPlotWidth, title, "a dot for each check, the last one of each stage with its number",
          "    .mb-trail{fill:none;stroke:#8b8f96;stroke-width:1}\n");
  svg.text(12, 22, 14, "strong", "start", title);
  draw_axes(svg, x, y, "operations per byte that loads ask L1 for", "1e9 operations a second");
  draw_roofs(svg, roofs, x, y, "arithmetic");
  for (const auto& [stage, dots] : ways) {
    std::string way;
    for (const course::RooflineDot& dot : dots) {
      const double px = x.at(dot.operations_per_byte), py = y.at(dot.operations_per_second / 1e9);
      const bool is_last = &dot == &dots.back();
      way += (way.empty() ? "M" : "L") + coordinate(px) + " " + coordinate(py);
      svg.circle(px, py, is_last ? 5 : 3, is_last ? "mark" : "cell");
      if (is_last) svg.text(px + 8, py + 4, kSmallText, "strong", "start", std::to_string(stage));
    }
    if (dots.size() > 1) svg.path(way, "trail");
  }
  return svg.finish(kHeight, false);
}

}  // namespace membound::report
