// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/audit.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/course/json_io.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;

/// Every word that a table or rule may call the person.
struct Person {
  std::string id;
  std::set<std::string> ids;    ///< also those by which rows went before the author was known
  std::set<std::string> names;  ///< folded: id, name, email, platform's number

  [[nodiscard]] bool is(const std::string& word) const {
    return !word.empty() && names.contains(intake::folded(word));
  }
};

/// The one person of the plan whom the word means; one who is forgotten already is meant by the id
/// alone.
base::Result<Person> person_meant(const Plan& plan, const std::string& word) {
  Person person;
  std::set<std::string> ids;
  for (const Row& row : plan.rows) {
    if (!is_meant(row, word)) continue;
    ids.insert(row.student);
    person.id = row.student;
  }
  if (ids.size() > 1)
    return base::Error{base::ErrorKind::kUsage, word, "means several students", "one id",
                       "grades.csv has the ids"};
  if (ids.empty()) {
    if (!plan.forgotten.digests.contains(plan.digest_of(word)))
      return base::Error{base::ErrorKind::kUsage, word, "nobody of that name is in this class",
                         "a student's id, name or email as in grades.csv", ""};
    person.id = word;
  }
  person.ids.insert(person.id);
  for (const Row& row : plan.rows) {
    if (row.student != person.id) continue;
    if (!row.former.empty()) person.ids.insert(row.former);
    for (const std::string& name : {row.email, row.platform_id})
      if (!name.empty()) person.names.insert(intake::folded(name));
  }
  for (const std::string& id : person.ids) person.names.insert(intake::folded(id));
  return person;
}

/// What stays of the person's grades.
void keep_aggregates(const Person& person, const ClassGrades& all, Plan& plan) {
  for (const course::Grade& grade : all.grades)
    if (grade.student == person.id)
      plan.forgotten.grades.push_back(
          {grade.lab, grade.verdict ? std::string(course::to_string(*grade.verdict)) : "",
           grade.score, grade.max_score});
  std::sort(plan.forgotten.grades.begin(), plan.forgotten.grades.end(),
            [](const auto& a, const auto& b) {
              return std::tie(a.lab, a.score, a.verdict) < std::tie(b.lab, b.score, b.verdict);
            });
}

/// The plan without the person.
Plan without(const Person& person, Plan plan) {
  plan.forgotten.digests.insert(plan.digest_of(person.id));
  std::set<std::string> names;
  for (const Row& row : plan.rows)
    if (row.student == person.id && !row.name.empty()) names.insert(intake::folded(row.name));
  std::erase_if(plan.rows, [&](const Row& row) { return row.student == person.id; });
  std::erase_if(plan.rules.extensions, [&](const intake::Extension& one) {
    return person.is(one.student) || names.contains(intake::folded(one.student));
  });
  for (intake::PeopleTable& table : plan.people)
    std::erase_if(table.rows, [&](const intake::RosterRow& row) {
      return person.is(row.id) || person.is(row.email) || names.contains(intake::folded(row.name));
    });
  // Rows of others that could have been this person's.
  for (Row& row : plan.rows)
    for (const std::string& id : person.ids) std::erase(row.may_be, id);
  plan.drop_idle_jobs();
  return plan;
}

/// Jobs whose text no row has any more, whichever plan they were of, and their audits.
std::set<std::string> idle_jobs(const Plan& plan, const ledger::Verdicts& verdicts,
                                const std::vector<ledger::JobState>& all) {
  std::set<std::string> texts, kept;
  for (const Row& row : plan.rows) texts.insert(row.submission_sha256);
  for (const Job& job : plan.jobs) kept.insert(job.key);
  for (const PlannedAudit& audit : audits_of(plan, verdicts)) kept.insert(audit.job.key);
  for (const auto& [key, grade] : verdicts.grades)
    if (texts.contains(grade.submission_sha256)) kept.insert(key);
  std::set<std::string> idle;
  for (const ledger::JobState& job : all)
    if (!kept.contains(job.key)) idle.insert(job.key);
  return idle;
}

/// Takes the person's rows out of a table, where there is one.
base::Status drop_rows(const fs::path& file, const Person& person) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return base::Done{};
  const auto text = base::read_file(file);
  if (!text) return text.error();
  auto table = base::read_csv(*text, file.string());
  if (!table) return table.error();
  const auto before = table->rows.size();
  std::erase_if(table->rows, [&person](const auto& row) {
    return std::any_of(row.begin(), row.end(),
                       [&person](const std::string& cell) { return person.is(cell); });
  });
  if (table->rows.size() == before) return base::Done{};
  return base::write_durably(file, base::write_csv(*table, base::CsvReader::kProgram), "report");
}

