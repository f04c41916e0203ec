// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound export DIR --format FORMAT: grades for a learning platform.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <set>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/exchange/exchange.hpp"
#include "grader/classroom/intake/roster.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/batch.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/dev_tables.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string batch, out, key, format, lab, sheet, assignment, context;
  std::optional<double> maximum;
  bool allow_unmatched = false;
};

base::Result<exchange::Settings> settings_of(const ExportOptions& options) {
  exchange::Settings settings;
  settings.assignment = options.assignment;
  settings.maximum = options.maximum;
  if (!options.sheet.empty()) {
    const auto text = base::read_file(options.sheet);
    if (!text) return text.error();
    auto table = base::read_csv(*text, options.sheet);
    if (!table) return table.error();
    settings.sheet = *std::move(table);
    settings.sheet_name = options.sheet;
  }
  if (!options.context.empty()) {
    const auto text = base::read_file(options.context);
    if (!text) return text.error();
    settings.context = nlohmann::json::parse(*text, nullptr, false);
    if (!settings.context.is_object())
      return base::Error{base::ErrorKind::kInput,
                         options.context,
                         "is no JSON object",
                         R"({"classroom": …, "students": {"ID": {…}}})",
                         {}};
  }
  return settings;
}

/// The class, its authors known by the kept roster, by the tables of all calls and by the sheet of
/// this one. What a platform calls its students goes into `settings`.
base::Result<queue::ClassGrades> class_of(const ExportOptions& options,
                                          exchange::Settings& settings) {
  auto plan = queue::read_plan(options.batch);
  if (!plan) return plan.error();
  std::error_code ignored;
  const fs::path kept = queue::kept_roster(options.batch);
  if (!*plan || !fs::exists(kept, ignored))
    return queue::read_class(options.batch, options.key, queue::Detail::kShown);
  const auto text = base::read_file(kept);
  if (!text) return text.error();
  const auto roster = intake::Roster::from_text(*text, kept.string());
  if (!roster) return roster.error();
  std::vector<intake::PeopleTable> tables = (*plan)->people;
  if (!options.sheet.empty()) {
    const auto sheet = base::read_file(options.sheet);
    if (!sheet) return sheet.error();
    // A table that names no ids tells nothing of who is who.
    if (auto table = intake::read_people_table(*sheet, options.sheet)) tables.push_back(*table);
  }
  std::set<std::pair<std::string, std::string>> in_sheet;
  if (tables.size() > (*plan)->people.size())
    for (const intake::RosterRow& row : tables.back().rows)
      in_sheet.insert(row.numbers.begin(), row.numbers.end());
  std::vector<std::string> notes;
  const intake::Roster all = intake::joined(*roster, tables, notes);
  for (const std::string& note : notes) report_note(note);
  queue::identify(**plan, all);
  for (const intake::RosterRow& student : all.rows())
    for (const auto& [platform, number] : student.numbers)
      if (platform == options.format) settings.numbers[student.id].push_back(number);
  const auto verdicts = ledger::read_verdicts(options.batch, options.key);
  if (!verdicts) return verdicts.error();
  queue::ClassGrades grades = queue::class_grades(**plan, *verdicts, queue::Detail::kShown);
  // Whom the roster lacks, and the sheet has under the platform's own number, is known enough.
  for (course::Grade& grade : grades.grades)
    if (in_sheet.contains({grade.platform, grade.platform_id})) grade.unmatched.clear();
  return grades;
}

