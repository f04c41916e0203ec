// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/html.hpp"

#include <algorithm>

#include "grader/report/html_kernel.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::StageResult;

constexpr const char* kLooks = R"(<style>
:root{color-scheme:light dark;--page:#fcfbf8;--ink:#24292f;--faint:#5b6370;--rule:#d8d5cc;--good:#1e6b3c;
--bad:#a3261c;--hot:#fdf0dc;--bar:#2f6fb0;--code:#f2f0ea}
@media(prefers-color-scheme:dark){:root{--page:#16191d;--ink:#e6e8eb;--faint:#a3abb5;--rule:#3a4048;
--good:#7ad39c;--bad:#ff9c90;--hot:#3a2c17;--bar:#6aa9e6;--code:#1f242a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--page);color:var(--ink);
font:1rem/1.5 system-ui,"DejaVu Sans",sans-serif}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.2rem;border-top:1px solid var(--rule);padding-top:1rem}
h3{font-size:1rem;overflow-wrap:anywhere}code,pre{font-family:"DejaVu Sans Mono",monospace;font-size:.8rem}
pre{background:var(--code);padding:.7rem;overflow-x:auto}
table{border-collapse:collapse;margin:.8rem 0}th,td{text-align:left;vertical-align:top;padding:.15rem .6rem}
thead th,caption{color:var(--faint);font-weight:normal;text-align:left;font-size:.85rem}
.facts th,.bounds th{font-weight:normal;color:var(--faint);white-space:nowrap}
.n{text-align:right;white-space:nowrap}.wide{overflow-x:auto}
.source{font-size:.85rem;width:100%}.source code{white-space:pre}.source td{padding:.05rem .5rem;white-space:nowrap}
.source td>span,.source td>b{display:block}.hot{background:var(--hot)}
.bounds{width:100%}.bounds .bar{width:50%}.bar span{display:block;height:.7rem;margin-top:.4rem;background:var(--bar)}
.good{color:var(--good);font-weight:bold}.bad{color:var(--bad);font-weight:bold}.faint{color:var(--faint)}
figure{margin:.5rem 0;overflow-x:auto}figure svg{max-width:100%;height:auto;min-width:30rem}
summary{cursor:pointer}
@media(max-width:40rem){.facts th,.facts td{display:block}.facts th{padding-bottom:0}.bounds .bar{width:30%}}
</style>
)";

std::string verdict(const StageResult& stage) {
  const Tone tone = tone_of(stage.verdict);
  const char* look = tone == Tone::kGood ? "good" : tone == Tone::kBad ? "bad" : "faint";
  return std::string("<span class=\"") + look + "\">" + escaped(words_for(stage.verdict)) +
         "</span>";
}

std::string cell(const std::string& text) { return "<td class=\"n\">" + text + "</td>"; }

std::string overview(const course::Result& result) {
  std::string text =
      "<div class=\"wide\"><table><thead><tr><th>stage</th><th></th><th>verdict</th>"
      "<th>speed</th><th>of the reference</th><th>bar</th><th>points</th></tr></thead>\n<tbody>\n";
  for (const StageResult& stage : result.stages) {
    text += "<tr>" + cell(std::to_string(stage.stage)) + "<td><a href=\"#stage-" +
            std::to_string(stage.stage) + "\">" + escaped(stage.title) + "</a></td><td>" +
            verdict(stage) + "</td>" +
            cell(stage.speed ? speed(*stage.speed, stage.bound) : "&ndash;") +
            cell(stage.ratio ? number(*stage.ratio) : "&ndash;") + cell(number(stage.pass_ratio)) +
            cell(points(stage.points) + " of " + points(stage.max_points)) + "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string tests(const StageResult& stage) {
  std::vector<std::string> passed;
  std::string text;
  for (const course::TestOutcome& test : stage.tests) {
    if (test.skipped) continue;
    if (test.passed)
      passed.push_back(test.name);
    else
      text += "<p>Failed: <b>" + escaped(test.name) + "</b></p>\n<pre>" + escaped(test.message) +
              "</pre>\n";
  }
  if (passed.empty()) return text;
  return "<p>Passed: " + escaped(listed(passed)) + "</p>\n" + text;
}

std::string speeds(const StageResult& stage) {
  if (!stage.speed) return "";
  std::string text = "<table class=\"bounds\"><caption>Speed</caption>\n";
  const double most =
      std::max({*stage.speed, stage.reference_speed.value_or(0), stage.ceiling.value_or(0)});
  const auto row = [&](const char* name, const std::optional<double>& value) {
    if (!value || *value <= 0) return;
    text += std::string("<tr><th scope=\"row\">") + name + "</th><td class=\"n\">" +
            speed(*value, stage.bound) +
            "</td><td class=\"bar\"><span style=\"width:" + coordinate(100 * *value / most) +
            "%\"></span></td></tr>\n";
  };
  row("yours", stage.speed);
  row("reference", stage.reference_speed);
  row("ceiling of this device", stage.ceiling);
  return text + "</table>\n";
}

std::string findings(const StageResult& stage) {
  std::string items;
  for (const course::Finding& finding : stage.findings) {
    if (!finding.test.empty() || finding.text.empty()) continue;
    items += "<li>" + (finding.line > 0 ? "Line " + std::to_string(finding.line) + ": " : "") +
             escaped(finding.text) +
             (finding.advice.empty() ? "" : " <strong>Try:</strong> " + escaped(finding.advice)) +
             "</li>\n";
  }
  return items.empty() ? "" : "<ul>\n" + items + "</ul>\n";
}

std::string html_of_stage(const StageResult& stage, const SourceText& source) {
  std::string text = "<h2 id=\"stage-" + std::to_string(stage.stage) + "\">Stage " +
                     std::to_string(stage.stage) + ": " + escaped(stage.title) + " &ndash; " +
                     verdict(stage) + "</h2>\n";
  text += tests(stage) + speeds(stage) + findings(stage);
  for (const course::KernelProfile& kernel : stage.profiles)
    text += html_of_kernel(stage, kernel, source);
  return text;
}

}  // namespace

std::string render_html(const course::Result& result, const SourceText& source) {
  const bool is_virtual = !result.device.virtual_name.empty();
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(result.title) + "</title>\n" + kLooks + "</head>\n<body>\n<h1>" +
      escaped(result.title) + "</h1>\n<p class=\"faint\">" + escaped(result.submission) + " on " +
      escaped(is_virtual ? result.device.virtual_name + " (times are predicted)"
                         : result.device.name) +
      ", " + escaped(result.compiler) + ", seed " + std::to_string(result.seed) + ", " +
      escaped(result.created_at) + "; Membound " + escaped(result.membound_version) + "</p>\n";
  text += overview(result);
  if (!result.compiler_output.empty())
    text += "<details><summary>What the compiler said</summary><pre>" +
            escaped(result.compiler_output) + "</pre></details>\n";
  for (const StageResult& stage : result.stages) text += html_of_stage(stage, source);
  return text + "</body>\n</html>\n";
}

}  // namespace membound::report
