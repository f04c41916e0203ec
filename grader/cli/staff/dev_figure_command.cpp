// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound dev figure LAB --line N [-o FILE.svg]: what one instruction asks of memory, as a
/// picture.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/authoring/figure.hpp"
#include "grader/base/text_files.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/error_output.hpp"

namespace membound::cli {
namespace {

struct DevFigureOptions : authoring::FigureOptions {
  std::string output;
};

int run_dev_figure(const DevFigureOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto svg = authoring::draw_figure(context->place, context->course, options);
  if (!svg) return report_error(svg.error());
  if (options.output.empty() || options.output == "-") {
    std::fputs(svg->c_str(), stdout);
    return kExitPassed;
  }
  const auto written = base::write_file(options.output, *svg);
  return written ? kExitPassed : report_error(written.error());
}

}  // namespace

void add_dev_figure(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevFigureOptions>();
  CLI::App* const command = dev.add_subcommand("figure", "");
  authoring::add_figure_options(*command, *options);
  command->add_option("-o,--output", options->output);
  command->callback(
      [options, &chosen] { chosen = [options] { return run_dev_figure(*options); }; });
}

}  // namespace membound::cli
