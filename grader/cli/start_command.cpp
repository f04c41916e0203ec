// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound alone: what this is, where you are, the next command. And membound start: the first
/// stage that has not passed of the first lab, in ten lines, an editor, a check at each save.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

/// One command of the first screen and what it is for.
struct Offer {
  std::string command, purpose;
};

bool any_passed(const Context& context) {
  return std::ranges::any_of(context.course.labs, [&](const course::Lab& lab) {
    return std::ranges::any_of(standings_of(context, lab),
                               [](const Standing& one) { return one.passed(); });
  });
}

/// "You are at 03-transpose/2, One thread per element (too slow)." and the points.
std::string where_you_are(const Context& context, const course::Lab& lab, int stage) {
  double points = 0, most = 0;
  bool all = true;
  for (const course::Lab& each : context.course.labs) {
    for (const Standing& standing : standings_of(context, each)) {
      points += standing.state.best_points;
      all = all && standing.passed();
    }
    most += each.max_points();
  }
  const std::string sum = report::points(points) + " of " + report::points(most) + " points.";
  if (all) return "Every stage has passed: " + sum;
  const Standing standing = standings_of(context, lab)[static_cast<std::size_t>(stage - 1)];
  return "You are at " + lab.id + "/" + std::to_string(stage) + ", " + lab.stage(stage)->title +
         " (" + standing.words() + "): " + sum;
}

/// The lines of "// Task" in the head of a stage, without their marks.
std::vector<std::string> task_of(const std::string& stage_text) {
  constexpr std::string_view kTask = "// Task ";
  std::vector<std::string> task;
  std::istringstream lines(stage_text);
  for (std::string line; std::getline(lines, line);) {
    if (task.empty() ? !line.starts_with(kTask) : !line.starts_with("//  ")) {
      if (!task.empty()) break;
      continue;
    }
    const auto begin = line.find_first_not_of(' ', task.empty() ? kTask.size() : 2);
    if (begin != std::string::npos) task.push_back(line.substr(begin));
  }
  return task;
}

/// Of an editor: the program, and whether it has a window of its own.
struct Editor {
  std::vector<std::string> words;
  bool has_window = false;
};

bool is_there(const std::string& program) {
  const char* const path = std::getenv("PATH");
  return program.find('/') != std::string::npos
             ? access(program.c_str(), X_OK) == 0
             : !base::find_in_path(program, path == nullptr ? "" : path).empty();
}

/// $VISUAL, $EDITOR, then VS Code; no words where none of them is there.
Editor find_editor() {
  static constexpr std::string_view kWindows[] = {"code", "codium", "gedit", "kate",
                                                  "subl", "zed",    "gvim",  "gnome-text-editor"};
  for (const char* variable : {"VISUAL", "EDITOR", ""}) {
    const char* const value = *variable != '\0' ? std::getenv(variable) : "code";
    if (value == nullptr) continue;
    Editor editor;
    std::istringstream words(value);
    for (std::string word; words >> word;) editor.words.push_back(word);
    if (editor.words.empty() || !is_there(editor.words.front())) continue;
    const std::string name = std::filesystem::path(editor.words.front()).filename();
    editor.has_window = std::ranges::find(kWindows, name) != std::end(kWindows);
    return editor;
  }
  return {};
}

