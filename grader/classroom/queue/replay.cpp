// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/replay.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/classroom/queue/one_submission.hpp"
#include "grader/judge/device_lock.hpp"

namespace membound::queue {
namespace {

std::string shown(const std::optional<double>& value) {
  return value ? std::to_string(*value) : "none";
}

/// Tests by name and outcome; how long they took is nobody's doing.
std::string outcome_of(const course::TestOutcome& test) {
  return test.name + (test.skipped ? " skipped" : test.passed ? " passed" : " failed");
}

void compare_stage(const course::StageResult& a, const course::StageResult& b,
                   std::vector<std::string>& found) {
  const std::string where = "stage " + std::to_string(a.stage) + ": ";
  if (a.verdict != b.verdict) {
    found.push_back(where + std::string(course::to_string(a.verdict)) + " was recorded, now " +
                    std::string(course::to_string(b.verdict)));
  }
  if (a.points != b.points)
    found.push_back(where + std::to_string(a.points) + " points were recorded, now " +
                    std::to_string(b.points));
  if (a.ratio != b.ratio)
    found.push_back(where + "ratio " + shown(a.ratio) + " was recorded, now " + shown(b.ratio));
  for (std::size_t i = 0; i < std::max(a.tests.size(), b.tests.size()); ++i) {
    const std::string before = i < a.tests.size() ? outcome_of(a.tests[i]) : "no test";
    const std::string now = i < b.tests.size() ? outcome_of(b.tests[i]) : "no test";
    if (before != now) found.push_back(where + before + " was recorded, now " + now);
  }
}

/// Runs whole again what took points when it was audited; one that is right now takes none.
void repeat_audits(const OneRequest& verdict, const course::Audit& recorded, OneOutcome& outcome) {
  course::Audit audit{recorded.earned, {}};
  std::vector<course::StageResult> wrong;
  for (const course::AuditedStage& stage : recorded.stages) {
    if (!stage.takes_points()) continue;
    Job job = *verdict.job;
    job.audited_stage = stage.stage;
    OneRequest request = verdict;
    request.job = &job;
    const OneOutcome again = grade_one(request);
    outcome.stopped = again.stopped;
    if (again.stopped) return;
    for (const course::AuditedStage& one : again.grade.audit->stages) {
      audit.stages.push_back(one);
      if (one.takes_points())
        wrong.insert(wrong.end(), again.grade.result.stages.begin(),
                     again.grade.result.stages.end());
    }
  }
  outcome.grade.take_audit(std::move(audit), wrong);
}

}  // namespace

std::vector<std::string> differences(const course::Result& recorded,
                                     const course::Result& repeated) {
  std::vector<std::string> found;
  const std::size_t stages = std::min(recorded.stages.size(), repeated.stages.size());
  for (std::size_t i = 0; i < stages; ++i)
    compare_stage(recorded.stages[i], repeated.stages[i], found);
  if (recorded.stages.size() != repeated.stages.size())
    found.push_back(std::to_string(recorded.stages.size()) + " stages were recorded, now " +
                    std::to_string(repeated.stages.size()));
  return found;
}

base::Result<std::vector<course::Grade>> find_grades(const std::filesystem::path& out,
                                                     const std::filesystem::path& key_file,
                                                     const std::string& student,
                                                     const std::string& lab) {
  const auto all = read_class(out, key_file);
  if (!all) return all.error();
  std::vector<course::Grade> found;
  for (const course::Grade& grade : all->grades) {
    Row row;
    row.student = grade.student;
    row.name = grade.student_name;
    row.email = grade.student_email;
    if (is_meant(row, student) && (lab.empty() || grade.lab == lab)) found.push_back(grade);
  }
  if (!found.empty()) return found;
  return base::Error{base::ErrorKind::kUsage, student,
                     "has no grade in " + out.string() + (lab.empty() ? "" : " for " + lab),
                     "a student's id, name or email as in grades.csv", ""};
}

base::Result<Replay> replay(const std::filesystem::path& out, const course::Grade& recorded,
                            Settings settings, const std::atomic<bool>* stop,
                            const std::function<void(const std::string&)>& on_step) {
  const course::Lab* lab = nullptr;
  for (const course::Lab& one : settings.course->labs)
    if (one.id == recorded.lab) lab = &one;
  if (lab == nullptr) {
    return base::Error{base::ErrorKind::kUsage, recorded.lab, "is no lab of this course", "",
                       "use the course that the class was graded with"};
  }
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(out, ignored);
  settings.place.state = whole / "work";
  const auto digests = digests_of(settings, *lab, recorded.limits_in_force);
  if (!digests) return digests.error();

  Replay again;
  again.recorded = recorded;
  const auto changed = [&](const std::string& then, const std::string& now, const char* what) {
    if (then != now) again.changed.push_back(what);
  };
  changed(recorded.digests.lab, digests->lab, "the lab's lab.json or kernel.cuh");
  changed(recorded.digests.harness, digests->harness,
          "the lab's test program, reference answer or runtime");
  changed(recorded.digests.toolchain, digests->toolchain, "the compiler or the student headers");
  changed(recorded.digests.limits, digests->limits, "the limits of the run");
  if (recorded.device != settings.device.name)
    again.changed.push_back("the device: graded on " + recorded.device + ", repeated on " +
                            settings.device.name);

  const intake::Store store(whole);
  const Job job{"", recorded.lab, recorded.submission_sha256, recorded.seed, recorded.seed_key};
  const PlannedLab planned{lab->max_points(), *digests, settings.device.name, recorded.sample_seed};
  OneRequest request;
  request.settings = &settings;
  request.lab = lab;
  request.job = &job;
  request.planned = &planned;
  request.limits = recorded.limits_in_force;
  request.source = store.file(recorded.submission_sha256);
  request.stop = stop;
  request.is_replay = true;
  const std::vector<judge::Device> devices =
      settings.devices.empty() ? std::vector{settings.device} : settings.devices;
  judge::DevicePool pool(devices);
  request.take_device = [&]() -> const judge::Device& { return pool.take(); };
  request.free_device = [&](const judge::Device& device) { pool.give_back(device); };
  request.on_step = on_step;
  OneOutcome outcome = grade_one(request);
  if (!outcome.stopped && recorded.audit) repeat_audits(request, *recorded.audit, outcome);
  if (!settings.trust_submissions) judge::wipe_devices(settings.place, devices);
  if (outcome.stopped) {
    return base::Error{base::ErrorKind::kUsage, recorded.student, "stopped before it was repeated",
                       "", "give the same command again"};
  }
  again.repeated = std::move(outcome.grade);
  // Empty in verdicts from before the times were shared; what they say is the same.
  if (!recorded.reference_sha256.empty())
    changed(recorded.reference_sha256, again.repeated.reference_sha256, "the reference's times");
  again.differences = differences(recorded.result, again.repeated.result);
  return again;
}

namespace {

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? course::short_decimal(*ratio, 3) : "";
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
                            course::short_decimal(stage.bar, 3), ratio_text(stage.predicted),
                            ratio_text(stage.measured),
                            std::string(course::to_string(stage.verdict)),
                            stage.holds() ? "agrees" : "differs", one.device});
  }
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

}  // namespace membound::queue
