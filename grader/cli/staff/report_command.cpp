// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound report DIR: the class as pages.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string batch, out, key;
  std::string title = "Class";
  bool leaderboard = false, names = false;
};

/// Likenesses of each lab's submissions; what the reference answer has in common with them says
/// nothing.
std::vector<gradebook::Likeness> likenesses_of(const std::vector<course::Grade>& grades,
                                               const Context& context) {
  std::map<std::string, std::vector<const course::Grade*>> labs;
  for (const course::Grade& grade : grades)
    if (!grade.fingerprint.empty()) labs[grade.lab].push_back(&grade);
  std::vector<gradebook::Likeness> likenesses;
  for (const auto& [lab, rows] : labs) {
    std::vector<similarity::Fingerprint> fingerprints, given;
    for (const course::Grade* grade : rows) fingerprints.push_back(grade->fingerprint);
    for (const char* ending : {"reference.fatbin", "reference.ptx"})
      if (auto reference =
              similarity::fingerprint_of_code(context.place.build / "labs" / lab / ending))
        given.push_back(*std::move(reference));
    for (const similarity::Cluster& cluster : similarity::clusters_of(fingerprints, given)) {
      gradebook::Likeness& likeness = likenesses.emplace_back();
      likeness.lab = lab;
      likeness.least_alike = cluster.least_alike;
      for (const std::size_t member : cluster.members)
        likeness.students.push_back(rows[member]->student);
    }
  }
  return likenesses;
}

int run_report(const ReportOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  auto batch = queue::read_class(options.batch, options.key, queue::Detail::kShown);
  if (!batch) return report_error(batch.error());
  const fs::path out =
      options.out.empty() ? fs::path(options.batch) / "report" : fs::path(options.out);
  gradebook::Class all{options.title, std::move(batch->grades), {}, batch->worth};
  all.likenesses = likenesses_of(all.grades, *context);
  base::Status written = base::Done{};
  const auto write = [&](const gradebook::Page& page) {
    if (written) written = base::write_file(out / page.name, page.html);
  };
  gradebook::for_each_student_page(all, write);
  write(gradebook::class_page(all));
  for (const gradebook::Page& page : gradebook::lab_pages(all)) write(page);
  if (options.leaderboard || options.names) {
    const auto secret = ledger::read_secret(options.batch, options.key, false);
    if (!secret) return report_error(secret.error());
    write(gradebook::leaderboard(
        all, options.names ? gradebook::Names::kShown : gradebook::Names::kHidden, *secret));
  }
  if (!written) return report_error(written.error());
  if (!batch->open.empty())
    report_note(std::to_string(batch->open.size()) + " rows are not graded yet and not shown");
  std::printf("%s\n", (out / "index.html").c_str());
  return kExitPassed;
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* const command = app.add_subcommand("report", "");
  command->add_option("DIR", options->batch)->required();
  command->add_option("--out", options->out);
  command->add_option("--title", options->title);
  command->add_flag("--leaderboard", options->leaderboard);
  command->add_flag("--leaderboard-names", options->names);
  command->add_option("--key", options->key);
  command->callback([options, &chosen] { chosen = [options] { return run_report(*options); }; });
}

}  // namespace membound::cli
