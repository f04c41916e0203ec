// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/spot_check.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/classroom/queue/one_submission.hpp"
#include "grader/classroom/queue/outputs.hpp"
#include "grader/classroom/queue/replay.hpp"

namespace membound::queue {
namespace {

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? short_decimal(*ratio, 3) : "";
}

}  // namespace

bool Retimed::holds() const {
  return std::all_of(stages.begin(), stages.end(), [](const auto& stage) { return stage.holds(); });
}

std::vector<const course::Grade*> passes_to_retime(const std::vector<course::Grade>& grades,
                                                   std::size_t count, const std::string& draw) {
  std::vector<std::tuple<bool, std::string, const course::Grade*>> order;
  std::set<std::pair<std::string, std::string>> texts;
  for (const course::Grade& grade : grades) {
    if (grade.verdict != course::GradeVerdict::kPass || !course::is_virtual_device(grade.device))
      continue;
    if (!texts.emplace(grade.lab, grade.submission_sha256).second) continue;
    const bool doubtful = grade.note.find(kLook) != std::string::npos;
    order.emplace_back(!doubtful, base::sha256(draw + grade.lab + grade.submission_sha256), &grade);
  }
  std::sort(order.begin(), order.end());
  std::vector<const course::Grade*> chosen;
  for (const auto& [is_usual, digest, grade] : order)
    if (chosen.size() < count) chosen.push_back(grade);
  return chosen;
}

Retimed compare_times(const course::Grade& predicted, const course::Grade& measured) {
  Retimed again{predicted.student, predicted.lab, measured.device, {}, {}};
  if (measured.verdict == course::GradeVerdict::kInfraError) again.problem = measured.note;
  for (const course::StageResult& there : measured.result.stages) {
    const auto& stages = predicted.result.stages;
    const auto here = std::find_if(stages.begin(), stages.end(),
                                   [&](const auto& stage) { return stage.stage == there.stage; });
    if (here == stages.end() || (!here->ratio && there.passed())) continue;
    again.stages.push_back(
        {there.stage, here->pass_ratio, here->ratio, there.ratio, there.verdict});
  }
  return again;
}

Retimed retime(const std::filesystem::path& out, const course::Grade& predicted,
               const Settings& settings, const std::atomic<bool>* stop,
               const std::function<void(const std::string&)>& on_step) {
  const auto again = replay(out, predicted, settings, stop, on_step);
  if (again) return compare_times(predicted, again->repeated);
  const base::Error& error = again.error();
  return {
      predicted.student, predicted.lab, settings.device.name, {}, error.where + ": " + error.found};
}

std::string spot_check_csv(const std::vector<Retimed>& all) {
  base::CsvTable table;
  table.header = {"student",        "lab",     "stage",     "bar",        "predicted_ratio",
                  "measured_ratio", "verdict", "agreement", "measured_on"};
  for (const Retimed& one : all) {
    if (!one.problem.empty())
      table.rows.push_back({one.student, one.lab, "", "", "", "", "", one.problem, one.device});
    for (const RetimedStage& stage : one.stages)
      table.rows.push_back({one.student, one.lab, std::to_string(stage.stage),
                            short_decimal(stage.bar, 3), ratio_text(stage.predicted),
                            ratio_text(stage.measured),
                            std::string(course::to_string(stage.verdict)),
                            stage.holds() ? "agrees" : "differs", one.device});
  }
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

}  // namespace membound::queue
