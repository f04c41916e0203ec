// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound reset LAB: the skeleton back, the student's file kept.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <sstream>
#include <system_error>

#include "grader/base/text_files.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/judge/untouched_skeleton.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

/// .membound/backups/<lab>/kernel-<time>.cu, never an existing file.
base::Result<fs::path> back_up(const Context& context, const course::Lab& lab,
                               const std::string& text) {
  std::string time = judge::utc_now();
  std::erase_if(time, [](char letter) { return letter == '-' || letter == ':'; });
  const fs::path folder = context.place.state / "backups" / lab.id;
  fs::path file = folder / ("kernel-" + time + ".cu");
  std::error_code error;
  for (int i = 2; fs::exists(file, error); ++i)
    file = folder / ("kernel-" + time + "-" + std::to_string(i) + ".cu");
  const auto written = base::write_file(file, text);
  if (!written) return written.error();
  return file;
}

int run_reset(const std::string& word) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto lab = context->course.find(word);
  if (!lab) return report_error(lab.error());
  const fs::path kernel = context->kernel_of(**lab);
  const auto skeleton = judge::find_skeleton(context->place, **lab);
  if (!skeleton) return report_error(skeleton.error());
  const auto old = base::read_file(kernel);
  if (old && *old == *skeleton) {
    std::printf("%s is the skeleton already.\n", kernel.c_str());
    return kExitPassed;
  }
  std::string kept;
  if (old) {
    const auto backup = back_up(*context, **lab, *old);
    if (!backup) return report_error(backup.error());
    kept = backup->string();
  }
  const auto written = base::write_file(kernel, *skeleton);
  if (!written) return report_error(written.error());
  context->states().forget((*lab)->id);
  std::printf("%s is the skeleton again.\n", kernel.c_str());
  if (!kept.empty()) std::printf("Your file is kept: %s\n", kept.c_str());
  return kExitPassed;
}

/// A lab whose skeleton cannot be found builds all the same: `reset` says so when it is needed.
int keep_all() {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  for (const course::Lab& lab : context->course.labs) {
    const auto kept = judge::keep_skeleton(context->place, lab);
    if (!kept) report_note(base::to_string(kept.error()));
  }
  return kExitPassed;
}

}  // namespace

void add_dev_keep_skeletons(CLI::App& dev, Action& chosen) {
  CLI::App* const command = dev.add_subcommand("keep-skeletons", "");
  command->callback([&chosen] { chosen = [] { return keep_all(); }; });
}

void add_reset(CLI::App& app, Action& chosen) {
  auto word = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("reset", "");
  command->add_option("LAB", *word)->required();
  command->callback([word, &chosen] { chosen = [word] { return run_reset(*word); }; });
}

}  // namespace membound::cli
