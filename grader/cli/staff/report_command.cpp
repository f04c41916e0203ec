// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound report DIR: the class as pages.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/batch.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/classroom/queue/hand_marks.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string batch, out, key;
  std::string title = "Class";
  std::string keep_digests;
  std::vector<std::string> against;
  bool leaderboard = false, names = false, anonymous = false;
};

/// The fingerprints of an earlier term: of a folder with its digests, or of a graded class.
base::Result<similarity::Digests> earlier_term(const fs::path& folder) {
  const fs::path file = folder / similarity::kDigestsFile;
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    const auto text = base::read_file(file);
    if (!text) return text.error();
    return similarity::digests_from_text(*text, file.string());
  }
  const auto batch = queue::read_class(folder, {}, queue::Detail::kShown);
  if (!batch) return batch.error();
  similarity::Digests digests;
  for (const course::Grade& grade : batch->grades)
    if (!grade.fingerprint.empty()) digests[grade.lab].push_back(grade.fingerprint);
  return digests;
}

/// Submissions of one lab that can be compared.
struct Compared {
  std::string lab;
  std::vector<std::vector<std::string>> authors;  ///< of each: one, or a group's
  std::vector<similarity::Fingerprint> fingerprints;
  std::vector<similarity::Fingerprint> given;  ///< the published answer, as each compiler made it

  [[nodiscard]] gradebook::Likeness likeness(const std::vector<std::size_t>& members, double alike,
                                             const std::string& with) const {
    gradebook::Likeness one{lab, {}, alike, with};
    for (const std::size_t member : members)
      one.students.insert(one.students.end(), authors[member].begin(), authors[member].end());
    return one;
  }
};

std::vector<Compared> compared_labs(const std::vector<course::Grade>& grades,
                                    const Context& context) {
  std::map<std::string, Compared> labs;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> works_of_groups;
  for (const course::Grade& grade : grades) {
    if (grade.fingerprint.empty()) continue;
    Compared& lab = labs[grade.lab];
    if (!grade.group.empty()) {
      // One work, of which each member has a row.
      const auto [work, is_new] = works_of_groups.try_emplace(
          {grade.lab, grade.group, grade.submission_sha256}, lab.authors.size());
      if (!is_new) {
        lab.authors[work->second].push_back(grade.student);
        continue;
      }
    }
    lab.lab = grade.lab;
    lab.authors.push_back({grade.student});
    lab.fingerprints.push_back(grade.fingerprint);
  }
  std::vector<Compared> list;
  for (auto& [id, lab] : labs) {
    for (const char* ending : {"reference.fatbin", "reference.ptx"})
      if (auto reference =
              similarity::fingerprint_of_code(context.place.build / "labs" / id / ending))
        lab.given.push_back(*std::move(reference));
    list.push_back(std::move(lab));
  }
  return list;
}

/// What students were handed out, as each compiler that is here makes it; nothing where the
/// skeleton or every compiler is missing.
std::vector<similarity::Fingerprint> skeleton_of(const std::string& id, const Context& context) {
  std::vector<similarity::Fingerprint> found;
  const auto lab = context.course.find(id);
  if (!lab) return found;
  const auto text = judge::find_skeleton(context.place, **lab);
  judge::CompileRequest request;
  request.cache_folder = context.place.state / "cache";
  request.source = request.cache_folder / ("skeleton-" + id + ".cu");
  if (!text || !base::write_file(request.source, *text)) return found;
  request.root = context.place.root;
  request.lab_folder = judge::lab_files(context.place, **lab);
  for (const auto kind : {compilers::DeviceCompiler::kNvcc, compilers::DeviceCompiler::kClang}) {
    auto compiler = compilers::find_compiler(kind, compilers::compiler_places(context.place.root));
    if (!compiler) continue;
    request.compiler = *std::move(compiler);
    const auto code = judge::compile(request);
    if (!code || !code->compiled) continue;
    if (auto fingerprint = similarity::fingerprint_of_code(code->file))
      found.push_back(*std::move(fingerprint));
  }
  return found;
}

