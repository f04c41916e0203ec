// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound dev figure LAB --line N [-o FILE.svg]: what one instruction asks of memory, as a
/// picture.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/cli/action.hpp"
#include "grader/cli/figure.hpp"
#include "grader/cli/messages.hpp"
#include "grader/course/files.hpp"

namespace membound::cli {
namespace {

struct Options : FigureOptions {
  std::string output;
};

int run(const Options& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto svg = draw_figure(*context, options);
  if (!svg) return report_error(svg.error());
  if (options.output.empty() || options.output == "-") {
    std::fputs(svg->c_str(), stdout);
    return kExitPassed;
  }
  const auto written = course::write_file(options.output, *svg);
  return written ? kExitPassed : report_error(written.error());
}

}  // namespace

void add_dev_figure(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* const command = dev.add_subcommand("figure", "");
  add_figure_options(*command, *options);
  command->add_option("-o,--output", options->output);
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace membound::cli
