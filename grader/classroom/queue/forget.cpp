// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/archive.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/layout.hpp"
#include "grader/classroom/intake/roster.hpp"
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

/// A list's text without the person: of Gradescope's submission_metadata.yml, whose submissions are
/// blocks that begin in the first column and whose submitters are items of a list. `gone`: names of
/// blocks that go as a whole.
std::string without_submitter(const std::string& yaml, const std::set<std::string>& gone,
                              const Person& person) {
  const auto is_theirs = [&person](std::string_view line) {
    const auto colon = line.find(": ");
    if (colon == std::string_view::npos) return false;
    const std::string value(base::trimmed(line.substr(colon + 2)));
    const auto quoted = value.size() > 1 && (value.front() == '"' || value.front() == '\'');
    return person.is(quoted ? value.substr(1, value.size() - 2) : value);
  };
  std::string kept, item;
  bool skips_block = false, skips_item = false;
  std::size_t item_indent = 0;
  const auto end_item = [&] {
    if (!skips_item) kept += item;
    item.clear();
    skips_item = false;
  };
  for (const std::string_view line : base::lines_of(yaml)) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent == 0 && !line.starts_with("-") && line.find(':') != std::string_view::npos) {
      end_item();
      skips_block = gone.contains(std::string(line.substr(0, line.find(':'))));
    }
    if (skips_block) continue;
    const bool begins = line.substr(indent).starts_with("- ");
    if (begins || (!item.empty() && indent <= item_indent)) end_item();
    if (begins) item_indent = indent;
    if (begins || !item.empty()) {
      item += std::string(line) + "\n";
      skips_item = skips_item || is_theirs(line);
    } else {
      kept += std::string(line) + "\n";
    }
  }
  end_item();
  return kept;
}

/// What lies in one folder or archive that was handed in.
class HandedIn {
 public:
  /// `labs` by their ids; `scratch` takes copies of what is read.
  HandedIn(fs::path source, const std::vector<course::Lab>& labs, const intake::Roster& roster,
           const fs::path& scratch)
      : source_(std::move(source)), name_(source_.filename().string()) {
    const auto is_class = [&](const std::string& archive, const intake::Entries& members) {
      const bool holds = intake::holds_class(archive, members, labs, [&](const std::string& name) {
        return roster.names_student(name);
      });
      if (holds) archive_ = source_ / archive;
      return holds;
    };
    auto read = intake::read_entries(source_, labs, intake::Store(scratch), {}, is_class);
    if (!read) {
      problem_ = read.error().found;
      return;
    }
    entries_ = *std::move(read);
    std::error_code ignored;
    if (!fs::is_directory(source_, ignored) && intake::is_archive_name(name_)) archive_ = source_;
    items_ = intake::items_of(entries_, std::nullopt, "", labs).items;
  }

  /// Removes what is the person's alone. `shared`: origins of what is others' work, too. Returns
  /// why something stays; empty: nothing does.
  std::string remove(const Person& person, const std::set<std::string>& origins,
                     const std::set<std::string>& shared, bool& changed) {
    if (!problem_.empty()) return problem_;
    Paths paths;
    std::set<std::string> blocks;
    bool stays = false;
    for (const intake::Item& item : items_) {
      const std::string origin = intake::shown(name_ + "/" + item.origin);
      const bool is_theirs =
          origins.contains(origin) || person.is(item.key) || person.is(item.email);
      if (!is_theirs) continue;
      if (shared.contains(origin)) {
        stays = true;
        continue;
      }
      blocks.insert(intake::stem(item.origin));
      for (const intake::ItemFile& file : item.files) add_path(*file.entry, item.origin, paths);
    }
    const auto metadata = [&](const std::string& text) {
      return without_submitter(text, blocks, person);
    };
    std::string problem = archive_.empty() ? from_folder(paths, metadata, changed)
                                           : from_archive(paths, metadata, changed);
    if (problem.empty() && stays) problem = "a group's work, which the others share";
    return problem;
  }

 private:
  /// Paths in their parts as found, by the parts in normal form.
  using Paths = std::map<std::vector<std::string>, std::vector<std::string>>;

  /// The part that names the student, with the folder that everything lies in.
  static void add_path(const intake::Entry& entry, const std::string& origin, Paths& paths) {
    for (std::size_t i = 0; i < std::min<std::size_t>(entry.path.size(), 2); ++i)
      if (entry.path[i] == origin) {
        const auto end = static_cast<std::ptrdiff_t>(i) + 1;
        paths[{entry.path.begin(), entry.path.begin() + end}] = {
            entry.raw.begin(),
            entry.raw.begin() + std::min(end, static_cast<std::ptrdiff_t>(entry.raw.size()))};
        return;
      }
  }

