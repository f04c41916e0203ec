// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/experiment_text.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "grader/base/filled_template.hpp"
#include "grader/base/result.hpp"
#include "grader/report/markdown_html.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::ExperimentRun;
using course::ExperimentTime;

/// A rate and a printed figure as shares of the largest of each. One figure alone is no curve.
struct Shares {
  double ours = 0;
  std::optional<double> printed;
};

std::ptrdiff_t printed_figures(const ExperimentRun& run) {
  return std::count_if(run.times.begin(), run.times.end(),
                       [](const ExperimentTime& time) { return time.point.printed.has_value(); });
}

bool has_two_curves(const ExperimentRun& run) { return printed_figures(run) > 1; }

std::vector<Shares> shares_of(const ExperimentRun& run) {
  double most = 0, most_printed = 0;
  for (const ExperimentTime& time : run.times) {
    most = std::max(most, time.rate);
    most_printed = std::max(most_printed, time.point.printed.value_or(0));
  }
  std::vector<Shares> all;
  for (const ExperimentTime& time : run.times) {
    Shares& each = all.emplace_back();
    each.ours = most > 0 ? time.rate / most : 0;
    if (time.point.printed && has_two_curves(run))
      each.printed = *time.point.printed / most_printed;
  }
  return all;
}

std::string curve_cell(const Shares& shares, const Style& style) {
  constexpr int kCells = 24;
  const auto cells = [](double share) { return static_cast<int>(std::lround(share * kCells)); };
  const int mark = shares.printed ? std::max(1, cells(*shares.printed)) : 0;
  std::string text;
  for (int cell = 1; cell <= std::max(cells(shares.ours), mark); ++cell) {
    if (cell == mark)
      text += style.unicode ? "◆" : "o";
    else if (cell <= cells(shares.ours))
      text += style.unicode ? "█" : "#";
    else
      text += ' ';
  }
  return text;
}

std::string rate_text(const ExperimentTime& time) { return number(time.rate); }

std::string printed_text(const ExperimentTime& time, std::string_view none) {
  return time.point.printed ? number(*time.point.printed) : std::string(none);
}

/// "vgpu:h200, n = 1,048,576, predicted"
std::string where(const ExperimentRun& run) {
  return run.device + ", n = " + amount(static_cast<double>(run.size)) +
         (run.predicted ? ", predicted" : ", medians of several runs");
}

}  // namespace

std::string render_experiment(const ExperimentRun& run, const Style& style) {
  const course::Experiment& experiment = run.experiment;
  std::string text = style.paint(wrapped(experiment.name + ": " + experiment.title, style.width, 0),
                                 Tone::kStrong);
  text += wrapped(where(run), style.width, 0) + "\n";
  const bool printed = printed_figures(run) > 0;
  std::vector<std::vector<Cell>> rows = {
      {{experiment.axis}, {experiment.unit, true}, {"time", true}}};
  if (printed) rows[0].push_back({"printed, " + experiment.document_unit, true});
  rows[0].push_back({"share of the largest"});
  const std::vector<Shares> shares = shares_of(run);
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    const ExperimentTime& time = run.times[i];
    std::vector<Cell>& row = rows.emplace_back();
    row.push_back({time.point.label});
    row.push_back({rate_text(time), true});
    row.push_back({duration(time.time_ns), true});
    if (printed) row.push_back({printed_text(time, style.dash()), true});
    row.push_back({curve_cell(shares[i], style)});
  }
  text += text_table(rows, style) + "\n";
  if (has_two_curves(run))
    text += wrapped(std::string(style.unicode ? "█ here, ◆ printed" : "# here, o printed") +
                        ", each as a share of its own largest",
                    style.width, 0);
  if (printed) text += wrapped("printed: " + experiment.document, style.width, 0);
  return text +
         wrapped("handout " + experiment.lab + ", \"" + experiment.section + "\"", style.width, 0);
}

std::string render_experiments(const std::vector<course::Experiment>& all, const Style& style) {
  std::vector<std::vector<Cell>> rows = {{{"experiment"}, {"what is timed"}, {"handout"}}};
  for (const course::Experiment& each : all)
    rows.push_back({{each.name}, {each.title}, {each.lab}});
  return text_table(rows, style);
}

