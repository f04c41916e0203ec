// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound reset LAB[/STAGE]: the skeleton back, whole or a stage of it, the student's file kept;
/// --undo takes the kept file instead; --course puts back what is not the student's to change.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/workplace.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct ResetOptions {
  std::string word;
  bool undo = false;
  bool course = false;
};

/// What a call is about.
struct Target {
  const course::Lab* lab = nullptr;
  fs::path kernel;          ///< the student's file
  std::vector<int> stages;  ///< empty: the whole file
  std::string name;         ///< "labs/03-transpose/kernel.cu", with the stages in front
};

fs::path backups_of(const Context& context, const course::Lab& lab) {
  return context.place.state / "backups" / lab.id;
}

/// The kept files, newest first: their names hold the time.
std::vector<fs::path> kept_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    files.push_back(entry->path());
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return a.stem() > b.stem(); });
  return files;
}

/// Into kernel-<time>.cu, never an existing file.
base::Result<fs::path> keep(const fs::path& folder, const std::string& text) {
  std::string time = judge::utc_now();
  std::erase_if(time, [](char letter) { return letter == '-' || letter == ':'; });
  fs::path file = folder / ("kernel-" + time + ".cu");
  std::error_code error;
  for (int i = 2; fs::exists(file, error); ++i)
    file = folder / ("kernel-" + time + (i < 10 ? "-0" : "-") + std::to_string(i) + ".cu");
  const auto written = base::write_file(file, text);
  if (!written) return written.error();
  return file;
}

base::Error no_head(const Target& target, int stage) {
  const std::string head = "// Stage " + std::to_string(stage);
  return {base::ErrorKind::kInput, target.kernel.string(),
          "does not have the line \"" + head +
              ": …\" exactly once, so where this stage stands is "
              "not known",
          "the heads of all stages as the skeleton has them",
          "put it back, or ./membound reset " + target.lab->id + " for the whole file"};
}

/// The student's text with what the call is about taken from `source`. Of a stage only its part of
/// kernel.cu is: what stands in files beside it stays.
base::Result<std::string> taken_from(const std::string& source, const std::string& text,
                                     const Target& target) {
  if (target.stages.empty()) return source;
  course::SplitSubmission whole = course::split_submission(text);
  const std::string kernel = course::split_submission(source).kernel;
  for (const int stage : target.stages) {
    auto with = course::with_stage_of(whole.kernel, kernel, stage);
    if (!with) return no_head(target, stage);
    whole.kernel = *std::move(with);
  }
  return course::joined_submission(whole.kernel, whole.beside);
}

/// Writes each of the lab's files that `text` holds.
base::Status write_files(const Target& target, const std::string& text) {
  const course::SplitSubmission split = course::split_submission(text);
  for (const std::string& name : target.lab->files_beside()) {
    const auto file = split.beside.find(name);
    if (file == split.beside.end()) continue;
    const auto written = base::write_file(target.kernel.parent_path() / name, file->second);
    if (!written) return written;
  }
  return base::write_file(target.kernel, split.kernel);
}

/// The numbers of the stages that the call is about.
std::vector<int> stages_of(const Target& target) {
  if (!target.stages.empty()) return target.stages;
  std::vector<int> all;
  for (const course::Stage& stage : target.lab->stages) all.push_back(stage.number);
  return all;
}

int put_skeleton_back(const Context& context, const Target& target, const std::string& word) {
  const auto skeleton = judge::find_skeleton(context.place, *target.lab);
  if (!skeleton) return report_error(skeleton.error());
  const auto old = course::read_submission(target.kernel, *target.lab);
  const auto text = old ? taken_from(*skeleton, *old, target) : base::Result(*skeleton);
  if (!text) return report_error(text.error());
  if (old && *old == *text) {
    std::printf("%s: the skeleton already.\n", target.name.c_str());
    return kExitPassed;
  }
  std::string kept;
  if (old) {
    const auto backup = keep(backups_of(context, *target.lab), *old);
    if (!backup) return report_error(backup.error());
    kept = backup->string();
  }
  const auto written = write_files(target, *text);
  if (!written) return report_error(written.error());
  for (const int stage : stages_of(target)) context.states().forget(target.lab->id, stage);
  std::printf("%s: the skeleton again.\n", target.name.c_str());
  if (!kept.empty())
    std::printf("Your file is kept: %s\nBack with: ./membound reset %s --undo\n", kept.c_str(),
                word.c_str());
  return kExitPassed;
}

/// Whether one of `files` has this text.
bool is_kept(const std::vector<fs::path>& files, const std::string& text) {
  return std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    const auto other = base::read_file(file);
    return other && *other == text;
  });
}