/// Opens `file` at `line`. An editor in the terminal is waited for; one with a window is not, and
/// what it prints does not mix with ours.
bool open_editor(Editor editor, const std::filesystem::path& file, int line) {
  const std::string name = std::filesystem::path(editor.words.front()).filename();
  if (name == "code" || name == "codium") {
    editor.words.insert(editor.words.end(), {"-g", file.string() + ":" + std::to_string(line)});
  } else {
    if (!editor.has_window) editor.words.push_back("+" + std::to_string(line));
    editor.words.push_back(file.string());
  }
  std::vector<char*> arguments;
  for (std::string& word : editor.words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (editor.has_window)
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  if (!editor.has_window) waitpid(child, &status, 0);
  return true;
}

/// The first stage of the first lab that has not passed; the first lab's first where all have.
const course::Stage& first_open(const Context& context, const course::Lab& lab) {
  return *lab.stage(current_stage(context, lab));
}

bool is_writable(const Context& context, const course::Lab& lab) {
  return access(context.kernel_of(lab).c_str(), W_OK) == 0;
}

/// Ten lines: what is to be done, where, and what happens then.
std::string introduction(const Context& context, const course::Lab& lab, const course::Stage& stage,
                         int line) {
  const report::Style& style = context.out;
  const std::string number = lab.id.substr(0, lab.id.find('-'));
  std::string text =
      style.paint("Lab " + number + ", stage " + std::to_string(stage.number) + " of " +
                      std::to_string(lab.stages.size()) + ": " + stage.title,
                  report::Tone::kStrong) +
      "\n";
  if (const auto kernel = base::read_file(context.kernel_of(lab))) {
    const std::string task = base::joined(task_of(course::stage_text(*kernel, stage.number)), " ");
    if (!task.empty()) text += report::wrapped(task, style.width, 9).replace(2, 4, "task");
  }
  text += "  file   " + context.shown_kernel_of(lab) + ", line " + std::to_string(line) +
          ": the first TODO\n";
  text += "  read   ./membound handout " + lab.id + ", when you want to know more\n";
  if (!is_writable(context, lab))
    return text +
           report::wrapped(
               "This file cannot be written here: copy the course to a folder of your own first.",
               style.width, 0);
  text += "Write the line, save: each save is checked, and the next stage follows a pass.\n";
  return text;
}

/// Asks for a key that begins what `offer` says; false where the student stops.
bool goes_on(const std::string& offer) {
  std::printf("%s, q and Enter stops: ", offer.c_str());
  std::fflush(stdout);
  const int key = std::getchar();
  for (int rest = key; rest != '\n' && rest != EOF;) rest = std::getchar();
  return key != 'q' && key != EOF;
}

/// Edits and checks in turn, in one terminal, until the stages have passed or the student stops.
int edit_and_check(const Context& context, const judge::CheckOptions& options,
                   const course::Lab& lab, const Editor& editor) {
  for (;;) {
    const course::Stage& stage = first_open(context, lab);
    if (!open_editor(editor, context.kernel_of(lab), line_to_edit(context, lab, stage)))
      return report_error({base::ErrorKind::kMachine, editor.words.front(), "does not start",
                           "an editor in $VISUAL or $EDITOR", "./membound watch " + lab.id});
    if (untouched_stages(context, lab).contains(stage.number)) {
      std::puts("Nothing was changed in this stage, so nothing was checked.");
      if (!goes_on("Enter opens the editor again")) return kExitPassed;
      continue;
    }
    const auto tools = chosen_tools(context.place, options);
    if (!tools) return report_error(tools.error());
    const auto checked = check_labs(
        context, *tools, options, {{&lab, {stage.number}}}, catch_interrupts(),
        [&](const course::Result& result) {
          std::fputs(
              report::render_one(with_own_warnings(context, lab, result), context.out, read_source)
                  .c_str(),
              stdout);
        });
    if (!checked) return report_error(checked.error());
    if (checked->stopped) return kExitInterrupted;
    const course::Stage& next = first_open(context, lab);
    if (context.states().read(lab.id, next.number).ever_passed) return kExitPassed;
    if (next.number != stage.number)
      std::fputs(
          ("\n" + introduction(context, lab, next, line_to_edit(context, lab, next))).c_str(),
          stdout);
    if (!goes_on("Enter opens the editor again")) return kExitPassed;
  }
}

int run_start(const judge::CheckOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab& lab = context->course.labs.front();
  const course::Stage& stage = first_open(*context, lab);
  const int line = std::max(1, line_to_edit(*context, lab, stage));
  std::fputs(introduction(*context, lab, stage, line).c_str(), stdout);
  std::fflush(stdout);
  if (!is_writable(*context, lab)) return kExitOurFault;
  if (!context->out_is_terminal || isatty(STDIN_FILENO) == 0) {
    std::printf("Next: ./membound watch %s\n", lab.id.c_str());
    return kExitPassed;
  }
  const Editor editor = find_editor();
  if (!editor.words.empty() && !editor.has_window) {
    return goes_on("Enter opens " + editor.words.front() + " at that line")
               ? edit_and_check(*context, options, lab, editor)
               : kExitPassed;
  }
  if (editor.words.empty() || !open_editor(editor, context->kernel_of(lab), line))
    std::puts("Open that file in your editor: none is named by $VISUAL or $EDITOR.");
  return goes_on("Enter starts the watch") ? watch_stage(*context, options, lab, stage.number)
                                           : kExitPassed;
}

}  // namespace

int show_first_screen() {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab& lab = current_lab(*context);
  const int stage = current_stage(*context, lab);
  const std::string number = lab.id.substr(0, lab.id.find('-'));
  const bool begun = any_passed(*context);
  std::vector<Offer> offers;
  if (!begun) offers.push_back({"start", "your first kernel, step by step"});
  offers.insert(offers.end(),
                {{"next", "what to read, which line to edit"},
                 {"handout " + number, "the text to read before the lab"},
                 {"watch " + number, "checks each time you save"},
                 {"check " + number + "/" + std::to_string(stage), "checks one stage once"},
                 {"hint", "a nudge that follows from the last check"},
                 {"progress", "how far you are with every lab"},
                 {"hand-in " + number, "the lab as one file to upload"},
                 {"doctor", "what this machine can do"},
                 {"help", "every command"}});
  std::string text = context->out.paint("Membound", report::Tone::kStrong) +
                     ": a CUDA lab course that grades itself.\n";
  text += report::wrapped(where_you_are(*context, lab, stage), context->out.width, 0) + "\n";
  for (const Offer& offer : offers)
    text += "  " + report::padded("./membound " + offer.command, 26) + offer.purpose + "\n";
  text += "\nNext: ./membound " + std::string(begun ? "next" : "start") + "\n";
  std::fputs(text.c_str(), stdout);
  return kExitPassed;
}

void add_start(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<judge::CheckOptions>();
  CLI::App* const command = app.add_subcommand("start", "");
  add_check_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_start(*options); }; });
}

}  // namespace membound::cli
