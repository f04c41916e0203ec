// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/course/json_io.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using course::read_field;
using course::write_field;
using intake::AttemptPolicy;
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
  row.section = submission.section;
  row.group = submission.group;
  row.unmatched = submission.unmatched;
  row.may_be = submission.may_be;
  if (!row.unmatched.empty()) row.known_as = submission.words;
  row.submitted_at = intake::utc_text(submission.time);
  if (submission.time != 0) row.time_from = submission.time_is_record ? "record" : "file";
  row.marked_late = submission.marked_late;
  row.attempt = submission.attempt;
  return row;
}

/// Rows for everybody without one in one of the labs: who left a folder empty or handed in work for
/// other labs alone, and everybody of the roster.
void add_missing(const intake::Intake& intake, Plan& plan) {
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
  for (const intake::RosterRow& student : intake.roster.rows())
    add({student.id, student.name, student.email, "", "", {}, "nothing submitted"});
}

std::string late_note(const Row& row, const intake::Lateness& late) {
  const intake::LatePolicy& policy = late.policy;
  if (!policy.due) return "";
  std::string note;
  const auto add = [&note](const std::string& text) { base::add_word(note, text, "; "); };
  if (policy.extended) add("due date extended to " + intake::zone_text(*policy.due, policy.zone));
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
  std::map<std::string, double> stages;
  for (const course::Stage& stage : lab.stages) stages[std::to_string(stage.number)] = stage.points;
  return PlannedLab{lab.max_points(),     *digests,
                    settings.device.name, seed_from(batch_seed, "sample " + lab.id),
                    std::move(stages),    lab.rubric};
}

/// Makes every row as late as the plan's rules say; rows of labs that they do not mention stay as
/// they are.
void apply_rules(Plan& plan) {
  for (Row& row : plan.rows) {
    if (row.attempt == 0 || !plan.rules.mentions(row.lab)) continue;
    const auto late =
        plan.rules.lateness(row.lab, {{row.student, row.name, row.email}, row.section, row.group},
                            intake::parse_time(row.submitted_at).value_or(0));
    row.late_by_seconds = late.by_seconds;
    row.late_factor = late.factor;
    row.late_days = static_cast<int>(late.days);
    row.grace_seconds = late.by_seconds > 0 ? late.policy.grace_seconds : 0;
    row.due = late.policy.due.value_or(0);
    row.closed = late.closed;
    row.late_note = late_note(row, late);
  }
}

/// Leaves out the attempts beyond each lab's limit. Where the latest counts, that is the last
/// within the limit, and no other is graded.
void apply_limits(Plan& plan) {
  for (std::size_t begin = 0, end = 0; begin < plan.rows.size(); begin = end) {
    while (end < plan.rows.size() && plan.rows[end].student == plan.rows[begin].student &&
           plan.rows[end].lab == plan.rows[begin].lab)
      ++end;
    const auto most = plan.rules.limits.of(plan.rows[begin].lab);
    const std::size_t last = most ? std::min(end, begin + static_cast<std::size_t>(*most)) : end;
    for (std::size_t i = begin; i < end; ++i) {
      Row& row = plan.rows[i];
      row.left_out.clear();
      if (i >= last)
        row.left_out = "not graded: attempt " + std::to_string(row.attempt) + ", and " +
                       std::to_string(*most) + (*most == 1 ? " counts" : " count") +
                       " in this lab at most";
      else if (!plan.best_attempt && i + 1 < last)
        row.left_out = "not graded: attempt " + std::to_string(row.attempt) +
                       ", and the latest that may count is attempt " +
                       std::to_string(plan.rows[last - 1].attempt);
    }
  }
}

/// The plan for what was taken in. With a roster, everybody in it has a row for each lab that is
/// graded. `batch_seed` is that of an earlier plan of this batch, or a new one.
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
  add_missing(intake, plan);
  std::stable_sort(plan.rows.begin(), plan.rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.student, a.lab, a.attempt) < std::tie(b.student, b.lab, b.attempt);
  });
  return plan;
}

/// The plan with labs, test programs and compiler as they are now; a lab that the course no longer
/// has stays as it is.
base::Result<Plan> updated(Plan plan, const PlanRequest& request) {
  const auto limits = limits_in_force(request.settings);
  if (!limits) return limits.error();
  plan.membound_version = request.settings.version;
  plan.compiler = request.settings.compiler.name();
  plan.limits = *limits;
  std::map<std::string, Job> jobs;
  for (const course::Lab& lab : request.intake.labs) {
    const auto old = plan.labs.find(lab.id);
    if (old == plan.labs.end()) continue;
    auto now = planned(lab, request.settings, *limits, plan.batch_seed);
    if (!now) return now.error();
    old->second = *std::move(now);
    for (Row& row : plan.rows) {
      if (row.lab != lab.id || row.job.empty()) continue;
      Job job = job_for(row.lab, row.submission_sha256, old->second.digests, request.settings,
                        plan.batch_seed);
      row.job = job.key;
      jobs.emplace(job.key, std::move(job));
    }
  }
  for (Job& job : plan.jobs) jobs.emplace(job.key, std::move(job));
  plan.jobs.clear();
  for (auto& [key, job] : jobs) plan.jobs.push_back(std::move(job));
  plan.drop_idle_jobs();
  return plan;
}

