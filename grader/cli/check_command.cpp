// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound check LAB[/STAGE]…
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <set>

#include "grader/base/text_files.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/interrupt.hpp"
#include "grader/cli/last_checks.hpp"
#include "grader/cli/page.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct CheckOptions : judge::CheckOptions {
  std::vector<std::string> labs;
  std::string json;
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

std::set<int> untouched_in(const Context& context, const course::Result& result) {
  const auto lab = context.course.find(result.lab);
  return lab ? untouched_stages(context, **lab) : std::set<int>();
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
      const auto made = make_page(context, options.page, result, source);
      if (!made) return made.error();
    }
  }
  return base::Done{};
}

int run_check(CheckOptions options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
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
  options.trace = options.page.wanted();
  const auto tools = judge::choose_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  const std::atomic<bool>* const stop = catch_interrupts();
  const bool quiet = options.json == "-";
  const LastChecks last_checks(*context, *selections);
  const auto checked =
      check_labs(*context, *tools, options, *selections, stop, [&](const course::Result& result) {
        if (quiet) return;
        const bool own = options.submission.empty();
        std::string text = report::render(result, context->out,
                                          own ? untouched_in(*context, result) : std::set<int>());
        if (own) text += last_checks.changes(result, context->out);
        std::fputs((text + "\n").c_str(), stdout);
        std::fflush(stdout);
      });
  if (!checked) return report_error(checked.error());
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
  command->add_option("LAB", options->labs)->required();
  add_check_options(*command, *options);
  command->add_option("--submission", options->submission);
  command->add_option("--json", options->json);
  add_page_options(*command, options->page);
  command->callback([options, &chosen] { chosen = [options] { return run_check(*options); }; });
}

}  // namespace membound::cli