/// Likenesses of one lab's submissions: retellings of the published answer, texts of earlier terms,
/// and one with another. What the answer or the skeleton has in common with two of them says
/// nothing.
std::vector<gradebook::Likeness> likenesses_in(
    const Compared& lab, const std::vector<similarity::Digests>& terms,
    const std::vector<similarity::Fingerprint>& skeleton) {
  std::vector<gradebook::Likeness> likenesses;
  std::vector<similarity::Fingerprint> given = lab.given;
  given.insert(given.end(), skeleton.begin(), skeleton.end());
  std::set<std::size_t> told;
  for (const similarity::Fingerprint& reference : lab.given)
    for (const auto& one : similarity::retellings_of(lab.fingerprints, reference, skeleton))
      if (told.insert(one.member).second)
        likenesses.push_back(lab.likeness({one.member}, one.share, "the published answer"));
  for (const similarity::Digests& term : terms)
    if (const auto earlier = term.find(lab.lab); earlier != term.end())
      for (const auto& one : similarity::matches_of(lab.fingerprints, earlier->second, given))
        likenesses.push_back(lab.likeness({one.member}, one.alike, "a text of an earlier term"));
  for (const auto& cluster : similarity::clusters_of(lab.fingerprints, given))
    likenesses.push_back(lab.likeness(cluster.members, cluster.least_alike, ""));
  return likenesses;
}