/// The grades of one lab, or all. `unmatched` gets the work whose author is not known; nothing
/// handed in by a student whose work it may be is no grade.
base::Result<std::vector<course::Grade>> grades_of(const ExportOptions& options,
                                                   exchange::Settings& settings,
                                                   std::vector<std::string>& unmatched) {
  auto batch = class_of(options, settings);
  if (!batch) return batch.error();
  if (!batch->open.empty())
    report_note(base::counted(batch->open.size(), "row") + " not graded yet and left out");
  settings.worth = batch->worth;
  if (!options.lab.empty()) {
    const auto context = make_context();
    if (!context) return context.error();
    const auto lab = context->course.find(options.lab);
    if (!lab) return lab.error();
    std::erase_if(batch->grades,
                  [&lab](const course::Grade& grade) { return grade.lab != (*lab)->id; });
  }
  for (const course::Grade& grade : batch->grades)
    if (!grade.unmatched.empty())
      unmatched.push_back(shown_student(grade) + ", " + grade.lab + ": " + grade.unmatched);
  // A platform would give work under an unknown name to nobody, or to the wrong one.
  std::erase_if(batch->grades, [](const course::Grade& grade) {
    if (!grade.unmatched.empty()) return true;
    if (grade.is_there() || grade.may_be.empty()) return false;
    report_note(shown_student(grade) + ", " + grade.lab + ": left out, " + grade.note);
    return true;
  });
  return std::move(batch->grades);
}

/// Says whose work nobody can be given. The exit code.
int report_unmatched(const std::vector<std::string>& unmatched, const std::string& batch) {
  for (const std::string& text : unmatched) report_note(text);
  report_error({base::ErrorKind::kInput, batch,
                std::to_string(unmatched.size()) + (unmatched.size() == 1 ? " work" : " works") +
                    " whose author is not known",
                "every work matched with a student by id, email or name",
                "give membound grade the platform's table (--sheet FILE --resume), or export what "
                "is matched with --allow-unmatched; nothing was written"});
  return kExitNotPassed;
}

int run_export(const ExportOptions& options) {
  auto settings = settings_of(options);
  if (!settings) return report_error(settings.error());
  std::vector<std::string> unmatched;
  const auto grades = grades_of(options, *settings, unmatched);
  if (!grades) return report_error(grades.error());
  if (grades->empty() && !unmatched.empty()) return report_unmatched(unmatched, options.batch);
  if (grades->empty())
    return report_error({base::ErrorKind::kInput, options.batch, "no grades to export",
                         "a batch with grades", "membound grade … --out " + options.batch});
  const auto files = exchange::write(options.format, *grades, *settings);
  if (!files) return report_error(files.error());
  unmatched.insert(unmatched.end(), files->unmatched.begin(), files->unmatched.end());
  if (!unmatched.empty() && !options.allow_unmatched)
    return report_unmatched(unmatched, options.batch);
  for (const std::string& text : unmatched) report_note(text);
  const fs::path out = options.out.empty() ? fs::path(options.batch) / "export" / options.format
                                           : fs::path(options.out);
  for (const exchange::Document& document : files->documents) {
    const auto written = base::write_file(out / document.name, document.text);
    if (!written) return report_error(written.error());
  }
  for (const std::string& text : files->left_out) report_note(text);
  for (const std::string& text : files->notes) report_note(text);
  std::printf("%s in %s\n", base::counted(files->documents.size(), "file").c_str(), out.c_str());
  return kExitPassed;
}

}  // namespace

authoring::WrittenPart platform_table() {
  std::string table = "| format | what comes out |\n| --- | --- |\n";
  for (const exchange::Format& format : exchange::formats())
    table += "| " + std::string(format.name) + " | " + std::string(format.what) + " |\n";
  return {"grader/cli/help/export.md", "platforms", table,
          "grader/classroom/exchange/platforms.def"};
}

void add_export(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* const command = app.add_subcommand("export", "");
  command->add_option("DIR", options->batch)->required();
  command->add_option("--format", options->format)->required();
  command->add_option("--out", options->out);
  command->add_option("--lab", options->lab);
  command->add_option("--sheet", options->sheet);
  command->add_option("--assignment", options->assignment);
  takes_number(*command->add_option("--maximum", options->maximum), 0.01, 1e6);
  command->add_option("--context", options->context);
  command->add_option("--key", options->key);
  command->add_flag("--allow-unmatched", options->allow_unmatched);
  command->callback([options, &chosen] { chosen = [options] { return run_export(*options); }; });
}

}  // namespace membound::cli
