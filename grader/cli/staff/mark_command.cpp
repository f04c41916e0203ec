// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a person decides and says about a student's work: membound mark STUDENT LAB --points N,
/// mark --csv FILE, comment STUDENT LAB:LINE TEXT; and forget STUDENT.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/queue/batch.hpp"
#include "grader/classroom/queue/hand_marks.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct MarkOptions {
  std::string lab, csv;
  queue::MarkRow row;
  queue::MarkRequest request;
  bool take_back = false;
};

/// The one row of the command line.
base::Result<queue::MarkRow> row_of(const MarkOptions& options, const Context& context) {
  const int asked =
      (options.take_back ? 1 : 0) + (options.row.excused ? 1 : 0) + (options.row.points ? 1 : 0);
  if (options.row.student.empty() || options.lab.empty())
    return base::Error{base::ErrorKind::kUsage, "STUDENT and LAB", "are missing",
                       "a student and a lab, or --csv FILE", "membound mark --help"};
  if (asked != 1)
    return base::Error{base::ErrorKind::kUsage, "--points",
                       asked == 0 ? "is missing" : "beside --excuse or --take-back",
                       "one of --points, --excuse and --take-back", "membound mark --help"};
  const auto selection = course::select(context.course, options.lab);
  if (!selection) return selection.error();
  queue::MarkRow row = options.row;
  row.lab = selection->lab->id;
  if (options.lab.find('/') == std::string::npos) return row;
  if (selection->stages.size() != 1)
    return base::Error{base::ErrorKind::kUsage, options.lab, "means several stages",
                       "a lab, or one stage of it", "mark them one by one, or with --csv"};
  row.stage = selection->stages.front();
  if (!row.item.empty())
    return base::Error{base::ErrorKind::kUsage, "--item", row.item + " beside a stage",
                       "one or the other", "the lab alone: " + row.lab};
  return row;
}

int run_mark(MarkOptions options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  if (options.csv.empty()) {
    auto row = row_of(options, *context);
    if (!row) return report_error(row.error());
    options.request.rows = {*std::move(row)};
  } else {
    if (!options.row.student.empty() || options.row.points || options.row.excused ||
        options.take_back)
      return report_error({base::ErrorKind::kUsage, "--csv", "beside a mark of its own",
                           "one or the other", "leave STUDENT, LAB and --points out"});
    const auto text = base::read_file(options.csv);
    if (!text) return report_error(text.error());
    auto rows = queue::read_marks_table(*text, options.csv, context->course.labs);
    if (!rows) return report_error(rows.error());
    options.request.rows = *std::move(rows);
  }
  const auto grades = queue::mark_by_hand(options.request);
  if (!grades) return report_error(grades.error());
  for (const course::Grade& grade : *grades)
    std::printf("%s, %s: %s of %s points; %s\n", course::shown_student(grade).c_str(),
                grade.lab.c_str(),
                grade.score     ? report::points(*grade.score).c_str()
                : grade.excused ? "excused"
                                : "withheld",
                report::points(grade.max_score).c_str(), grade.note.c_str());
  return kExitPassed;
}

struct CommentOptions {
  std::string place;
  queue::CommentRequest request;
  bool take_back = false;
};

int run_comment(CommentOptions options) {
  if (options.take_back != options.request.text.empty())
    return report_error({base::ErrorKind::kUsage, "TEXT",
                         options.take_back ? "beside --take-back" : "is missing", "one of both",
                         "membound comment --help"});
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto colon = options.place.rfind(':');
  const char* const end = options.place.data() + options.place.size();
  int& line = options.request.line;
  if (colon == std::string::npos ||
      std::from_chars(options.place.data() + colon + 1, end, line).ptr != end || line < 1)
    return report_error({base::ErrorKind::kUsage, options.place, "names no line",
                         "a lab and a line of kernel.cu, as in transpose:24", ""});
  const auto lab = context->course.find(options.place.substr(0, colon));
  if (!lab) return report_error(lab.error());
  options.request.lab = (*lab)->id;
  const auto commented = queue::comment_line(options.request);
  if (!commented) return report_error(commented.error());
  std::printf("%s:%d: %s\n", options.request.lab.c_str(), line, commented->c_str());
  return kExitPassed;
}

int run_forget(const queue::ForgetRequest& request) {
  const auto found = queue::forget_student(request);
  if (!found) return report_error(found.error());
  std::printf(
      "forgotten: %s, %s and %s that were nobody else's; %s\n",
      base::counted(found->rows, "row").c_str(), base::counted(found->verdicts, "verdict").c_str(),
      base::counted(found->texts, "text").c_str(), "pages and exports are removed: make them anew");
  for (const std::string& path : found->cleaned)
    std::printf("taken out of what was handed in: %s\n", path.c_str());
  for (const std::string& path : found->outside)
    std::printf("still names the person, and is yours to change: %s\n", path.c_str());
  return kExitPassed;
}

}  // namespace

void add_mark(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<MarkOptions>();
  CLI::App* const command = app.add_subcommand("mark", "");
  command->add_option("STUDENT", options->row.student);
  command->add_option("LAB", options->lab);
  command->add_option("--out", options->request.out)->required();
  takes_number(*command->add_option("--points", options->row.points), 0, 1e6);
  command->add_option("--item", options->row.item);
  command->add_option("--comment", options->row.comment);
  command->add_flag("--excuse", options->row.excused);
  command->add_flag("--take-back", options->take_back);
  command->add_option("--csv", options->csv);
  command->add_option("--key", options->request.key_file);
  command->callback([options, &chosen] { chosen = [options] { return run_mark(*options); }; });
}

void add_comment(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<CommentOptions>();
  CLI::App* const command = app.add_subcommand("comment", "");
  command->add_option("STUDENT", options->request.student)->required();
  command->add_option("PLACE", options->place)->required();
  command->add_option("TEXT", options->request.text);
  command->add_option("--out", options->request.out)->required();
  command->add_flag("--take-back", options->take_back);
  command->add_option("--key", options->request.key_file);
  command->callback([options, &chosen] { chosen = [options] { return run_comment(*options); }; });
}

void add_forget(CLI::App& app, Action& chosen) {
  auto request = std::make_shared<queue::ForgetRequest>();
  CLI::App* const command = app.add_subcommand("forget", "");
  command->add_option("STUDENT", request->student)->required();
  command->add_option("--out", request->out)->required();
  command->add_flag("--keep-archives", request->keep_archives);
  command->add_option("--key", request->key_file);
  command->callback([request, &chosen] { chosen = [request] { return run_forget(*request); }; });
}

}  // namespace membound::cli