/// The skeleton is compiled only where something is alike without it: that takes seconds a lab.
std::vector<gradebook::Likeness> likenesses_of(const std::vector<Compared>& labs,
                                               const std::vector<similarity::Digests>& terms,
                                               const Context& context) {
  std::vector<gradebook::Likeness> all;
  for (const Compared& lab : labs) {
    auto found = likenesses_in(lab, terms, {});
    if (!found.empty()) found = likenesses_in(lab, terms, skeleton_of(lab.lab, context));
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return all;
}

/// Writes the fingerprints alone where the command line asks for it.
base::Status keep_digests(const std::string& folder, const std::vector<Compared>& labs) {
  if (folder.empty()) return base::Done{};
  similarity::Digests digests;
  for (const Compared& lab : labs) digests[lab.lab] = lab.fingerprints;
  return base::write_file(fs::path(folder) / similarity::kDigestsFile,
                          similarity::to_text(digests));
}

/// The comments that stand, with the lines that they are about.
base::Result<std::vector<gradebook::LineComment>> comments_of(
    const ReportOptions& options, const std::vector<course::Grade>& grades) {
  const auto standing = ledger::read_comments(options.batch, options.key);
  if (!standing) return standing.error();
  std::vector<gradebook::LineComment> comments;
  for (const ledger::LineComment& one : *standing) {
    gradebook::LineComment& comment = comments.emplace_back();
    comment.student = one.student;
    comment.lab = one.lab;
    comment.line = one.line;
    comment.text = one.text;
    comment.source = queue::line_of_submission(options.batch, one.submission_sha256, one.line);
    comment.is_old = std::none_of(grades.begin(), grades.end(), [&one](const auto& grade) {
      return grade.student == one.student && grade.lab == one.lab &&
             grade.submission_sha256 == one.submission_sha256;
    });
  }
  return comments;
}

/// A table that an earlier call left in the batch; nothing where it did not.
base::Result<std::optional<base::CsvTable>> kept_table(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::optional<base::CsvTable>();
  const auto text = base::read_file(file);
  if (!text) return text.error();
  auto table = base::read_csv(*text, file.string());
  if (!table) return table.error();
  return std::optional(*std::move(table));
}

/// What became of the last requests to look again.
base::Result<std::vector<gradebook::Request>> requests_of(const ReportOptions& options) {
  const auto table = kept_table(fs::path(options.batch) / "regrade-decisions.csv");
  if (!table) return table.error();
  std::vector<gradebook::Request> requests;
  if (!*table) return requests;
  const auto cell = [&](const std::vector<std::string>& row, const char* title) {
    const auto column = (*table)->column(title);
    return column ? row[*column] : std::string();
  };
  for (const auto& row : (*table)->rows)
    requests.push_back(
        {cell(row, "student"), cell(row, "lab"), cell(row, "reason"), cell(row, "decision")});
  return requests;
}

/// Writes who is who where no page is, readable by nobody else.
base::Status keep_pseudonyms(const ReportOptions& options,
                             const std::map<std::string, gradebook::Pseudonym>& people) {
  base::CsvTable table;
  table.header = {"student", "pseudonym", "name", "email"};
  for (const auto& [student, person] : people)
    table.rows.push_back({student, person.shown, person.name, person.email});
  return base::write_durably(fs::path(options.batch) / "pseudonyms.csv",
                             base::write_csv(table, base::CsvReader::kSpreadsheet), "report", 0600);
}

/// Everything that the pages show.
base::Result<gradebook::Class> class_of(const ReportOptions& options, queue::ClassGrades batch,
                                        const Context& context) {
  gradebook::Class all{options.title, std::move(batch.grades), {}, batch.worth};
  all.counting = batch.counting;
  for (const auto& one : batch.forgotten) all.forgotten.push_back({one.lab, one.score});
  std::vector<similarity::Digests> terms;
  for (const std::string& folder : options.against) {
    auto term = earlier_term(folder);
    if (!term) return term.error();
    terms.push_back(*std::move(term));
  }
  const auto labs = compared_labs(all.grades, context);
  all.likenesses = likenesses_of(labs, terms, context);
  const auto kept = keep_digests(options.keep_digests, labs);
  if (!kept) return kept.error();
  auto comments = comments_of(options, all.grades);
  if (!comments) return comments.error();
  all.comments = *std::move(comments);
  auto requests = requests_of(options);
  if (!requests) return requests.error();
  all.requests = *std::move(requests);
  for (const course::Grade& grade : all.grades)
    if (!grade.section.empty()) all.sections[grade.student] = grade.section;
  all.source_line = [folder = fs::path(options.batch)](const std::string& digest, int line) {
    return queue::line_of_submission(folder, digest, line);
  };
  all.write_up = [folder = fs::path(options.batch)](const std::string& digest) {
    return queue::write_up_of_submission(folder, digest);
  };
  return all;
}

base::Status write_pages(const gradebook::Class& all, const fs::path& out) {
  base::Status written = base::Done{};
  const auto write = [&](const gradebook::Page& page) {
    if (written) written = base::write_file(out / page.name, page.html);
  };
  gradebook::for_each_student_page(all, write);
  write(gradebook::class_page(all));
  for (const gradebook::Page& page : gradebook::lab_pages(all)) write(page);
  return written;
}

/// Pages of an earlier call may name who is hidden, or gone, now. Nothing else is touched: FOLDER
/// may hold other files.
void remove_old_pages(const fs::path& out) {
  std::vector<fs::path> old;
  std::error_code error;
  for (const char* folder : {"students", "sections"})
    for (fs::recursive_directory_iterator entry(out / folder, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().extension() == ".html") old.push_back(entry->path());
  for (const fs::path& page : old) fs::remove(page, error);
}

int run_report(const ReportOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  auto batch = queue::read_class(options.batch, options.key, queue::Detail::kShown);
  if (!batch) return report_error(batch.error());
  const std::size_t open = batch->open.size();
  auto all = class_of(options, *std::move(batch), *context);
  if (!all) return report_error(all.error());
  const auto secret = ledger::read_secret(options.batch, options.key, false);
  if (!secret) return report_error(secret.error());
  const fs::path out =
      options.out.empty() ? fs::path(options.batch) / "report" : fs::path(options.out);
  if (options.anonymous) {
    const auto kept = keep_pseudonyms(options, gradebook::make_anonymous(*all, *secret));
    if (!kept) return report_error(kept.error());
  }
  remove_old_pages(out);
  auto written = write_pages(*all, out);
  for (const std::string& section : gradebook::sections_of(*all))
    if (written)
      written = write_pages(gradebook::of_section(*all, section),
                            (out / gradebook::page_of_section(section)).parent_path());
  if (written && (options.leaderboard || options.names)) {
    const auto page = gradebook::leaderboard(
        *all, options.names ? gradebook::Names::kShown : gradebook::Names::kHidden, *secret);
    written = base::write_file(out / page.name, page.html);
  }
  if (!written) return report_error(written.error());
  if (open > 0) report_note(base::counted(open, "row") + " not graded yet and not shown");
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
  command->add_flag("--anonymous", options->anonymous);
  command->add_option("--against", options->against);
  command->add_option("--keep-digests", options->keep_digests);
  command->add_option("--key", options->key);
  command->callback([options, &chosen] { chosen = [options] { return run_report(*options); }; });
}

}  // namespace membound::cli
