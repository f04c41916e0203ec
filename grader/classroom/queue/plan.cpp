// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/plan.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <tuple>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/course/json_io.hpp"

namespace membound::queue {
namespace {

using course::read_field;
using nlohmann::json;

/// 63 bits, so that every JSON reader with 64-bit integers takes it.
std::uint64_t seed_from(const std::string& batch_seed, const std::string& identity) {
  const std::string digits = base::hmac_sha256(batch_seed, identity).substr(0, 16);
  return std::stoull(digits, nullptr, 16) >> 1;
}

/// 128 bits: nobody who knows other runs' data can guess this one's.
std::string seed_key_from(const std::string& batch_seed, const std::string& identity) {
  return base::hmac_sha256(batch_seed, "key " + identity).substr(0, 32);
}

Row row_for(const intake::Submission& submission) {
  Row row;
  row.student = submission.student;
  row.name = submission.name;
  row.email = submission.email;
  row.lab = submission.lab;
  row.platform = submission.platform;
  row.platform_id = submission.platform_id;
  row.source = submission.source;
  row.origin = submission.origin;
  row.submission_sha256 = submission.sha256;
  row.refused = submission.refused.value_or("");
  row.note = submission.note;
  row.submitted_at = intake::utc_text(submission.time);
  if (submission.time != 0) row.time_from = submission.time_is_record ? "record" : "file";
  row.marked_late = submission.marked_late;
  row.attempt = submission.attempt;
  return row;
}

/// Rows for everybody without one in one of the labs: who left a folder empty or handed in work for
/// other labs alone, and everybody of the roster.
void add_missing(const intake::Intake& intake, const intake::Roster& roster, Plan& plan) {
  std::set<std::pair<std::string, std::string>> there;
  for (const Row& row : plan.rows) there.emplace(row.student, row.lab);
  const auto add = [&](const intake::Absent& one) {
    for (const auto& [lab, planned] : plan.labs) {
      if ((one.lab && *one.lab != lab) || !there.emplace(one.student, lab).second) continue;
      Row row;
      row.student = one.student;
      row.name = one.name;
      row.email = one.email;
      row.source = one.source;
      row.origin = one.origin;
      row.lab = lab;
      row.attempt = 0;
      row.note = one.note;
      plan.rows.push_back(row);
    }
  };
  for (const intake::Absent& one : intake.absent) add(one);
  for (const intake::RosterRow& student : roster.rows())
    add({student.id, student.name, student.email, "", "", {}, "nothing submitted"});
}

std::string late_note(const Row& row, const intake::LatePolicy& policy,
                      const intake::Lateness& late) {
  if (!policy.due) return "";
  std::string note;
  const auto add = [&note](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  if (policy.extended) add("due date extended to " + intake::utc_text(*policy.due));
  if (row.time_from == "file") add("the time is the file's own date, which its owner can set");
  if (row.time_from.empty()) add("when it was handed in is not known");
  if (row.marked_late && late.by_seconds == 0 && row.time_from != "record")
    add("marked late by the learning system");
  return note;
}

base::Result<PlannedLab> planned(const course::Lab& lab, const Settings& settings,
                                 const std::string& limits, const std::string& batch_seed) {
  const auto digests = digests_of(settings, lab, limits);
  if (!digests) return digests.error();
  return PlannedLab{lab.max_points(), *digests, settings.device.name,
                    seed_from(batch_seed, "sample " + lab.id)};
}

}  // namespace

const Job* Plan::job(const std::string& key) const {
  const auto place = std::lower_bound(jobs.begin(), jobs.end(), key,
                                      [](const Job& job, const auto& k) { return job.key < k; });
  return place != jobs.end() && place->key == key ? &*place : nullptr;
}

Job job_for(const std::string& lab, const std::string& submission,
            const course::GradeDigests& digests, const Settings& settings,
            const std::string& batch_seed) {
  Job job;
  job.lab = lab;
  job.submission_sha256 = submission;
  job.seed = seed_from(batch_seed, submission + " " + lab);
  if (!settings.trust_submissions) job.seed_key = seed_key_from(batch_seed, submission + " " + lab);
  std::string everything = "membound-job/2";
  for (const std::string& part :
       {submission, lab, digests.harness, digests.toolchain, digests.lab, digests.limits,
        settings.device.name, std::to_string(job.seed), job.seed_key})
    everything += "\n" + part;
  job.key = base::sha256(everything);
  return job;
}

base::Result<Plan> make_plan(const intake::Intake& intake, const intake::IntakeRequest& request,
                             const Settings& settings, const std::string& batch_seed,
                             const intake::CourseRules& rules) {
  const auto limits = limits_in_force(settings);
  if (!limits) return limits.error();
  Plan plan;
  plan.membound_version = settings.version;
  plan.device = settings.device.name;
  plan.compiler = settings.compiler.name();
  plan.limits = *limits;
  plan.batch_seed = batch_seed;
  plan.best_attempt = request.attempts == intake::AttemptPolicy::kBest;
  plan.rules = rules;

  std::set<std::string> labs;
  if (request.lab) labs.insert(*request.lab);
  for (const intake::Submission& submission : intake.submissions) labs.insert(submission.lab);
  for (const intake::Absent& one : intake.absent)
    if (one.lab) labs.insert(*one.lab);
  for (const course::Lab& lab : request.labs) {
    if (!labs.contains(lab.id)) continue;
    auto one = planned(lab, settings, *limits, batch_seed);
    if (!one) return one.error();
    plan.labs[lab.id] = std::move(*one);
  }

  std::map<std::string, Job> jobs;
  for (const intake::Submission& submission : intake.submissions) {
    Row row = row_for(submission);
    if (!submission.refused) {
      Job job = job_for(submission.lab, submission.sha256, plan.labs.at(submission.lab).digests,
                        settings, batch_seed);
      row.job = job.key;
      jobs.emplace(job.key, std::move(job));
    }
    plan.rows.push_back(std::move(row));
  }
  for (auto& [key, job] : jobs) plan.jobs.push_back(std::move(job));
  add_missing(intake, request.roster, plan);
  std::stable_sort(plan.rows.begin(), plan.rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.student, a.lab, a.attempt) < std::tie(b.student, b.lab, b.attempt);
  });
  apply_rules(plan);
  return plan;
}

