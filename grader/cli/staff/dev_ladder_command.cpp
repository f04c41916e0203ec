// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound dev ladder [LAB…] [--slow]: how fast the reference answers are, and whether the stages
/// come out in the order that the lab says. On a GPU it measures, on the virtual one it predicts:
/// grader/gpu_truth/records/clock_ladders.md sets the two side by side.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

#include "grader/authoring/predicted_figures.hpp"
#include "grader/authoring/proof.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/interrupt.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct DevLadderOptions : judge::CheckOptions {
  std::vector<std::string> labs;
  bool slow = false;
  bool fix = false;
};

const course::StageResult* stage_of(const course::Result& result, int number) {
  for (const course::StageResult& stage : result.stages)
    if (stage.stage == number) return &stage;
  return nullptr;
}

std::string speed_text(const course::Lab& lab, double speed) {
  char text[40];
  const bool operations = lab.bound == course::Bound::kOperations;
  std::snprintf(text, sizeof text, "%10.4g %s", speed / 1e9, operations ? "Gop/s" : "GB/s");
  return text;
}

std::string share_text(double share) {
  char text[24];
  std::snprintf(text, sizeof text, "%7.3f", share);
  return text;
}

/// Runs one file's stages, at this size where one is given; a stage without a speed is an error.
base::Result<course::Result> measure(const Context& context, const judge::Tools& tools,
                                     judge::CheckOptions options, const authoring::Claim& claim,
                                     const std::atomic<bool>* stop,
                                     const std::vector<std::int64_t>& size = {}) {
  options.submission = claim.file.string();
  judge::CheckRequest request =
      request_for(context.place, tools, options, {claim.lab, claim.stages}, stop);
  if (!size.empty()) {
    std::string text;
    for (const std::int64_t extent : size)
      text += (text.empty() ? "" : "x") + std::to_string(extent);
    request.more_arguments = {"--size", text};
  }
  auto result = judge::check(request);
  if (!result) return result;
  for (const int number : claim.stages) {
    const course::StageResult* const stage = stage_of(*result, number);
    if (stage != nullptr && stage->speed && stage->ratio) continue;
    return base::Error{base::ErrorKind::kInternal, claim.file.string(),
                       "stage " + std::to_string(number) + " was not timed", "a speed",
                       "membound dev check --run " + claim.lab->id};
  }
  return result;
}

/// A stage's kernel and its speed.
std::string speed_row(const course::Lab& lab, const course::StageResult& stage) {
  return report::padded(std::to_string(stage.stage) + " " + stage.kernel, 34) +
         speed_text(lab, *stage.speed);
}

/// The speeds of stages that do different work.
void print_speeds(const course::Lab& lab, const course::Result& result) {
  for (const int number : lab.ladder)
    std::printf("  %s\n", speed_row(lab, *stage_of(result, number)).c_str());
}

constexpr double kLevel = 0.97;  // as fast: so far apart lie stages at a copy's speed on an H200

bool same_size(const course::StageResult& a, const course::StageResult& b) {
  return a.timings.front().label == b.timings.front().label;
}

/// Times two stages at one size; what came of it.
using AtOneSize = std::function<base::Result<course::Result>(int before, int number)>;

/// Whether `stage` is as fast as the one before it. A launch that cannot be timed by some of its
/// blocks has a smaller size than others, where no kernel is as fast: then both are timed there.
bool is_as_fast(const course::StageResult& before, const course::StageResult& stage,
                const AtOneSize& at_one_size) {
  if (*stage.speed > *before.speed * kLevel) return true;
  if (same_size(before, stage)) return false;
  const auto result = at_one_size(before.stage, stage.stage);
  if (!result) return false;
  const course::StageResult &a = *stage_of(*result, before.stage),
                            &b = *stage_of(*result, stage.stage);
  std::printf("  %s: %d %.4g, %d %.4g\n", b.timings.front().label.c_str(), a.stage, *a.speed / 1e9,
              b.stage, *b.speed / 1e9);
  return *b.speed > *a.speed * kLevel;
}

/// One line a stage, slowest first as the lab says; whether that is what was found.
bool print_ladder(const course::Lab& lab, const course::Result& result, const report::Style& style,
                  const AtOneSize& at_one_size) {
  const double fastest = *stage_of(result, lab.ladder.back())->speed;
  bool in_order = true;
  const course::StageResult* before = nullptr;
  for (const int number : lab.ladder) {
    const course::StageResult& stage = *stage_of(result, number);
    const bool fits = before == nullptr || is_as_fast(*before, stage, at_one_size);
    in_order = in_order && fits;
    before = &stage;
    std::printf("%s %s %s of the last one\n",
                style.sign(fits ? report::Tone::kGood : report::Tone::kBad).c_str(),
                speed_row(lab, stage).c_str(), share_text(*stage.speed / fastest).c_str());
  }
  return in_order;
}

/// A time of the virtual GPU is a prediction, and the result must tell its reader.
bool says_predicted(const course::Result& result) {
  return result.device.virtual_name.empty() ||
         report::render(result, report::Style{}).find("predicted") != std::string::npos;
}

