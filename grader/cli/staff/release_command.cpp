// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound release --out DIR, membound gradescope-autograder --out FILE: what students and
/// Gradescope get.
#include "grader/classroom/release/student_tree.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"
#include "grader/classroom/release/reference.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/build_info.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/workplace.hpp"
#include "grader/report/progress_bar.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct ReleaseOptions {
  std::string out;
  std::vector<std::string> labs;
  std::string compiler;  ///< empty: those that are here
  bool binaries = false;
  std::string reader = "class";
  std::vector<std::string> architectures;
  bool for_gradescope = false;
  release::AutograderOptions autograder;
};

/// Whom a release without this compiler's references leaves out; nobody, if "".
std::string_view left_out_without(compilers::DeviceCompiler kind, bool for_gradescope) {
  if (for_gradescope)
    return kind == compilers::DeviceCompiler::kNvcc
               ? ""
               : "containers that cannot fetch nvcc need the references that clang compiles";
  return kind == compilers::DeviceCompiler::kNvcc
             ? "students with a GPU, or with a CUDA toolkit, need the references that nvcc compiles"
             : "students without a GPU and without a CUDA toolkit need the references that clang "
               "compiles";
}

/// Those that were asked for. Where none was, those that are here, with a note on the other.
base::Result<std::vector<compilers::CompilerInfo>> compilers_for(const ReleaseOptions& options,
                                                                 const fs::path& root) {
  const bool any = options.compiler.empty();
  std::vector<compilers::CompilerInfo> found;
  std::optional<base::Error> missing;
  std::string note;
  const auto places = compilers::compiler_places(root);
  for (const auto kind : {compilers::DeviceCompiler::kNvcc, compilers::DeviceCompiler::kClang}) {
    const std::string name(compilers::to_string(kind));
    if (!any && options.compiler != "both" && options.compiler != name) continue;
    auto compiler = compilers::find_compiler(kind, places);
    if (compiler) {
      found.push_back(*std::move(compiler));
      continue;
    }
    missing = compiler.error();
    const std::string_view left_out = left_out_without(kind, options.for_gradescope);
    if (!left_out.empty()) note = name + ": " + missing->found + "; " + std::string(left_out);
  }
  if (!missing) return found;
  if (any && !found.empty()) {
    if (!note.empty()) report_note("compiled by " + found.front().name() + " alone (" + note + ")");
    return found;
  }
  if (options.compiler == "both")
    missing->advice += "; or leave --compiler out: compilers that are missing are then left out";
  return *missing;
}

base::Status check_architectures(const std::vector<std::string>& architectures) {
  for (const std::string& text : architectures) {
    const bool number = !text.empty() && text.size() <= 3 &&
                        std::all_of(text.begin(), text.end(),
                                    [](char letter) { return letter >= '0' && letter <= '9'; });
    if (number) continue;
    return base::Error{base::ErrorKind::kUsage, "--architectures",
                       "\"" + text + "\" is no compute capability",
                       "numbers without a dot, as in 86,90", ""};
  }
  return base::Done{};
}

base::Result<release::ReleaseRequest> request_for(const ReleaseOptions& options,
                                                  const Context& context, const fs::path& scratch) {
  std::error_code error;
  release::ReleaseRequest request;
  const fs::path sources = context.place.root / "share" / "course";  // of an installed Membound
  const bool is_installed = fs::is_directory(sources, error);
  request.root = fs::canonical(is_installed ? sources : context.place.root, error);
  if (!is_installed && !fs::is_directory(request.root / "solutions", error)) {
    return base::Error{base::ErrorKind::kUsage, context.place.root.string(),
                       "has no solutions/: it was handed out itself", "the instructors' course",
                       "call it in the course you teach from"};
  }
  if (is_installed && options.binaries)
    return base::Error{base::ErrorKind::kUsage, "--binaries",
                       "an installed Membound has no build to take programs from",
                       "a release without them, or a course's clone",
                       "leave it out; students build, or install Membound"};
  request.scratch = scratch;
  request.version = judge::kVersion;
  if (options.reader == "self-study") request.reader = release::Reader::kSelfStudy;
  if (options.binaries) request.binaries_of = context.place.build;
  for (const course::Lab& lab : context.course.labs)
    if (options.labs.empty()) request.labs.push_back(lab);
  for (const std::string& word : options.labs) {
    const auto lab = context.course.find(word);
    if (!lab) return lab.error();
    const bool twice = std::any_of(request.labs.begin(), request.labs.end(),
                                   [&](const course::Lab& one) { return one.id == (*lab)->id; });
    if (!twice) request.labs.push_back(**lab);
  }
  std::sort(request.labs.begin(), request.labs.end(),
            [](const course::Lab& a, const course::Lab& b) { return a.id < b.id; });
  for (const course::Lab& lab : context.course.labs) {
    auto skeleton = judge::find_skeleton(context.place, lab);
    if (!skeleton) return skeleton.error();
    const course::SplitSubmission split = course::split_submission(*skeleton);
    request.open.push_back(*skeleton);
    request.open.push_back(split.kernel);
    for (const auto& file : split.beside) request.open.push_back(file.second);
    if (const auto contract = base::read_file(lab.folder / "kernel.cuh"))
      request.open.push_back(*contract);
    const bool given = std::any_of(request.labs.begin(), request.labs.end(),
                                   [&](const course::Lab& one) { return one.id == lab.id; });
    if (given) request.skeletons[lab.id] = *std::move(skeleton);
  }
  auto compilers = compilers_for(options, context.place.root);
  if (!compilers) return compilers.error();
  request.compilers = *std::move(compilers);
  const auto checked = check_architectures(options.architectures);
  if (!checked) return checked.error();
  request.architectures =
      options.architectures.empty() ? release::usual_architectures() : options.architectures;
  return request;
}