/// Result files of jobs that the ledger no longer has, and texts that no row has.
void remove_files(const fs::path& out, const Plan& plan, const std::set<std::string>& idle,
                  Forgotten& found) {
  std::set<std::string> texts;
  for (const Row& row : plan.rows) texts.insert(row.submission_sha256);
  std::vector<fs::path> gone;
  std::error_code error;
  for (fs::directory_iterator file(out / "results", error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (idle.contains(name.substr(0, name.rfind('-')))) gone.push_back(file->path());
  }
  found.verdicts = gone.size();
  for (fs::directory_iterator text(out / "store" / "sha256", error), end; !error && text != end;
       text.increment(error))
    if (!texts.contains(text->path().filename().string())) {
      gone.push_back(text->path());
      ++found.texts;
    }
  // Pages, exports and whatever a call left half done may show the person; all can be made anew.
  for (const char* folder : {"report", "export", "rehearsal", "damaged", "work/tmp"})
    gone.push_back(out / folder);
  for (const fs::path& path : gone) fs::remove_all(path, error);
}

}  // namespace

std::string Plan::digest_of(const std::string& student) const {
  return base::hmac_sha256(batch_seed, "forgotten " + intake::folded(student));
}

void Plan::drop_idle_jobs() {
  std::set<std::string> needed;
  for (const Row& row : rows) needed.insert(row.job);
  std::erase_if(jobs, [&needed](const Job& job) { return !needed.contains(job.key); });
}

void drop_forgotten(Plan& plan, const fs::path& out, std::vector<std::string>& notes) {
  if (plan.forgotten.digests.empty()) return;
  std::set<std::string> texts, kept;
  std::size_t dropped = 0;
  std::erase_if(plan.rows, [&](const Row& row) {
    const bool known = plan.forgotten.digests.contains(plan.digest_of(row.student));
    (known ? texts : kept).insert(row.submission_sha256);
    dropped += known ? 1U : 0U;
    return known;
  });
  if (dropped == 0) return;
  plan.drop_idle_jobs();
  std::error_code ignored;
  for (const std::string& text : texts)
    if (!text.empty() && !kept.contains(text))
      fs::remove_all(intake::Store(out).file(text).parent_path(), ignored);
  notes.push_back(std::to_string(dropped) +
                  " rows of people whom the course has forgotten are left out; take them out of "
                  "the roster and of what is handed in");
}

base::Result<Forgotten> forget_student(const ForgetRequest& request) {
  const fs::path& out = request.out;
  const auto earlier = read_plan(out);
  if (!earlier) return earlier.error();
  if (!*earlier) return no_batch(out);
  auto person = person_meant(**earlier, request.student);
  if (!person) return person.error();
  auto ledger = ledger::Ledger::open(out, {.key_file = request.key_file});
  if (!ledger) return ledger.error();
  auto verdicts = ledger::read_verdicts(out, request.key_file);
  if (!verdicts) return verdicts.error();

  Forgotten found;
  Plan plan = **earlier;
  for (const Row& row : plan.rows) {
    if (row.student != person->id) continue;
    ++found.rows;
    if (!row.source.empty() &&
        std::find(found.outside.begin(), found.outside.end(), row.source) == found.outside.end())
      found.outside.push_back(row.source);
  }
  keep_aggregates(*person, class_grades(plan, *verdicts, Detail::kSummary), plan);
  plan = without(*person, std::move(plan));

  // The plan first: a call that is killed after it knows the person as forgotten and goes on.
  const std::string text = course::dump_safely(nlohmann::json(plan), 1) + "\n";
  auto status = base::write_durably(out / "batch.json", text, "plan");
  if (!status) return status.error();
  const auto idle = idle_jobs(plan, *verdicts, ledger->jobs());
  status = ledger->forget(person->ids, idle, base::sha256(text));
  if (!status) return status.error();
  remove_files(out, plan, idle, found);
  for (const char* name :
       {"roster.csv", "regrade-decisions.csv", "spot-check.csv", "dry-run.csv", "pseudonyms.csv"}) {
    status = drop_rows(out / name, *person);
    if (!status) return status.error();
  }
  verdicts = ledger::read_verdicts(out, request.key_file);
  if (!verdicts) return verdicts.error();
  status = write_outputs(out, plan, *verdicts);
  if (!status) return status.error();
  return found;
}

}  // namespace membound::queue
