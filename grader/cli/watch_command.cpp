// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound watch [LAB[/STAGE]]: one loop over two kinds of events, a saved file and a pressed key.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/cli/action.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/file_watch.hpp"
#include "grader/cli/hinting.hpp"
#include "grader/cli/interrupt.hpp"
#include "grader/cli/keyboard.hpp"
#include "grader/cli/lab_listing.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct WatchOptions : judge::CheckOptions {
  std::string lab;
};

/// Editors save in several steps; what comes within this time belongs to one save.
constexpr int kSettleMs = 60;

class Watcher {
 public:
  Watcher(const Context& context, const WatchOptions& options, const course::Lab& lab, int stage,
          const judge::Tools& tools, const FileWatch& file)
      : context_(context),
        options_(options),
        lab_(lab),
        stage_(stage),
        tools_(tools),
        file_(file),
        stop_(catch_interrupts()) {}

  int run() {
    check({stage_});
    while (!stop_->load() && !done_) wait();
    if (keyboard_.is_terminal()) print("\n");
    return stop_->load() ? kExitInterrupted : kExitPassed;
  }

 private:
  static void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  void wait() {
    pollfd entries[] = {{file_.descriptor(), POLLIN, 0}, {keyboard_.descriptor(), POLLIN, 0}};
    if (poll(entries, 2, -1) < 0) return;  // a signal
    if ((entries[0].revents & POLLIN) != 0) {
      bool saved = file_.take_events();
      while (poll(entries, 1, kSettleMs) > 0) saved = file_.take_events() || saved;
      if (saved) check({stage_});
    }
    if ((entries[1].revents & (POLLIN | POLLHUP)) != 0) press(keyboard_.read_key());
  }

  void press(char key) {
    switch (key) {
      case 'n':
        next();
        break;
      case 'h':
        hint();
        break;
      case 'l':
        print("\n" + lab_listing(context_, lab_));
        keys();
        break;
      case 'c':
        check(all_stages());
        break;
      case 'r':
        check({stage_});
        break;
      case 'q':
      case '\0':  // the terminal is gone
        done_ = true;
        break;
      default:
        keys();
    }
  }

  void next() {
    if (lab_.stage(stage_ + 1) == nullptr) {
      print("\nThis is the last stage of the lab.\n");
      keys();
      return;
    }
    ++stage_;
    check({stage_});
  }

  void hint() {
    const auto text = hint_text(context_, lab_, *lab_.stage(stage_));
    if (text) {
      print("\n" + *text);
    } else {
      report_error(text.error());
    }
    keys();
  }

  [[nodiscard]] std::vector<int> all_stages() const {
    std::vector<int> numbers;
    for (const course::Stage& stage : lab_.stages) numbers.push_back(stage.number);
    return numbers;
  }

  void check(const std::vector<int>& stages) {
    if (context_.out_is_terminal) print("\033[H\033[2J\033[3J");
    const auto checked = check_labs(
        context_, tools_, options_, {{&lab_, stages}}, stop_,
        [&](const course::Result& result) { print(report::render(result, context_.out)); });
    if (!checked) report_error(checked.error());
    if (checked && !checked->stopped) keys();
  }

  void keys() const {
    const std::string stage = lab_.id + "/" + std::to_string(stage_);
    if (!keyboard_.is_terminal()) {
      print("waiting for changes of " + context_.kernel_of(lab_).string() + "\n");
      return;
    }
    print("\n" +
          context_.out.paint(
              "watching " + stage + "   n next  h hint  l list  c check all  r run again  q quit",
              report::Tone::kFaint) +
          "\n");
  }

  const Context& context_;
  const WatchOptions& options_;
  const course::Lab& lab_;
  int stage_;
  const judge::Tools& tools_;
  const FileWatch& file_;
  const std::atomic<bool>* stop_;
  Keyboard keyboard_;
  bool done_ = false;
};

int run_watch(const WatchOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab* lab = &current_lab(*context);
  int stage = 0;
  if (!options.lab.empty()) {
    const auto selection = course::select(context->course, options.lab);
    if (!selection) return report_error(selection.error());
    lab = selection->lab;
    if (options.lab.find('/') != std::string::npos) stage = selection->stages.front();
  }
  if (stage == 0) stage = current_stage(*context, *lab);
  const auto tools = judge::choose_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  const auto file = FileWatch::on(context->kernel_of(*lab));
  if (!file) return report_error(file.error());
  return Watcher(*context, options, *lab, stage, *tools, *file).run();
}

}  // namespace

void add_watch(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* const command = app.add_subcommand("watch", "");
  command->add_option("LAB", options->lab);
  add_check_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_watch(*options); }; });
}

}  // namespace membound::cli