  template <typename Change>
  std::string from_folder(const Paths& paths, const Change& metadata, bool& changed) const {
    std::error_code error;
    const bool is_folder = fs::is_directory(source_, error);
    for (const auto& [path, raw] : paths) {
      fs::path place = source_;
      if (is_folder)
        for (const std::string& part : raw) place /= part;
      changed = fs::remove_all(place, error) > 0 || changed;
      if (error) return base::reason_text(error.value());
    }
    for (const intake::Entry& entry : entries_.files) {
      if (!is_folder || entry.name() != intake::kMetadata || entry.path.size() > 2) continue;
      fs::path place = source_;
      for (const std::string& part : entry.raw) place /= part;
      const std::string now = metadata(entry.text);
      if (now == entry.text) continue;
      const auto written = base::write_file(place, now);
      if (!written) return written.error().found;
      changed = true;
    }
    return "";
  }

  template <typename Change>
  std::string from_archive(const Paths& paths, const Change& metadata, bool& changed) const {
    const auto begins = [](std::span<const std::string> parts, const std::vector<std::string>& by) {
      return parts.size() >= by.size() && std::equal(by.begin(), by.end(), parts.begin());
    };
    const auto drops = [&](const intake::SafePath& path) {
      std::span<const std::string> parts(path.parts);
      // What macOS keeps of each file stands in a folder of its own.
      if (parts.size() > 1 && parts[0] == "__MACOSX") {
        if (std::any_of(paths.begin(), paths.end(), [&](const auto& one) {
              return parts.size() == one.first.size() + 1 &&
                     parts.back() == "._" + one.first.back();
            }))
          return true;
        parts = parts.subspan(1);
      }
      return std::any_of(paths.begin(), paths.end(),
                         [&](const auto& one) { return begins(parts, one.first); });
    };
    const auto other = [&](const intake::SafePath& path,
                           const std::string& text) -> std::optional<std::string> {
      if (path.parts.empty() || path.parts.back() != intake::kMetadata || path.parts.size() > 2)
        return std::nullopt;
      return metadata(text);
    };
    const auto done = intake::rewrite_archive(archive_, drops, other);
    if (!done) return done.error().found;
    changed = changed || *done > 0;
    return "";
  }

  fs::path source_;
  std::string name_, problem_;
  fs::path archive_;  ///< empty: the source is a folder or a single file
  intake::Entries entries_;
  std::vector<intake::Item> items_;
};

/// Takes the person out of the folders and archives that were handed in, and says what is left.
void clean_sources(const ForgetRequest& request, const Person& person, const Plan& plan,
                   Forgotten& found) {
  std::map<std::string, std::set<std::string>> origins, shared;
  for (const Row& row : plan.rows) {
    if (row.source.empty()) continue;
    if (row.student == person.id) origins[row.source].insert(row.origin);
  }
  for (const Row& row : plan.rows)
    if (row.student != person.id && origins.contains(row.source))
      shared[row.source].insert(row.origin);
  std::vector<course::Lab> labs;
  for (const auto& [id, planned] : plan.labs) labs.emplace_back().id = id;
  intake::Roster roster;
  if (const auto text = base::read_file(kept_roster(request.out)))
    if (auto kept = intake::Roster::from_text(*text, "roster.csv")) roster = *std::move(kept);
  const fs::path scratch = request.out / "work" / "tmp" / "forget";
  for (const auto& [source, own] : origins) {
    std::error_code ignored;
    if (!fs::exists(source, ignored)) {
      found.outside.push_back(source + ": not there any more; wherever it is now, it has the work");
      continue;
    }
    bool changed = false;
    const std::string why =
        request.keep_archives
            ? "it is kept, as --keep-archives says"
            : HandedIn(source, labs, roster, scratch).remove(person, own, shared[source], changed);
    if (changed) found.cleaned.push_back(source);
    if (!why.empty()) found.outside.push_back(source + ": " + why);
    fs::remove_all(scratch, ignored);
  }
  for (const intake::PeopleTable& table : plan.people)
    if (std::any_of(table.rows.begin(), table.rows.end(), [&person](const auto& row) {
          return person.is(row.id) || person.is(row.email);
        }))
      found.outside.push_back(table.name + ": a table that a platform gave out");
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
  for (const Row& row : plan.rows) found.rows += row.student == person->id ? 1U : 0U;
  // Before the plan forgets where they are.
  clean_sources(request, *person, plan, found);
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