int put_own_back(const Context& context, const Target& target) {
  const fs::path folder = backups_of(context, *target.lab);
  const auto files = kept_files(folder);
  const auto old = course::read_submission(target.kernel, *target.lab);
  for (const fs::path& file : files) {
    const auto backup = base::read_file(file);
    if (!backup) return report_error(backup.error());
    const auto text = taken_from(*backup, old ? *old : *backup, target);
    if (!text) return report_error(text.error());
    if (old && *text == *old) continue;
    const auto skeleton = judge::find_skeleton(context.place, *target.lab);
    if (old && !(skeleton && *skeleton == *old) && !is_kept(files, *old)) {
      const auto kept = keep(folder, *old);
      if (!kept) return report_error(kept.error());
    }
    const auto written = write_files(target, *text);
    if (!written) return report_error(written.error());
    for (const int stage : stages_of(target)) context.states().bring_back(target.lab->id, stage);
    std::printf("%s: as in %s\n", target.name.c_str(), file.c_str());
    return kExitPassed;
  }
  return report_error({base::ErrorKind::kUsage, folder.string(),
                       "no file is kept here that differs from yours",
                       "one that membound reset kept, which it does each time", ""});
}

/// A file of the course, not a student's own: by git where the tree has no copies of its own.
struct CourseFile {
  std::string name;  ///< from the root
  std::string text;  ///< as the course has it
};

base::Result<std::string> git(const fs::path& root, std::vector<std::string> words) {
  constexpr double kGitSeconds = 20;
  words.insert(words.begin(), {"git", "-C", root.string()});
  const auto run =
      base::run_process({.arguments = std::move(words), .timeout_seconds = kGitSeconds});
  if (run && run->exit_code == 0) return run->output;
  return base::Error{base::ErrorKind::kUsage, root.string(),
                     "is no tree that was handed out (it has no released/course), and git knows no "
                     "earlier version of it",
                     "one of the two",
                     "unpack the course anew, and copy your kernel.cu files there"};
}

/// Whether it is a student's own: a file that a lab wants handed in.
bool is_handed_in(const Context& context, std::string_view name) {
  return std::any_of(context.course.labs.begin(), context.course.labs.end(), [&](const auto& lab) {
    return std::any_of(lab.files.begin(), lab.files.end(), [&](const std::string& file) {
      return name == "labs/" + lab.id + "/" + file;
    });
  });
}

/// What is not as it was handed out, or as git's last commit has it.
base::Result<std::vector<CourseFile>> changed_course_files(const Context& context) {
  const fs::path& root = context.place.root;
  std::vector<CourseFile> files;
  std::error_code error;
  if (fs::exists(root / course::kOwnCopies, error)) {
    for (const std::string& name :
         course::changed_files(root, {"labs", "grader/harness/student"})) {
      const auto text = base::read_file(root / course::kOwnCopies / name);
      if (!text) return text.error();
      files.push_back({name, *text});
    }
    return files;
  }
  const auto names = git(
      root, {"diff", "--name-only", "--relative", "HEAD", "--", "labs", "grader/harness/student"});
  if (!names) return names.error();
  for (const std::string_view name : base::lines_of(*names)) {
    if (is_handed_in(context, name)) continue;
    auto text = git(root, {"show", "HEAD:./" + std::string(name)});
    if (!text) return text.error();
    files.push_back({std::string(name), *std::move(text)});
  }
  return files;
}

int put_course_back(const Context& context) {
  const auto files = changed_course_files(context);
  if (!files) return report_error(files.error());
  if (files->empty()) std::puts("No file of the course is changed.");
  for (const CourseFile& file : *files) {
    const fs::path place = context.place.root / file.name;
    std::string kept;
    if (const auto old = base::read_file(place)) {
      std::string flat = file.name;
      std::replace(flat.begin(), flat.end(), '/', '_');
      kept = (context.place.state / "backups" / "course" / flat).string();
      const auto saved = base::write_file(kept, *old);
      if (!saved) return report_error(saved.error());
    }
    const auto written = base::write_file(place, file.text);
    if (!written) return report_error(written.error());
    std::printf("%s: the course's again.%s\n", file.name.c_str(),
                kept.empty() ? "" : (" Yours is kept: " + kept).c_str());
  }
  return kExitPassed;
}

int run_reset(const ResetOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  if (options.course) return put_course_back(*context);
  if (options.word.empty())
    return report_error({base::ErrorKind::kUsage, "reset", "no lab is named",
                         "a lab, or --course for the files that are not yours",
                         "membound reset 03/2, or ./membound reset --course"});
  const auto selection = course::select(context->course, options.word);
  if (!selection) return report_error(selection.error());
  Target target{selection->lab, context->kernel_of(*selection->lab), {}, ""};
  if (options.word.find('/') != std::string::npos) target.stages = selection->stages;
  std::vector<std::string> numbers;
  for (const int stage : target.stages) numbers.push_back(std::to_string(stage));
  target.name = context->shown_kernel_of(*target.lab);
  if (target.stages.empty())
    for (const std::string& file : target.lab->files_beside()) target.name += " and " + file;
  target.name += (numbers.empty() ? "" : ", stage " + report::listed(numbers));
  return options.undo ? put_own_back(*context, target)
                      : put_skeleton_back(*context, target, options.word);
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
  auto options = std::make_shared<ResetOptions>();
  CLI::App* const command = app.add_subcommand("reset", "");
  CLI::Option* const lab = command->add_option("LAB", options->word);
  CLI::Option* const undo = command->add_flag("--undo", options->undo);
  command->add_flag("--course", options->course)->excludes(lab, undo);
  command->callback([options, &chosen] { chosen = [options] { return run_reset(*options); }; });
}

}  // namespace membound::cli