/// The tree, with a line of progress while it is made.
base::Result<release::Tree> make_tree(release::ReleaseRequest& request, const Context& context) {
  request.stop = catch_interrupts();
  report::Progress progress("compiling", 0, context.err, context.err_is_terminal);
  request.on_step = [&progress](const std::string& what, int done, int all) {
    progress.now(what + " (" + std::to_string(done + 1) + " of " + std::to_string(all) + ")", done);
  };
  return release::student_tree(request);
}

int finish(const base::Status& written, const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load()) {
    report_note("stopped; nothing was written");
    return kExitInterrupted;
  }
  return written ? kExitPassed : report_error(written.error());
}

std::string size_of(const release::Tree& tree) {
  std::size_t bytes = 0;
  for (const auto& [name, file] : tree) bytes += file.bytes.size();
  return base::counted(tree.size(), "file") + ", " +
         report::number(static_cast<double>(bytes) / 1e6) + " MB";
}

int run_release(const ReleaseOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  // Before anything is compiled.
  if (const auto usable = release::check_target(options.out); !usable)
    return report_error(usable.error());
  const base::ScratchFolder scratch("release");
  auto request = request_for(options, *context, scratch.path());
  if (!request) return report_error(request.error());
  const auto tree = make_tree(*request, *context);
  if (!tree) return finish(tree.error(), request->stop);
  const auto written = release::put_in_place(*tree, options.out);
  if (!written) return finish(written, nullptr);
  const bool for_class = request->reader == release::Reader::kClass;
  std::printf("%s: %s, %s; %s\n", options.out.c_str(),
              base::counted(request->labs.size(), "lab").c_str(), size_of(*tree).c_str(),
              for_class ? "for a class: no line of solutions/ is in it"
                        : "for self-study: it holds the answers, and shows each after a pass");
  return kExitPassed;
}

int run_autograder(ReleaseOptions options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto device = judge::choose_device(
      options.autograder.device, context->place.build,
      base::Error{base::ErrorKind::kUsage, "--device", "Gradescope's containers have no GPU",
                  "a virtual one, as vgpu:h200", ""});
  if (!device) return report_error(device.error());
  if (device->environment.contains("MEMBOUND_MACHINE"))
    return report_error({base::ErrorKind::kUsage, "--device",
                         device->name + " is a machine file of your own",
                         "one that is built in: Gradescope's containers do not have your files",
                         "membound machine list"});
  const base::ScratchFolder scratch("release");
  if (!options.autograder.lab.empty()) {
    const auto lab = context->course.find(options.autograder.lab);
    if (!lab) return report_error(lab.error());
    options.autograder.lab = (*lab)->id;
    options.labs = {(*lab)->id};
  }
  // The container has no GPU: the build there is for the capability that is assumed without one.
  options.architectures = {"90"};
  options.for_gradescope = true;
  auto request = request_for(options, *context, scratch.path());
  if (!request) return report_error(request.error());
  for (const compilers::CompilerInfo& one : request->compilers)
    base::add_word(options.autograder.compilers, compilers::to_string(one.kind), " ");
  auto students = make_tree(*request, *context);
  if (!students) return finish(students.error(), request->stop);
  const auto tree = release::autograder_tree(*request, *std::move(students), options.autograder);
  if (!tree) return report_error(tree.error());
  const auto zip = release::zip_of(*tree);
  if (!zip) return report_error(zip.error());
  const auto written = base::write_file(options.out, *zip);
  if (!written) return report_error(written.error());
  std::printf("%s: %s, %s MB packed\n", options.out.c_str(), size_of(*tree).c_str(),
              report::number(static_cast<double>(zip->size()) / 1e6).c_str());
  return kExitPassed;
}

}  // namespace

void add_release(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ReleaseOptions>();
  CLI::App* const command = app.add_subcommand("release", "");
  command->add_option("--out", options->out)->required();
  command->add_option("--lab", options->labs);
  takes_one_of(*command->add_option("--compiler", options->compiler), {"nvcc", "clang", "both"});
  command->add_option("--architectures", options->architectures)->delimiter(',');
  command->add_flag("--binaries", options->binaries);
  takes_one_of(*command->add_option("--for", options->reader), {"class", "self-study"});
  command->callback([options, &chosen] { chosen = [options] { return run_release(*options); }; });
}

void add_gradescope_autograder(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ReleaseOptions>();
  release::AutograderOptions& autograder = options->autograder;
  CLI::App* const command = app.add_subcommand("gradescope-autograder", "");
  command->add_option("--out", options->out)->required();
  command->add_option("--lab", autograder.lab);
  takes_one_of(*command->add_option("--compiler", options->compiler), {"nvcc", "clang"});
  command->add_option("--device", autograder.device);
  takes_whole(*command->add_option("--seconds", autograder.seconds), 30, 2400);
  command->callback(
      [options, &chosen] { chosen = [options] { return run_autograder(*options); }; });
}

}  // namespace membound::cli