void apply_rules(Plan& plan) {
  for (Row& row : plan.rows) {
    if (row.attempt == 0 || !plan.rules.mentions(row.lab)) continue;
    const auto policy = plan.rules.policy(row.lab, {row.student, row.name, row.email});
    const auto late = intake::lateness(policy, intake::parse_time(row.submitted_at).value_or(0));
    row.late_by_seconds = late.by_seconds;
    row.late_factor = late.factor;
    row.late_note = late_note(row, policy, late);
  }
}

void to_json(json& out, const Plan& plan) {
  json labs = json::object(), jobs = json::array(), rows = json::array();
  for (const auto& [id, lab] : plan.labs)
    labs[id] = {{"max_score", lab.max_score},
                {"digests", lab.digests},
                {"device", lab.device},
                {"sample_seed", lab.sample_seed}};
  for (const Job& job : plan.jobs)
    jobs.push_back({{"key", job.key},
                    {"lab", job.lab},
                    {"submission_sha256", job.submission_sha256},
                    {"seed", job.seed},
                    {"seed_key", job.seed_key}});
  for (const Row& row : plan.rows)
    rows.push_back({{"student", row.student},
                    {"name", row.name},
                    {"email", row.email},
                    {"lab", row.lab},
                    {"platform", row.platform},
                    {"platform_id", row.platform_id},
                    {"source", row.source},
                    {"origin", row.origin},
                    {"submission_sha256", row.submission_sha256},
                    {"job", row.job},
                    {"refused", row.refused},
                    {"note", row.note},
                    {"submitted_at", row.submitted_at},
                    {"time_from", row.time_from},
                    {"marked_late", row.marked_late},
                    {"late_by_seconds", row.late_by_seconds},
                    {"late_factor", row.late_factor},
                    {"late_note", row.late_note},
                    {"attempt", row.attempt}});
  out = {{"schema", Plan::kSchema},
         {"membound_version", plan.membound_version},
         {"device", plan.device},
         {"compiler", plan.compiler},
         {"limits_in_force", plan.limits},
         {"batch_seed", plan.batch_seed},
         {"best_attempt", plan.best_attempt},
         {"rules", plan.rules},
         {"labs", labs},
         {"jobs", jobs},
         {"rows", rows}};
}

void from_json(const json& in, Plan& plan) {
  plan = {};
  read_field(in, "membound_version", plan.membound_version);
  in.at("device").get_to(plan.device);
  read_field(in, "compiler", plan.compiler);
  read_field(in, "limits_in_force", plan.limits);
  in.at("batch_seed").get_to(plan.batch_seed);
  read_field(in, "best_attempt", plan.best_attempt);
  read_field(in, "rules", plan.rules);
  for (const auto& [id, lab] : in.at("labs").items())
    plan.labs[id] = {lab.at("max_score").get<double>(),
                     lab.at("digests").get<course::GradeDigests>(),
                     lab.value("device", plan.device), lab.value("sample_seed", std::uint64_t{0})};
  for (const json& one : in.at("jobs")) {
    Job job;
    one.at("key").get_to(job.key);
    one.at("lab").get_to(job.lab);
    one.at("submission_sha256").get_to(job.submission_sha256);
    one.at("seed").get_to(job.seed);
    read_field(one, "seed_key", job.seed_key);
    plan.jobs.push_back(std::move(job));
  }
  for (const json& one : in.at("rows")) {
    Row row;
    one.at("student").get_to(row.student);
    one.at("lab").get_to(row.lab);
    read_field(one, "name", row.name);
    read_field(one, "email", row.email);
    read_field(one, "platform", row.platform);
    read_field(one, "platform_id", row.platform_id);
    read_field(one, "source", row.source);
    read_field(one, "origin", row.origin);
    read_field(one, "submission_sha256", row.submission_sha256);
    read_field(one, "job", row.job);
    read_field(one, "refused", row.refused);
    read_field(one, "note", row.note);
    read_field(one, "submitted_at", row.submitted_at);
    read_field(one, "time_from", row.time_from);
    read_field(one, "marked_late", row.marked_late);
    read_field(one, "late_note", row.late_note);
    read_field(one, "late_by_seconds", row.late_by_seconds);
    read_field(one, "late_factor", row.late_factor);
    read_field(one, "attempt", row.attempt);
    plan.rows.push_back(std::move(row));
  }
}

std::string to_text(const Plan& plan) { return course::dump_safely(json(plan), 1) + "\n"; }

base::Result<std::optional<Plan>> read_plan(const std::filesystem::path& out) {
  const auto file = out / "batch.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::optional<Plan>();
  const auto text = base::read_file(file);
  if (!text) return text.error();
  try {
    return std::optional<Plan>(json::parse(*text).get<Plan>());
  } catch (const json::exception& problem) {
    return base::Error{base::ErrorKind::kInput, file.string(),
                       std::string("is no plan of a batch: ") + problem.what(),
                       "a file that membound grade wrote", "use another --out"};
  }
}

}  // namespace membound::queue