/// The tables of earlier calls and of this one; a file that is given again replaces itself.
std::vector<intake::PeopleTable> people_of(const PlanRequest& request,
                                           const std::optional<Plan>& earlier) {
  std::map<std::string, intake::PeopleTable> tables;
  if (earlier)
    for (const intake::PeopleTable& table : earlier->people) tables[table.name] = table;
  for (const intake::PeopleTable& table : request.intake.people) tables[table.name] = table;
  std::vector<intake::PeopleTable> all;
  for (auto& [name, table] : tables) all.push_back(std::move(table));
  return all;
}

/// The earlier plan's seed, the one that was asked for, or a new one: 256 bits.
std::string batch_seed(const PlanRequest& request, const std::optional<Plan>& earlier) {
  if (request.seed) return base::sha256("seed " + std::to_string(*request.seed));
  if (earlier) return earlier->batch_seed;
  return base::hex(base::random_bytes(32));
}

/// The instructor's rules, those of the earlier call where none are given, and what this call says
/// about `labs`.
intake::CourseRules rules_for(const PlanRequest& request, const std::optional<Plan>& earlier,
                              const std::set<std::string>& labs) {
  intake::CourseRules rules = request.rules ? *request.rules
                              : earlier     ? earlier->rules
                                            : intake::CourseRules();
  if (request.extensions) rules.extensions = *request.extensions;
  const intake::LabRules& now = request.rules_now;
  if (now.due || now.grace_minutes || now.percent_per_day)
    for (const std::string& lab : labs) rules.labs[lab].overlay(now);
  return rules;
}

AttemptPolicy attempts_for(const PlanRequest& request, const intake::CourseRules& rules,
                           const std::optional<Plan>& earlier) {
  if (request.intake.attempts) return *request.intake.attempts;
  const bool best = rules.best_attempt.value_or(earlier && earlier->best_attempt);
  return best ? AttemptPolicy::kBest : AttemptPolicy::kLatest;
}

/// Takes in what `request` names, and plans it.
base::Result<Plan> plan_for(const PlanRequest& request, const std::optional<Plan>& earlier,
                            std::vector<std::string>& notes) {
  if (request.intake.sources.empty()) {
    if (!earlier) return no_batch(request.out);
    Plan plan = *earlier;
    std::set<std::string> labs;
    for (const auto& [lab, planned] : plan.labs) labs.insert(lab);
    plan.rules = rules_for(request, earlier, labs);
    if (request.intake.attempts || plan.rules.best_attempt)
      plan.best_attempt = attempts_for(request, plan.rules, earlier) == AttemptPolicy::kBest;
    if (request.update) {
      auto now = updated(std::move(plan), request);
      if (!now) return now;
      plan = *std::move(now);
    }
    plan.people = people_of(request, earlier);
    identify(plan, intake::joined(request.intake.roster, plan.people, notes));
    apply_rules(plan);
    apply_limits(plan);
    return plan;
  }
  intake::IntakeRequest asked = request.intake;
  const intake::CourseRules rules = rules_for(request, earlier, {});
  const AttemptPolicy policy = attempts_for(request, rules, earlier);
  // Who has used up the attempts of a lab is known only where all of them are.
  asked.attempts = rules.limits.limits_attempts() ? AttemptPolicy::kBest : policy;
  asked.people = people_of(request, earlier);
  asked.group_folders = rules.group_folders;
  asked.zone = rules.zone;
  auto intake = intake::take_in(asked);
  if (!intake) return intake.error();
  notes.insert(notes.end(), intake->notes.begin(), intake->notes.end());
  if (intake->submissions.empty() && (!asked.lab || intake->absent.empty())) {
    return base::Error{base::ErrorKind::kInput, request.intake.sources.front().string(),
                       "holds nothing that could be graded",
                       "folders or archives with a kernel.cu each",
                       "name the folder or archive that the learning system exported"};
  }
  std::set<std::string> labs;
  if (asked.lab) labs.insert(*asked.lab);
  for (const intake::Submission& one : intake->submissions) labs.insert(one.lab);
  asked.attempts = policy;
  auto taken = make_plan(*intake, asked, request.settings, batch_seed(request, earlier),
                         rules_for(request, earlier, labs));
  if (!taken) return taken;
  Plan plan = joined(earlier, *std::move(taken), request, intake->roster, notes);
  plan.people = std::move(asked.people);
  apply_rules(plan);
  apply_limits(plan);
  return plan;
}

MEMBOUND_FIELDS(PlannedLab, max_score, digests, device, sample_seed, stages, rubric)
MEMBOUND_FIELDS(ForgottenPeople::Grade, lab, verdict, score, max_score)
MEMBOUND_FIELDS(Job, key, lab, submission_sha256, seed, seed_key)
MEMBOUND_FIELDS(Row, left_out, student, name, email, lab, platform, platform_id, source, origin,
                submission_sha256, job, refused, note, submitted_at, time_from, marked_late,
                late_by_seconds, late_factor, late_note, attempt, section, group, late_days,
                grace_seconds, due, closed, unmatched, may_be, known_as, former)

