// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound check LAB[/STAGE]…
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "grader/base/files.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct CheckOptions : judge::CheckOptions {
  std::vector<std::string> labs;
  std::string json;
  bool has_test = false;
  PageOptions page;
};

/// One line for each lab, where there was more than one.
std::string summary(const std::vector<course::Result>& results, const report::Style& style) {
  if (results.size() < 2) return "";
  std::string text = "\n";
  double points = 0, most = 0;
  for (const course::Result& result : results) {
    const report::Tone tone = result.passed() ? report::Tone::kGood : report::Tone::kBad;
    text += style.sign(tone) + " " + report::padded(result.lab, 24) + " " +
            report::points(result.points()) + " of " + report::points(result.max_points()) + "\n";
    points += result.points();
    most += result.max_points();
  }
  return text + "  " + report::padded("together", 24) + " " + report::points(points) + " of " +
         report::points(most) + "\n";
}

base::Status write_json(const std::string& file, const std::vector<course::Result>& results) {
  const std::string text = course::to_text(results);
  if (file != "-") return base::write_file(file, text);
  std::fputs(text.c_str(), stdout);
  return base::Done{};
}

/// What the terminal shows of the lab's own kernel.cu.
std::string own_text(const Context& context, const course::Result& result) {
  const auto lab = context.course.find(result.lab);
  if (!lab) return report::render(result, context.out, {}, read_source);
  return report::render(with_own_warnings(context, **lab, result), context.out,
                        untouched_stages(context, **lab), read_source, whole_lab(context, **lab));
}

/// Every lab's page.
base::Status make_pages(const Context& context, const CheckOptions& options,
                        const std::vector<course::Selection>& selections,
                        const std::vector<course::Result>& results) {
  for (const course::Result& result : results) {
    for (const course::Selection& selection : selections) {
      if (selection.lab->id != result.lab) continue;
      const std::filesystem::path source = options.submission.empty()
                                               ? context.kernel_of(*selection.lab)
                                               : std::filesystem::path(options.submission);
      const course::Lab& lab = *selection.lab;
      const bool own = options.submission.empty();
      report::PageParts parts;
      parts.lab = whole_lab(context, lab);
      if (own) parts.untouched = untouched_stages(context, lab);
      const auto made =
          make_page(context, options.page, own ? with_own_warnings(context, lab, result) : result,
                    source, std::move(parts));
      if (!made) return made.error();
    }
  }
  return base::Done{};
}

base::Status check_test_name(const std::string& test) {
  if (!test.empty() && test.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                                              "XYZ0123456789_") == std::string::npos)
    return base::Done{};
  return base::Error{base::ErrorKind::kUsage, "--test", "\"" + test + "\"",
                     "the name of one test, like HasTheRightSignature",
                     "membound check LAB/STAGE names them"};
}

/// Whether the test program ran nothing of a stage, as with a name that none of its tests has.
bool ran_nothing(const course::StageResult& stage) {
  return stage.tests.empty() && (stage.verdict == course::Verdict::kSkipped ||
                                 stage.verdict == course::Verdict::kInfraError);
}

/// A stage in which no test has the name, or which could not be run at all.
base::Status check_test_ran(const std::string& test, const course::Result& result) {
  for (const course::StageResult& stage : result.stages)
    if (!test.empty() && ran_nothing(stage))
      return base::Error{
          base::ErrorKind::kUsage, "--test",
          "stage " + std::to_string(stage.stage) + " of " + result.lab + " ran no test " + test,
          "the name of one of its tests",
          "membound check " + result.lab + "/" + std::to_string(stage.stage) +
              " names those that it passes and the first that it fails"};
  return base::Done{};
}

/// Says which files of the course somebody changed: nobody is locked out by them.
void name_changed_files(const Context& context, const std::vector<course::Selection>& selections) {
  std::vector<std::string> folders = {"grader/harness/student"};
  for (const course::Selection& selection : selections)
    folders.push_back("labs/" + selection.lab->id);
  const auto changed = course::changed_files(context.place.root, folders);
  if (changed.empty()) return;
  report_note(report::listed(changed) + (changed.size() == 1 ? " is" : " are") +
              " not as the course has " + (changed.size() == 1 ? "it" : "them") +
              "; the grader uses its own. Put back: ./membound reset --course");
}

