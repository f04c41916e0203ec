// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/progress_page.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "grader/base/filled_template.hpp"
#include "grader/base/result.hpp"
#include "grader/report/markdown_html.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using nlohmann::json;

const char* class_of(Tone tone) {
  if (tone == Tone::kGood) return "good";
  return tone == Tone::kBad ? "bad" : "faint";
}

json row_of(const StageProgress& stage, const Style& style) {
  return {{"number", std::to_string(stage.number)},
          {"title", stage.title},
          {"words", stage.words + (stage.is_next ? " – next" : "")},
          {"class", class_of(stage.tone)},
          {"sign", style.sign(stage.tone)},
          {"points", points(stage.points) + " of " + points(stage.max_points)}};
}

}  // namespace

std::string progress_page(const std::vector<LabProgress>& labs, const std::string& next) {
  const Style style{.colour = false, .unicode = true};
  json rows = json::array();
  double all = 0, all_most = 0;
  for (const LabProgress& lab : labs) {
    json stages = json::array();
    double reached = 0, most = 0;
    bool is_next = false;
    for (const StageProgress& stage : lab.stages) {
      stages.push_back(row_of(stage, style));
      reached += stage.points;
      most += stage.max_points;
      is_next = is_next || stage.is_next;
    }
    all += reached;
    all_most += most;
    rows.push_back({{"id", lab.id},
                    {"number", lab.id.substr(0, 2)},
                    {"title", lab.title},
                    {"points", points(reached) + " of " + points(most)},
                    {"percent", most > 0 ? std::to_string(static_cast<int>(
                                               100 * std::clamp(reached / most, 0.0, 1.0)))
                                         : "0"},
                    {"open", is_next ? " open" : ""},
                    {"stages", std::move(stages)}});
  }
  auto page = base::filled_template(std::string(template_text("progress")),
                                    {{"style", template_text("style")},
                                     {"labs", std::move(rows)},
                                     {"points", points(all) + " of " + points(all_most)},
                                     {"next", next}},
                                    base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

}  // namespace membound::report
