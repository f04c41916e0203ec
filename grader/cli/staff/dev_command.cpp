// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What authors of labs ask: `membound dev check` (does the course agree with itself, do its
/// claims hold), `dev figure` and `dev wrong`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "grader/authoring/claims.hpp"
#include "grader/authoring/figure.hpp"
#include "grader/authoring/handout_check.hpp"
#include "grader/authoring/house.hpp"
#include "grader/authoring/lab_check.hpp"
#include "grader/authoring/measured_figures.hpp"
#include "grader/authoring/predicted_figures.hpp"
#include "grader/authoring/written_parts.hpp"
#include "grader/authoring/wrong_answer.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/dev_tables.hpp"
#include "grader/report/handout.hpp"
#include "grader/report/progress_bar.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

constexpr int kWhyIndent = 4;

/// "  3-missing-barrier    stage 3 fails MovesOneTile", and why below it.
std::string row_of(const authoring::WrongAnswer& answer, const report::Style& style) {
  return "  " + report::padded(answer.name, 32) + " stage " + std::to_string(answer.head.stage) +
         " fails " + answer.head.fails + "\n" +
         report::wrapped(answer.head.why, style.width, kWhyIndent);
}

int list_wrong_answers(const Context& context, const std::vector<const course::Lab*>& labs) {
  for (const course::Lab* lab : labs) {
    const auto answers =
        authoring::read_wrong_answers(context.place.tree(*lab) / "solutions" / lab->id);
    if (!answers) return report_error(answers.error());
    std::printf("%s\n", context.out.paint(lab->id, report::Tone::kStrong).c_str());
    for (const authoring::WrongAnswer& answer : *answers)
      std::fputs(row_of(answer, context.out).c_str(), stdout);
  }
  return kExitPassed;
}