/// Whether what is to look on beside our checkers is there, and may look at this device.
base::Status find_sanitizer(const CheckOptions& options, const judge::Tools& tools) {
  if (options.sanitizer.empty()) return base::Done{};
  if (tools.device.kind->has_checkers())
    return base::Error{base::ErrorKind::kUsage, "--sanitizer " + options.sanitizer,
                       tools.device.name + " is no GPU, and compute-sanitizer looks at GPUs alone",
                       "--device gpu",
                       "without --sanitizer our own checkers look on, on the virtual GPU"};
  const char* const path = std::getenv("PATH");
  if (!judge::find_compute_sanitizer(path == nullptr ? "" : path, tools.compiler.program).empty())
    return base::Done{};
  return base::Error{
      base::ErrorKind::kMachine, "compute-sanitizer", "is not there",
      "NVIDIA's program in a folder of $PATH or beside nvcc",
      "install the CUDA toolkit's cuda-sanitizer package; without --sanitizer our own "
      "checkers look on, on the virtual GPU"};
}

int run_check(CheckOptions options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  if (options.labs.empty()) {
    const course::Lab* const here = lab_here(*context);
    if (here == nullptr)
      return report_error({base::ErrorKind::kUsage, "membound check", "LAB is missing",
                           "membound check LAB[/STAGE]…, or a call in a lab's own folder",
                           "membound check " + current_lab(*context).id});
    options.labs = {here->id};
  }
  const auto selections = course::select_all(context->course, options.labs);
  if (!selections) return report_error(selections.error());
  if (!options.submission.empty() && selections->size() != 1) {
    return report_error({base::ErrorKind::kUsage, "--submission",
                         "one file cannot answer " + std::to_string(selections->size()) + " labs",
                         "one lab", "membound check LAB --submission FILE"});
  }
  if (!options.page.html.empty() && selections->size() != 1) {
    return report_error({base::ErrorKind::kUsage, "--html", "one page is for one lab", "one lab",
                         "--open makes a page for each"});
  }
  const auto fits = !options.test.empty() || options.has_test ? check_test_name(options.test)
                                                              : base::Status(base::Done{});
  if (!fits) return report_error(fits.error());
  const auto sized =
      options.size.empty() ? base::Status(base::Done{}) : check_size(options.size, *selections);
  if (!sized) return report_error(sized.error());
  options.trace = options.page.wanted();
  const auto tools = chosen_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  if (const auto known = find_sanitizer(options, *tools); !known)
    return report_error(known.error());
  name_changed_files(*context, *selections);
  const std::atomic<bool>* const stop = catch_interrupts();
  const bool quiet = options.json == "-";
  const LastChecks last_checks(*context, *selections);
  base::Status ran = base::Done{};
  const auto checked =
      check_labs(*context, *tools, options, *selections, stop, [&](const course::Result& result) {
        if (ran) ran = check_test_ran(options.test, result);
        if (quiet || !ran) return;
        const bool own = options.submission.empty();
        std::string text = own ? own_text(*context, result)
                               : report::render(result, context->out, {}, read_source);
        // Another size, or one test alone, is not what the last check measured.
        if (own && options.size.empty() && options.test.empty())
          text += last_checks.changes(result, context->out);
        std::fputs((text + "\n").c_str(), stdout);
        std::fflush(stdout);
      });
  if (!checked) return report_error(checked.error());
  if (!ran) return report_error(ran.error());
  if (!quiet) std::fputs(summary(checked->results, context->out).c_str(), stdout);
  if (checked->stopped) report_note("stopped; stages that had not finished are left out");
  if (!options.json.empty()) {
    const auto written = write_json(options.json, checked->results);
    if (!written) return report_error(written.error());
  }
  if (options.page.wanted()) {
    const auto made = make_pages(*context, options, *selections, checked->results);
    if (!made) return report_error(made.error());
  }
  return exit_code_of(*checked);
}

}  // namespace

void add_check(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* const command = app.add_subcommand("check", "");
  command->add_option("LAB", options->labs);
  add_check_options(*command, *options);
  command->add_option("--submission", options->submission);
  takes_one_of(*command->add_option("--sanitizer", options->sanitizer), {"compute"});
  command->add_option("--json", options->json);
  command->add_option("--test", options->test);
  command->add_option("--size", options->size);
  add_page_options(*command, options->page);
  command->callback([options, command, &chosen] {
    options->has_test = command->count("--test") > 0;
    chosen = [options] { return run_check(*options); };
  });
}

}  // namespace membound::cli