/// Whether the pages quote what was said, where it is predicted: prints what they do not.
base::Result<bool> quoted(const Context& context, const judge::Tools& tools, const course::Lab& lab,
                          const authoring::SaidFigures& said, bool fix) {
  // Another compiler's kernels take another time.
  if (tools.compiler.kind != compilers::DeviceCompiler::kNvcc) return true;
  auto rows = authoring::read_predicted(context.place.root);
  if (!rows) return rows.error();
  std::erase_if(*rows, [&](const authoring::PredictedText& row) {
    return row.lab != lab.id || row.device != tools.device.name || !row.run.empty();
  });
  const auto drifts = authoring::check_predicted(
      *rows, said, false,
      "membound dev ladder --slow " + lab.id + " --device " + tools.device.name + " --fix",
      context.place.root, fix);
  for (const authoring::Drift& drift : drifts)
    std::printf("%s\n", authoring::to_string(drift).c_str());
  return drifts.empty();
}

base::Status print_slow_answers(const Context& context, const judge::Tools& tools,
                                const DevLadderOptions& options,
                                const std::vector<authoring::Claim>& claims,
                                const std::atomic<bool>* stop, authoring::SaidFigures& said) {
  for (const authoring::Claim& claim : claims) {
    const bool over_budget = claim.fails == to_string(course::BuiltInTest::kBudget);
    if (!over_budget && claim.fails != to_string(course::BuiltInTest::kSpeed)) continue;
    if (stop->load()) break;
    const auto result = measure(context, tools, options, claim, stop);
    if (!result) return result.error();
    const course::StageResult& stage = result->stages.front();
    said.merge(authoring::figures_of(claim.file.stem().string(), stage));
    const std::string ratio =
        stage.ratio ? share_text(*stage.ratio) + " of the reference answer" : "was not timed";
    std::printf("  %s %s; the bar is %g%s\n",
                report::padded("wrong/" + claim.file.stem().string(), 42).c_str(), ratio.c_str(),
                stage.pass_ratio, over_budget ? ", and it is over budget" : "");
  }
  return base::Done{};
}

int run_dev_ladder(const DevLadderOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto tools = judge::choose_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  std::vector<const course::Lab*> labs;
  for (const std::string& word : options.labs) {
    const auto lab = context->course.find(word);
    if (!lab) return report_error(lab.error());
    labs.push_back(*lab);
  }
  if (labs.empty())
    for (const course::Lab& lab : context->course.labs) labs.push_back(&lab);
  const std::atomic<bool>* const stop = catch_interrupts();
  bool good = true;
  for (const course::Lab* lab : labs) {
    if (!lab->has_reference()) continue;  // nothing of it is timed
    const auto claims = authoring::claims_of(*lab, context->place);
    if (!claims) return report_error(claims.error());
    authoring::Claim reference =
        *std::find_if(claims->begin(), claims->end(),
                      [](const authoring::Claim& claim) { return claim.fails.empty(); });
    reference.stages = lab->ladder;
    const auto result = measure(*context, *tools, options, reference, stop);
    if (stop->load()) return kExitInterrupted;
    if (!result) return report_error(result.error());
    const std::string device = result->device.virtual_name.empty()
                                   ? result->device.name
                                   : result->device.name + ", " + tools->device.name;
    const bool labelled = says_predicted(*result);
    std::printf("%s on %s, %s%s\n", lab->id.c_str(), device.c_str(), result->compiler.c_str(),
                result->device.virtual_name.empty() ? "" : ", predicted");
    const auto at_one_size = [&](int before, int number) {
      authoring::Claim both = reference;
      both.stages = {before, number};
      return measure(*context, *tools, options, both, stop, lab->stage(number)->timed_sizes.back());
    };
    const bool in_order = !lab->has_order || print_ladder(*lab, *result, context->out, at_one_size);
    if (!lab->has_order) print_speeds(*lab, *result);
    if (!in_order) std::printf("  The stages are not in the order that lab.json gives.\n");
    if (!labelled) std::printf("  The result does not say that its times are predicted.\n");
    authoring::SaidFigures said;
    for (const course::StageResult& stage : result->stages)
      said.merge(authoring::figures_of(std::to_string(stage.stage), stage));
    if (options.slow) {
      const auto slow = print_slow_answers(*context, *tools, options, *claims, stop, said);
      if (!slow) return report_error(slow.error());
    }
    const auto is_quoted = quoted(*context, *tools, *lab, said, options.fix);
    if (!is_quoted) return report_error(is_quoted.error());
    good = good && in_order && labelled && *is_quoted;
  }
  return good ? kExitPassed : kExitNotPassed;
}

}  // namespace

void add_dev_ladder(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevLadderOptions>();
  CLI::App* const command = dev.add_subcommand("ladder", "");
  command->add_option("LAB", options->labs);
  command->add_flag("--slow", options->slow);
  command->add_flag("--fix", options->fix);
  add_check_options(*command, *options);
  command->callback(
      [options, &chosen] { chosen = [options] { return run_dev_ladder(*options); }; });
}

}  // namespace membound::cli
