// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound dev ptx FILE: the instructions of each kernel, by source line.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/authoring/ptx_listing.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/page.hpp"

namespace membound::cli {
namespace {

struct DevPtxOptions {
  std::string file, kernel;
};

int run_dev_ptx(const DevPtxOptions& options) {
  const auto listing = authoring::list_code(options.file, options.kernel, read_source);
  if (!listing) return report_error(listing.error());
  std::fputs(listing->c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_dev_ptx(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevPtxOptions>();
  CLI::App* const command = dev.add_subcommand("ptx", "");
  command->add_option("FILE", options->file)->required();
  command->add_option("--kernel", options->kernel);
  command->callback([options, &chosen] { chosen = [options] { return run_dev_ptx(*options); }; });
}

}  // namespace membound::cli
