// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/run_case.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/course/grade.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/device_lock.hpp"
#include "grader/judge/judge.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::selftest {
namespace {

namespace fs = std::filesystem;

constexpr double kLaunchSeconds = 2;
constexpr double kStageSeconds = 60;
constexpr double kProgramSeconds = 4;  // an honest one is done in one
constexpr std::size_t kDetailLength = 160;
/// What an attack prints that has reached its aim.
constexpr const char* kGotThrough = "GOT THROUGH";
constexpr const char* kNoJail = "no jail can be made on this machine";

CaseOutcome not_run(const std::string& why) {
  CaseOutcome outcome;
  outcome.got = "NOT RUN";
  outcome.detail = why;
  outcome.not_run = true;
  return outcome;
}

/// Small enough that the bombs among the cases end soon, large enough for every honest one.
judge::GradedCompile compile_rules(const course::StageKind& kind) {
  judge::GradedCompile rules;
  if (kind.has_host_code) return rules;  // a whole program with its headers is no bomb
  rules.limits.wall_seconds = 120;       // CPU time is what ends the bombs, also on a busy machine
  rules.limits.cpu_seconds = 5;
  rules.limits.memory_bytes = 512 * jail::kMegabyte;
  rules.limits.file_bytes = 16 * jail::kMegabyte;
  rules.limits.scratch_bytes = 64 * jail::kMegabyte;
  return rules;
}

/// The harness times this many elements only; what is timed must still be right.
std::string small_size(const course::Lab& lab) {
  return lab.size_names.size() == 1 ? "65536" : "256x256";
}

std::string first_words(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= kDetailLength ? text : text.substr(0, kDetailLength) + " …";
}

/// What a case leaves lies here.
fs::path folder_of(const Workbench& bench, const Case& one) {
  return bench.scratch / "cases" / one.id;
}

base::Result<judge::CheckRequest> check_request(const Workbench& bench, const Case& one,
                                                const course::Lab& lab) {
  judge::CheckRequest check;
  check.place = {bench.root, bench.build, bench.scratch};
  check.lab = &lab;
  check.stages = {one.stage};
  auto submission = write_submission(one, folder_of(bench, one));
  if (!submission) return submission.error();
  check.submission = *std::move(submission);
  check.compiler = bench.compiler;
  check.device = bench.device;
  const course::StageKind& kind = *lab.stage(one.stage)->kind;
  if (kind.has_reference) check.more_arguments = {"--size", small_size(lab)};
  check.reruns.at_right_results = true;
  check.seed = 20261121;
  check.seconds_per_stage = kStageSeconds;
  check.stop = bench.stop;
  check.graded = compile_rules(kind);
  auto sandbox = judge::sandbox_options(check);
  if (!sandbox) return sandbox.error();
  check.sandbox = *std::move(sandbox);
  return check;
}

/// The objects with the limits of programs: of the lab, or of some of its stages.
std::vector<nlohmann::json*> programs_in(nlohmann::json& lab) {
  std::vector<nlohmann::json*> all;
  const auto add = [&](nlohmann::json& holder) {
    const auto member = holder.find("host_code");
    if (member != holder.end() && member->is_object()) all.push_back(&*member);
  };
  add(lab);
  for (nlohmann::json& stage : lab["stages"]) add(stage);
  return all;
}

/// The lab in a folder of its own, with this many seconds for one launch and few for a program.
base::Result<course::Lab> copy_of(const course::Lab& lab, const fs::path& folder, double seconds) {
  std::error_code error;
  fs::create_directories(folder, error);
  fs::copy_file(lab.folder / "kernel.cuh", folder / "kernel.cuh",
                fs::copy_options::overwrite_existing, error);
  const auto text = base::read_file(lab.folder / "lab.json");
  if (!text) return text.error();
  auto json = nlohmann::json::parse(*text);
  for (auto& stage : json["stages"]) stage["timeout_seconds"] = seconds;
  for (nlohmann::json* object : programs_in(json)) (*object)["seconds"] = kProgramSeconds;
  const auto written = base::write_file(folder / "lab.json", json.dump(1));
  if (!written) return written.error();
  return course::read_lab(folder / "lab.json");
}

base::Result<CaseOutcome> grade(const Workbench& bench, const Case& one) {
  const auto lab = bench.labs.find(one.lab);
  if (lab == bench.labs.end())
    return base::Error{base::ErrorKind::kInput, one.id, "no lab " + one.lab, "a lab of the course",
                       ""};
  const course::Stage* const stage = lab->second.stage(one.stage);
  if (stage == nullptr)
    return base::Error{base::ErrorKind::kInput, one.id,
                       one.lab + " has no stage " + std::to_string(one.stage), "", ""};
  course::Lab used = lab->second;
  if (one.launch_seconds > 0) {
    auto copy = copy_of(used, folder_of(bench, one) / used.id, one.launch_seconds);
    if (!copy) return copy.error();
    used = *std::move(copy);
  }
  const auto asked = check_request(bench, one, used);
  if (!asked) return asked.error();
  const judge::CheckRequest& check = *asked;
  const auto code = judge::compile_submission(check);
  if (!code) return code.error();
  const auto result = [&] {
    judge::DeviceLock device(check.device.lock_file);
    const std::lock_guard alone(device);
    return judge::run_and_judge(check, *code);
  }();
  if (!result) return result.error();
  CaseOutcome outcome;
  const judge::CompiledCode& made = code->parts.front().submission;  // of the one stage
  const bool compiled = made.compiled;
  const auto verdict = compiled ? course::grade_verdict_of(*result) : judge::grade_verdict_of(made);
  outcome.got = course::to_string(verdict);
  // What a withheld score would be is for a person to say.
  if (course::row_of(verdict).has_score)
    for (const course::StageResult& one_stage : result->stages) outcome.points += one_stage.points;
  std::string all = made.output + made.rejected;
  std::string findings;
  for (const course::StageResult& one_stage : result->stages)
    for (const course::Finding& finding : one_stage.findings) findings += finding.text + " ";
  // A program's last words are part of what is found.
  if (findings.find(kGotThrough) != std::string::npos) outcome.got = kGotThrough;
  all += findings;
  outcome.detail = first_words(compiled ? findings : all);
  if (!one.secret.empty()) {
    std::string artefact;
    if (const auto bytes = base::read_file(made.file)) artefact = *bytes;
    if (all.find(one.secret) != std::string::npos || artefact.find(one.secret) != std::string::npos)
      outcome.got = "LEAK";
  }
  return outcome;
}

base::Result<CaseOutcome> jailed(const Workbench& bench, const Case& one) {
  const auto script = write_submission(one, folder_of(bench, one));
  if (!script) return script.error();
  jail::JailRequest request;
  request.arguments = {"/bin/sh", "/attack.sh"};
  request.bindings = {{*script, "/attack.sh"}};
  request.limits.wall_seconds = 3;
  request.limits.cpu_seconds = 2;
  request.limits.memory_bytes = 64 * jail::kMegabyte;
  request.limits.output_bytes = 64 * 1024;
  request.limits.file_bytes = 4 * jail::kMegabyte;
  request.limits.scratch_bytes = 8 * jail::kMegabyte;
  request.limits.processes = 20;
  const auto run = jail::run(request);
  if (!run) return run.error();
  CaseOutcome outcome;
  const std::string_view limit = to_string(run->limit);
  // An attack that reaches its aim says so.
  outcome.got = run->output.find(kGotThrough) != std::string::npos ? kGotThrough
                : !limit.empty()                                   ? std::string(limit)
                : run->signal != 0 ? "SIGNAL " + std::to_string(run->signal)
                                   : "EXIT " + std::to_string(run->exit_code);
  outcome.detail = first_words(run->output.substr(0, kDetailLength));
  return outcome;
}

}  // namespace