/// A list of what `T` has fields for; without one of `needed` it is no plan.
template <typename T>
json list_of(const std::vector<T>& all) {
  json list = json::array();
  for (const T& one : all) write_fields(list.emplace_back(), one);
  return list;
}
template <typename T>
std::vector<T> read_list(const json& list, std::initializer_list<const char*> needed) {
  std::vector<T> all;
  for (const json& one : list) {
    for (const char* field : needed) static_cast<void>(one.at(field));
    read_fields(one, all.emplace_back());
  }
  return all;
}

}  // namespace

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

const Job* Plan::job(const std::string& key) const {
  const auto place = std::lower_bound(jobs.begin(), jobs.end(), key,
                                      [](const Job& job, const auto& k) { return job.key < k; });
  return place != jobs.end() && place->key == key ? &*place : nullptr;
}

std::string Plan::digest_of(const std::string& student) const {
  return base::hmac_sha256(batch_seed, "forgotten " + intake::folded(student));
}

void Plan::drop_idle_jobs() {
  std::set<std::string> needed;
  for (const Row& row : rows) needed.insert(row.job);
  std::erase_if(jobs, [&needed](const Job& job) { return !needed.contains(job.key); });
}

void to_json(json& out, const Plan& plan) {
  json labs = json::object();
  for (const auto& [id, lab] : plan.labs) write_fields(labs[id], lab);
  out = {{"schema", Plan::kSchema},
         {"membound_version", plan.membound_version},
         {"device", plan.device},
         {"compiler", plan.compiler},
         {"limits_in_force", plan.limits},
         {"batch_seed", plan.batch_seed},
         {"best_attempt", plan.best_attempt},
         {"rules", plan.rules},
         {"counting", plan.rules.counting},
         {"grading_limits", plan.rules.limits},
         {"people", plan.people},
         {"labs", labs},
         {"jobs", list_of(plan.jobs)},
         {"rows", list_of(plan.rows)},
         {"forgotten",
          {{"digests", plan.forgotten.digests}, {"grades", list_of(plan.forgotten.grades)}}}};
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
  read_field(in, "counting", plan.rules.counting);
  read_field(in, "grading_limits", plan.rules.limits);
  read_field(in, "people", plan.people);
  for (const auto& [id, lab] : in.at("labs").items()) {
    PlannedLab& planned = plan.labs[id];
    lab.at("max_score").get_to(planned.max_score);
    lab.at("digests").get_to(planned.digests);
    planned.device = plan.device;  // in plans of older versions
    read_fields(lab, planned);
  }
  plan.jobs = read_list<Job>(in.at("jobs"), {"key", "lab", "submission_sha256", "seed"});
  plan.rows = read_list<Row>(in.at("rows"), {"student", "lab"});
  const auto forgotten = in.find("forgotten");
  if (forgotten == in.end()) return;
  read_field(*forgotten, "digests", plan.forgotten.digests);
  plan.forgotten.grades = read_list<ForgottenPeople::Grade>(forgotten->at("grades"), {"lab"});
}

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

namespace {

/// Writes the plan where it changed, and makes the ledger know it.
base::Status keep_plan(const fs::path& out, const Plan& plan, const std::optional<Plan>& earlier,
                       ledger::Ledger& ledger) {
  auto text = base::read_file(out / "batch.json");
  // To compare ten thousand rows takes much less time than to write them as text.
  if (!text || earlier != plan) {
    const std::string now = course::dump_safely(json(plan), 1) + "\n";
    if (!text || *text != now) {
      const auto written = base::write_durably(out / "batch.json", now, "plan");
      if (!written) return written;
    }
    text = now;
  }
  std::vector<std::string> keys;
  for (const Job& job : plan.jobs) keys.push_back(job.key);
  return ledger.plan(base::sha256(*text), keys);
}

}  // namespace

base::Result<Plan> plan_call(const PlanRequest& request, ledger::Ledger& ledger,
                             std::vector<std::string>& notes) {
  const auto earlier = read_plan(request.out);
  if (!earlier) return earlier.error();
  auto plan = plan_for(request, *earlier, notes);
  if (!plan) return plan;
  const auto kept = keep_plan(request.out, *plan, *earlier, ledger);
  if (!kept) return kept.error();
  return plan;
}

bool is_meant(const Row& row, const std::string& word) {
  const std::string wanted = intake::folded(word);
  return wanted == intake::folded(row.student) || wanted == intake::folded(row.name) ||
         wanted == intake::folded(row.email);
}

base::Error no_batch(const fs::path& out) {
  return {base::ErrorKind::kUsage, out.string(), "there is no batch to go on with",
          "a folder that membound grade made", "membound grade SUBMISSIONS --out " + out.string()};
}

}  // namespace membound::queue