int run_dev_wrong(const std::string& words) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  if (words.empty()) {
    std::vector<const course::Lab*> all;
    for (const course::Lab& lab : context->course.labs) all.push_back(&lab);
    return list_wrong_answers(*context, all);
  }
  const std::size_t slash = words.find('/');
  const auto lab = context->course.find(words.substr(0, slash));
  if (!lab) return report_error(lab.error());
  if (slash == std::string::npos) return list_wrong_answers(*context, {*lab});
  const auto answer = authoring::find_wrong_answer(
      context->place.tree(**lab) / "solutions" / (*lab)->id, words.substr(slash + 1));
  if (!answer) return report_error(answer.error());
  std::fputs(answer->text.c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_dev_wrong(CLI::App& dev, Action& chosen) {
  auto words = std::make_shared<std::string>();
  CLI::App* const command = dev.add_subcommand("wrong", "");
  command->add_option("LAB/NAME", *words);
  command->callback([words, &chosen] { chosen = [words] { return run_dev_wrong(*words); }; });
}

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

namespace {

struct DevCheckOptions : judge::CheckOptions {
  std::vector<std::string> labs;
  bool fix = false;
  bool run = false;
};

constexpr std::size_t kNameWidth = 42;

/// "skeleton", "reference answer" or "wrong/4-no-edge".
/// Skeleton and reference answer are called kernel.cu. On a GPU a wrong answer may have to pass,
/// too.
bool is_wrong_answer(const authoring::Claim& claim) { return claim.file.stem() != "kernel"; }

std::string name_of(const authoring::Claim& claim) {
  if (is_wrong_answer(claim)) return "wrong/" + claim.file.stem().string();
  return claim.fails.empty() ? "reference answer" : "skeleton";
}

std::string words_of(const authoring::Claim& claim) {
  const std::string stages = is_wrong_answer(claim) ? "" : " every stage";
  if (claim.fails.empty()) return "passes" + stages;
  return claim.fails == authoring::kAnyTest ? "fails" + stages : "fails " + claim.fails;
}

std::string row(const authoring::Proof& proof, const report::Style& style) {
  const report::Tone tone = proof.holds ? report::Tone::kGood : report::Tone::kBad;
  std::string text = style.sign(tone) + " " + report::padded(name_of(proof.claim), kNameWidth) +
                     words_of(proof.claim) + "\n";
  if (!proof.holds) text += report::wrapped("but " + proof.shown, style.width, 4);
  return text;
}

std::string table(const std::vector<authoring::Proof>& proofs, const report::Style& style) {
  std::string text;
  const course::Lab* lab = nullptr;
  for (const authoring::Proof& proof : proofs) {
    if (proof.claim.lab != lab) {
      lab = proof.claim.lab;
      text += style.paint(lab->id, report::Tone::kStrong) + "\n";
    }
    text += row(proof, style);
  }
  return text;
}

/// What of a lab does not agree; of a draft, what may come later is advice. How many are to mend.
int print_drifts(const course::Lab& lab, const std::vector<authoring::Drift>& drifts,
                 const report::Style& style) {
  int to_mend = 0, later = 0;
  for (const authoring::Drift& found : drifts) {
    const bool is_advice = lab.draft && found.may_come_later;
    ++(is_advice ? later : to_mend);
    std::printf("%s%s\n", is_advice ? "later: " : "", authoring::to_string(found).c_str());
  }
  std::string text = to_mend == 0 ? "agrees with itself" : std::to_string(to_mend) + " to mend";
  if (lab.draft) text += ", a draft: " + std::to_string(later) + " to come";
  const report::Tone tone = to_mend == 0 ? report::Tone::kGood : report::Tone::kBad;
  std::printf("%s %s %s\n", style.sign(tone).c_str(), report::padded(lab.id, 24).c_str(),
              text.c_str());
  return to_mend;
}

/// The half that runs no tests: prints every drift, returns how many there are.
int check_drift(const Context& context, const std::vector<const course::Lab*>& labs, bool fix) {
  int count = 0;
  const auto glossary = base::read_file(context.place.root / "docs/glossary.md");
  const auto terms = report::gpu_terms(glossary ? *glossary : "");
  for (const course::Lab* lab : labs) {
    auto drifts = authoring::check_lab(*lab, context.place.tree(*lab));
    std::vector<authoring::LabFolders> before;
    for (const course::Lab& other : context.course.labs) {
      if (&other == lab) break;
      before.emplace_back(other, context.place.tree(other));
    }
    authoring::check_reading({*lab, context.place.tree(*lab)}, before, terms, drifts);
    for (auto& drift : authoring::check_mended(*lab, context.place.tree(*lab), fix))
      drifts.push_back(std::move(drift));
    authoring::FigureCheck figures = authoring::check_drawings(context.place, *lab, fix);
    if (const auto runs = authoring::check_figures(context.place, context.course, *lab, fix)) {
      figures.drifts.insert(figures.drifts.end(), runs->drifts.begin(), runs->drifts.end());
      figures.rewritten += runs->rewritten;
    } else {
      report_note("figures of runs were not made again: " + base::to_string(runs.error()));
    }
    drifts.insert(drifts.end(), figures.drifts.begin(), figures.drifts.end());
    if (figures.rewritten > 0)
      std::printf("%s: %s rewritten\n", lab->handout.c_str(),
                  base::counted(figures.rewritten, "figure").c_str());
    auto parts = authoring::prediction_parts(*lab);
    for (auto& part : authoring::bar_parts(*lab)) parts.push_back(std::move(part));
    if (auto speeds = authoring::speed_parts(*lab, context.place.tree(*lab)))
      parts.insert(parts.end(), speeds->begin(), speeds->end());
    else
      drifts.push_back({"handouts", 0, base::to_string(speeds.error()), "measured figures", ""});
    for (auto& drift : authoring::check_measured_texts(lab->id, context.place.tree(*lab), fix))
      drifts.push_back(std::move(drift));
    // That the page is missing has been said.
    std::error_code ignored;
    if (lab->draft)
      std::erase_if(parts, [&](const authoring::WrittenPart& part) {
        return !std::filesystem::exists(context.place.tree(*lab) / part.page, ignored);
      });
    for (const authoring::WrittenPart& part : parts)
      for (auto& drift : authoring::check_written_part(part, context.place.tree(*lab), fix))
        drifts.push_back(std::move(drift));
    count += print_drifts(*lab, drifts, context.out);
  }
  return count;
}

/// Whether the grader's own code keeps to its rooms and pages show the tables they are written
/// from; where the list of rooms is not, there is nothing to check (a course of tests, a student's
/// tree). Prints every drift, returns how many there are.
int check_house(const course::Course& course, const std::filesystem::path& root, bool fix) {
  const auto text = base::read_file(root / "grader/rooms.txt");
  std::error_code ignored;
  if (!text || !std::filesystem::exists(root / "docs/architecture.md", ignored)) return 0;
  const auto rooms = authoring::read_rooms(*text, "grader/rooms.txt");
  if (!rooms) return report_error(rooms.error()), 1;
  auto drifts = authoring::check_house(*rooms, root);
  for (auto& drift : authoring::check_architecture_page(*rooms, root, fix))
    drifts.push_back(std::move(drift));
  for (auto& drift : authoring::check_named_tests(root)) drifts.push_back(std::move(drift));
  std::vector<authoring::WrittenPart> parts = authoring::checker_parts();
  for (authoring::WrittenPart& part : authoring::verdict_parts()) parts.push_back(std::move(part));
  for (authoring::WrittenPart& part : authoring::rule_parts()) parts.push_back(std::move(part));
  for (authoring::WrittenPart& part : authoring::role_parts()) parts.push_back(std::move(part));
  for (authoring::WrittenPart& part : authoring::course_parts(root, course))
    parts.push_back(std::move(part));
  parts.push_back(platform_table());
  auto latencies = authoring::latency_parts(root);
  if (!latencies) return report_error(latencies.error()), 1;
  for (authoring::WrittenPart& part : *latencies) parts.push_back(std::move(part));
  for (const authoring::WrittenPart& part : parts)
    for (auto& drift : authoring::check_written_part(part, root, fix))
      drifts.push_back(std::move(drift));
  const auto files = authoring::editor_files(root, course);
  if (!files) return report_error(files.error()), 1;
  for (const authoring::WrittenFile& file : *files)
    for (auto& drift : authoring::check_written_file(file, root, fix))
      drifts.push_back(std::move(drift));
  for (auto& drift :
       authoring::check_written_file(authoring::course_picture(root, course), root, fix))
    drifts.push_back(std::move(drift));
  for (const authoring::Drift& found : drifts)
    std::printf("%s\n", authoring::to_string(found).c_str());
  return static_cast<int>(drifts.size());
}

/// Whether the pages quote what the virtual GPU says: the claims' checks, and what the handouts
/// tell to run besides. Prints every drift, returns how many there are.
base::Result<int> check_quoted(const Context& context, const judge::Tools& tools,
                               const std::vector<const course::Lab*>& labs,
                               const std::vector<authoring::Proof>& proofs, bool fix,
                               const std::atomic<bool>* stop) {
  const auto all = authoring::read_predicted(context.place.root);
  if (!all) return all.error();
  int count = 0;
  for (const course::Lab* lab : labs) {
    std::map<std::string, std::vector<authoring::PredictedText>> rows;  // by what is run
    for (const authoring::PredictedText& row : *all)
      if (row.lab == lab->id && row.device == tools.device.name) rows[row.run].push_back(row);
    const std::string command =
        "membound dev check --run " + lab->id + " --device " + tools.device.name + " --fix";
    for (const auto& [run, texts] : rows) {
      authoring::SaidFigures said;
      if (!run.empty()) {
        auto figures = authoring::figures_of_run(context.place, tools, lab->id, run, stop);
        if (stop->load()) return count;
        if (!figures) return figures.error();
        said = std::move(*figures);
      }
      for (const authoring::Proof& proof : proofs)
        if (run.empty() && proof.claim.lab == lab) said.merge(authoring::figures_of(proof));
      for (const authoring::Drift& drift :
           authoring::check_predicted(texts, said, true, command, context.place.root, fix)) {
        std::printf("%s\n", authoring::to_string(drift).c_str());
        ++count;
      }
    }
  }
  return count;
}

/// The running half; the exit code.
int check_claims(const Context& context, const DevCheckOptions& options,
                 const std::vector<const course::Lab*>& labs) {
  const auto tools = chosen_tools(context.place, options);
  if (!tools) return report_error(tools.error());
  std::vector<authoring::Claim> claims;
  for (const course::Lab* lab : labs) {
    auto some = authoring::claims_of(*lab, context.place);
    if (!some) return report_error(some.error());
    claims.insert(claims.end(), some->begin(), some->end());
  }
  if (!tools->device.kind->counts())
    if (const std::size_t left_out = authoring::claim_of_a_gpu(claims); left_out > 0)
      std::printf("Left out: %s about counters, or that chance decides on a GPU.\n",
                  base::counted(left_out, "claim").c_str());
  const std::atomic<bool>* const stop = catch_interrupts();
  std::printf("Running %s on %s with %s%s.\n", base::counted(claims.size(), "claim").c_str(),
              tools->device.name.c_str(), tools->compiler.name().c_str(),
              tools->second_compiler ? (" and " + tools->second_compiler->name()).c_str() : "");
  std::fflush(stdout);
  auto progress = std::make_unique<report::Progress>("proving", static_cast<int>(claims.size()),
                                                     context.err, context.err_is_terminal);
  int done = 0;
  const auto proofs = authoring::prove(
      context.place, *tools, options, claims, stop, [&](const authoring::Proof& proof) {
        progress->now(proof.claim.lab->id + ": " + name_of(proof.claim), ++done);
      });
  progress.reset();
  if (!proofs) return report_error(proofs.error());
  std::fputs(table(*proofs, context.out).c_str(), stdout);
  const auto held = static_cast<std::size_t>(std::count_if(
      proofs->begin(), proofs->end(), [](const authoring::Proof& proof) { return proof.holds; }));
  std::printf("%zu of %zu claims hold.\n", held, claims.size());
  if (stop->load()) return kExitInterrupted;
  base::Result<int> drifts = 0;
  // Another compiler's kernels take another time.
  if (tools->device.kind->predicts_times() &&
      tools->compiler.kind == compilers::DeviceCompiler::kNvcc)
    drifts = check_quoted(context, *tools, labs, *proofs, options.fix, stop);
  if (stop->load()) return kExitInterrupted;
  if (!drifts) return report_error(drifts.error());
  return held == claims.size() && *drifts == 0 ? kExitPassed : kExitNotPassed;
}

int run_dev_check(const DevCheckOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto labs = labs_of(context->course, options.labs);
  if (!labs) return report_error(labs.error());
  if (options.fix) {
    for (const course::Lab* lab : *labs) {
      const auto changed = authoring::fix_snippets(context->place.tree(*lab),
                                                   context->place.tree(*lab) / lab->handout);
      if (!changed) return report_error(changed.error());
      std::printf("%s: %s rewritten\n", lab->handout.c_str(),
                  base::counted(*changed, "snippet").c_str());
    }
  }
  int drifts = check_drift(*context, *labs, options.fix);
  // What is wrong with them was said at the start.
  if (options.labs.empty()) drifts += static_cast<int>(context->course.broken.size());
  if (options.labs.empty())
    drifts += check_house(context->course, context->place.root, options.fix);
  if (!options.run) return drifts == 0 ? kExitPassed : kExitNotPassed;
  const int proved = check_claims(*context, options, *labs);
  return proved == kExitPassed && drifts > 0 ? kExitNotPassed : proved;
}

struct DevNewOptions {
  std::string id, kind = "kernel";
  int stages = 1;
};

int run_dev_new(const DevNewOptions& options) {
  const auto root = course_root();
  if (!root) return report_error(root.error());
  std::error_code ignored;
  if (std::filesystem::exists(*root / "released", ignored))
    return report_error({base::ErrorKind::kUsage, root->string(), "this course was handed out",
                         "the instructors' course, or an installed Membound", ""});
  const auto trees = course::other_trees();
  const std::filesystem::path& tree = trees.empty() ? *root : trees.back();
  // A tree that gets its first lab now has no labs/ yet.
  std::filesystem::create_directories(tree / "labs", ignored);
  const auto known = course::read_course(*root, trees);
  if (!known) return report_error(known.error());
  const auto files = authoring::write_new_lab(
      {tree, options.id, options.kind == "program", options.stages}, known->labs);
  if (!files) return report_error(files.error());
  const auto here = std::filesystem::current_path(ignored);
  for (const std::filesystem::path& file : *files)
    std::printf("%s\n", file.lexically_proximate(here).c_str());
  std::printf("next: membound dev check --run %s%s\n", options.id.c_str(), typed_labs().c_str());
  return kExitPassed;
}

}  // namespace

void add_dev_new(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevNewOptions>();
  CLI::App* const command = dev.add_subcommand("new", "");
  command->add_option("NN-NAME", options->id)->required();
  takes_one_of(*command->add_option("--kind", options->kind), {"kernel", "program"});
  constexpr std::uint64_t kMostStages = 9;
  takes_whole(*command->add_option("--stages", options->stages), 1, kMostStages);
  command->callback([options, &chosen] { chosen = [options] { return run_dev_new(*options); }; });
}

void add_dev(CLI::App& app, Action& chosen) {
  CLI::App* const dev = app.add_subcommand("dev", "");
  dev->require_subcommand(1);
  auto options = std::make_shared<DevCheckOptions>();
  add_dev_new(*dev, chosen);
  add_dev_figure(*dev, chosen);
  add_dev_wrong(*dev, chosen);
  CLI::App* const command = dev->add_subcommand("check", "");
  command->add_option("LAB", options->labs);
  command->add_flag("--fix", options->fix);
  command->add_flag("--run", options->run);
  add_check_options(*command, *options, true);
  command->callback([options, &chosen] { chosen = [options] { return run_dev_check(*options); }; });
  add_dev_ladder(*dev, chosen);
  add_dev_figures(*dev, chosen);
  add_dev_verdicts(*dev, chosen);
  add_dev_mechanisms(*dev, chosen);
  add_dev_keep_skeletons(*dev, chosen);
}

}  // namespace membound::cli