std::string experiment_picture(const ExperimentRun& run) {
  constexpr double kWidth = 720, kLeft = 64, kRight = 690, kTop = 56, kBottom = 296;
  Svg svg(kWidth, run.experiment.name + ": " + run.experiment.title,
          run.experiment.unit + " as a share of the largest, by " + run.experiment.axis,
          ".mb-ours{stroke:#2f6fb0;stroke-width:2;fill:none}"
          ".mb-printed{stroke:#a85a0c;stroke-width:2;stroke-dasharray:5 4;fill:none}"
          "@media screen and "
          "(prefers-color-scheme:dark){.mb-ours{stroke:#6aa9e6}.mb-printed{stroke:#e39a4a}}");
  svg.text(12, 22, 14, "strong", "start", run.experiment.title);
  svg.text(12, 42, kSmallText, "faint", "start",
           has_two_curves(run) ? "solid: " + where(run) + "; dashed: printed in the document"
                               : where(run));
  const auto y_of = [&](double share) { return kBottom - (kBottom - kTop) * share; };
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg.line(kLeft, y_of(share), kRight, y_of(share), "grid");
    svg.text(kLeft - 6, y_of(share) + 4, kSmallText, "faint", "end", amount(100 * share) + " %");
  }
  const std::vector<Shares> shares = shares_of(run);
  const double step =
      (kRight - kLeft) / static_cast<double>(std::max<std::size_t>(1, shares.size()));
  std::string ours, printed;
  const auto add = [](std::string& path, double x, double y) {
    path += (path.empty() ? "M" : "L") + coordinate(x) + " " + coordinate(y);
  };
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double x = kLeft + step * (static_cast<double>(i) + 0.5);
    add(ours, x, y_of(shares[i].ours));
    if (shares[i].printed) add(printed, x, y_of(*shares[i].printed));
    svg.text(x, kBottom + 18, kSmallText, "ink", "middle", run.times[i].point.label);
  }
  if (!printed.empty()) svg.path(printed, "printed");
  svg.path(ours, "ours");
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double x = kLeft + step * (static_cast<double>(i) + 0.5);
    svg.begin("point");
    if (shares[i].printed) svg.circle(x, y_of(*shares[i].printed), 4, "frame");
    svg.circle(x, y_of(shares[i].ours), 4, "cell");
    svg.end();
  }
  svg.text((kLeft + kRight) / 2, kBottom + 38, kSmallText, "faint", "middle", run.experiment.axis);
  return svg.finish(kBottom + 50, false);
}

std::string experiment_page(const ExperimentRun& run) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ExperimentTime& time : run.times)
    rows.push_back({{"label", time.point.label},
                    {"rate", rate_text(time)},
                    {"time", duration(time.time_ns)},
                    {"printed", printed_text(time, "–")}});
  const course::Experiment& experiment = run.experiment;
  const nlohmann::json values = {{"name", experiment.name},
                                 {"title", experiment.title},
                                 {"where", where(run)},
                                 {"axis", experiment.axis},
                                 {"unit", experiment.unit},
                                 {"document_unit", experiment.document_unit},
                                 {"document", experiment.document},
                                 {"handout", experiment.lab + ", “" + experiment.section + "”"},
                                 {"style", template_text("style")},
                                 {"narrow", template_text("narrow")},
                                 {"picture", experiment_picture(run)},
                                 {"rows", std::move(rows)}};
  auto page =
      base::filled_template(std::string(template_text("experiment")), values, base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

nlohmann::json experiment_json(const ExperimentRun& run) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ExperimentTime& time : run.times)
    rows.push_back(
        {{"x", time.point.x},
         {"label", time.point.label},
         {"time_ns", time.time_ns},
         {"rate", time.rate},
         {"printed", time.point.printed ? nlohmann::json(*time.point.printed) : nullptr}});
  const course::Experiment& experiment = run.experiment;
  return {{"name", experiment.name},
          {"title", experiment.title},
          {"lab", experiment.lab},
          {"device", run.device},
          {"predicted", run.predicted},
          {"size", run.size},
          {"axis", experiment.axis},
          {"unit", experiment.unit},
          {"document_unit", experiment.document_unit},
          {"document", experiment.document},
          {"rows", std::move(rows)}};
}

}  // namespace membound::report