base::Status prepare(Workbench& bench) {
  // The course's own, and the one that host-code attacks are tried on.
  for (const fs::path& root : {bench.root, bench.root / "grader/tests/harness/program"}) {
    const auto course = course::read_course(root);
    if (!course) return course.error();
    if (!course->broken.empty()) return course->broken.front().why;
    for (const course::Lab& lab : course->labs) {
      auto copy = copy_of(lab, bench.scratch / "labs" / lab.id, kLaunchSeconds);
      if (!copy) return copy.error();
      bench.labs.emplace(lab.id, std::move(*copy));
    }
  }
  return base::Done{};
}

bool needs_jail(const Case& one) {
  return one.kind == CaseKind::kGrade || one.kind == CaseKind::kJail;
}

base::Result<CaseOutcome> run_case(const Workbench& bench, const Case& one) {
  const auto start = std::chrono::steady_clock::now();
  base::Result<CaseOutcome> outcome = not_run("needs a GPU");
  if (needs_jail(one) && !jail::probe().untrusted_ok()) return not_run(kNoJail);
  if (one.kind == CaseKind::kGrade) outcome = grade(bench, one);
  if (one.kind == CaseKind::kJail) outcome = jailed(bench, one);
  if (one.kind == CaseKind::kIntake) outcome = intake_case(bench.scratch, one);
  if (!outcome || outcome->not_run) return outcome;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  outcome->seconds = taken.count();
  const std::vector<std::string> expected =
      expected_of(one, std::string(to_string(bench.compiler.kind)), bench.device.name);
  const auto is_expected = [&](const std::string& verdict) {
    return std::find(expected.begin(), expected.end(), verdict) != expected.end();
  };
  const bool known = is_expected(outcome->got);
  const bool no_points = one.number == 0 || outcome->points == 0 || is_expected("PASS");
  outcome->as_expected = known && no_points;
  return outcome;
}

}  // namespace membound::selftest
