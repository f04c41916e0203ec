// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound selftest --attack: does this installation withstand the corpus of attacks, and does it
/// refuse no honest submission?
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/selftest/corpus.hpp"
#include "grader/classroom/selftest/run_case.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/judge/device_lock.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCorpora[] = {"grader/tests/attacks", "grader/tests/honest"};

struct SelftestOptions {
  bool attack = false, table = false;
  std::string show, filter, device, compiler;
  int jobs = 2;
};

std::string expectation(const selftest::Workbench& bench, const selftest::Case& one) {
  std::string text;
  const std::string compiler(compilers::to_string(bench.compiler.kind));
  for (const std::string& word : selftest::expected_of(one, compiler, bench.device.name))
    base::add_word(text, word, " | ");
  return text;
}

std::string row(const selftest::Workbench& bench, const selftest::Case& one,
                const selftest::CaseOutcome& outcome) {
  return report::padded(one.kind == selftest::CaseKind::kGpu ? "GPU"
                        : outcome.not_run                    ? "--"
                        : outcome.as_expected                ? "ok"
                                                             : "BAD",
                        5) +
         report::padded(one.id, 34) + report::padded(expectation(bench, one), 30) +
         report::padded(outcome.got, 16) + one.defence + "\n";
}

/// Takes cases off one list with several threads; prints each row when it is done.
class Table {
 public:
  Table(const selftest::Workbench& bench, const std::vector<selftest::Case>& cases)
      : bench_(bench), cases_(cases) {}

  bool run(int jobs) {
    std::vector<std::thread> threads;
    for (int i = 0; i < jobs; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    std::printf("%s, %d not as expected, %d not run\n",
                base::counted(cases_.size(), "case").c_str(), bad_, not_run_);
    if (bad_ != 0) return false;
    if (jail::probe().untrusted_ok()) return true;
    const auto untried = std::count_if(cases_.begin(), cases_.end(), selftest::needs_jail);
    if (untried == 0) return true;
    std::printf(
        "Nothing failed, but %td cases need a jail, and this machine can make none\n"
        "  try: sudo apt-get install bubblewrap, and allow user namespaces\n",
        untried);
    return false;
  }

 private:
  void work() {
    for (std::size_t i = 0; (i = next_++) < cases_.size();) {
      if (bench_.stop != nullptr && bench_.stop->load()) return;
      const selftest::Case& one = cases_[i];
      const auto outcome = selftest::run_case(bench_, one);
      const std::lock_guard lock(mutex_);
      selftest::CaseOutcome shown = outcome ? *outcome : selftest::CaseOutcome{};
      if (!outcome) shown.got = "OUR FAULT";
      if (!outcome) shown.detail = base::to_string(outcome.error());
      std::fputs(row(bench_, one, shown).c_str(), stdout);
      if (shown.not_run) {
        ++not_run_;
      } else if (!shown.as_expected) {
        ++bad_;
        std::printf("     %s\n", base::printable(shown.detail).c_str());
      }
      std::fflush(stdout);
    }
  }

  const selftest::Workbench& bench_;
  const std::vector<selftest::Case>& cases_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  int bad_ = 0, not_run_ = 0;
};

int run_selftest(const SelftestOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  judge::CheckOptions check;
  check.device = options.device;
  check.compiler = options.compiler;
  const auto tools = judge::choose_tools(context->place, check);
  if (!tools) return report_error(tools.error());
  const base::ScratchFolder scratch("selftest");
  selftest::Workbench bench;
  bench.root = context->place.root;
  bench.build = context->place.build;
  bench.scratch = scratch.path();
  bench.compiler = tools->compiler;
  bench.device = tools->device;
  const auto prepared = selftest::prepare(bench);
  if (!prepared) return report_error(prepared.error());
  std::vector<selftest::Case> cases;
  for (const char* folder : kCorpora) {
    auto some = selftest::read_corpus(bench.root / folder);
    if (!some) return report_error(some.error());
    for (selftest::Case& one : *some)
      if (one.id.find(options.filter) != std::string::npos) cases.push_back(std::move(one));
  }
  std::printf("%s; %s\n", jail::probe().describe().c_str(), tools->compiler.name().c_str());
  const bool passed = Table(bench, cases).run(options.jobs);
  judge::wipe_devices(context->place, {bench.device});
  return passed ? kExitPassed : kExitNotPassed;
}

int print_table() {
  const auto root = course_root();
  if (!root) return report_error(root.error());
  for (const char* folder : kCorpora) {
    const auto cases = selftest::read_corpus(*root / folder);
    if (!cases) return report_error(cases.error());
    std::fputs((selftest::markdown_table(*cases) + "\n").c_str(), stdout);
  }
  return kExitPassed;
}

int show_submission(const std::string& id) {
  const auto root = course_root();
  if (!root) return report_error(root.error());
  for (const char* folder : kCorpora) {
    const fs::path file = *root / folder / (id + ".case");
    if (!fs::exists(file)) continue;
    const auto one = selftest::read_case(file);
    if (!one) return report_error(one.error());
    std::fwrite(one->submission.data(), 1, one->submission.size(), stdout);
    return kExitPassed;
  }
  return report_error({base::ErrorKind::kInput, "--show " + id, "no case has this name",
                       "a name of `membound selftest --table`", ""});
}

}  // namespace

void add_selftest(CLI::App& app, Action& chosen) {
  auto* const command = app.add_subcommand("selftest", "");
  const auto options = std::make_shared<SelftestOptions>();
  auto* const what = command->add_option_group("what");
  what->add_flag("--attack", options->attack, "");
  what->add_flag("--table", options->table, "");
  what->add_option("--show", options->show, "");
  what->require_option(1);
  command->add_option("--filter", options->filter, "");
  command->add_option("--device", options->device, "");
  takes_one_of(*command->add_option("--compiler", options->compiler, ""), {"nvcc", "clang"});
  takes_whole(*command->add_option("--jobs", options->jobs, ""), 1, 64);
  command->callback([options, &chosen] {
    chosen = [options] {
      if (!options->show.empty()) return show_submission(options->show);
      return options->table ? print_table() : run_selftest(*options);
    };
  });
}

}  // namespace membound::cli
