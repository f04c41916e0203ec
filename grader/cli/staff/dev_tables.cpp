// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tables that a change of the virtual GPU is held against. `membound dev verdicts` times
/// each stage's answer for itself and for the other stages, a row each timed case; `membound
/// dev ladder` tells whether the stages of each lab get faster in their order
/// (grader/gpu_truth/records/clock_ladders.md sets prediction and measurement side by side), and
/// whether pages quote what is predicted.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>

#include "grader/authoring/claims.hpp"
#include "grader/authoring/measured_figures.hpp"
#include "grader/authoring/predicted_figures.hpp"
#include "grader/authoring/wrong_answer.hpp"
#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/dev_tables.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/report/progress_bar.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct DevVerdictsOptions : judge::CheckOptions {
  std::vector<std::string> labs;
};

std::string answer_of(int stage) { return "stage " + std::to_string(stage); }

/// Each stage's answer for itself, and for every other one where they do the same work.
base::Status add_stages(const Context& context, const course::Lab& lab,
                        std::vector<HandedIn>& all) {
  const fs::path reference = context.place.tree(lab) / "solutions" / lab.id / "kernel.cu";
  std::vector<int> stages = lab.ladder;
  std::sort(stages.begin(), stages.end());
  std::vector<std::string> names, own;
  for (const int stage : stages) {
    names.push_back(lab.stage(stage)->kernel);
    own.push_back(answer_of(stage));
  }
  all.push_back({&lab, reference, stages, own});
  if (!lab.has_order) return base::Done{};
  const auto text = base::read_file(reference);
  if (!text) return text.error();
  for (std::size_t by = 1; by < stages.size(); ++by) {
    HandedIn turned{&lab, context.place.state / "turned" / lab.id / (std::to_string(by) + ".cu"),
                    stages, own};
    // The name at place i + by is now that of the answer at place i.
    std::rotate(turned.answers.begin(), turned.answers.end() - static_cast<std::ptrdiff_t>(by),
                turned.answers.end());
    const auto written =
        base::write_file(turned.file, authoring::with_names_turned(*text, names, by));
    if (!written) return written;
    all.push_back(std::move(turned));
  }
  return base::Done{};
}

/// The wrong answers that are right, but slow or over their budget.
base::Status add_slow_answers(const Context& context, const course::Lab& lab,
                              std::vector<HandedIn>& all) {
  const auto claims = authoring::claims_of(lab, context.place);
  if (!claims) return claims.error();
  for (const authoring::Claim& claim : *claims)
    if (claim.fails == to_string(course::BuiltInTest::kSpeed) ||
        claim.fails == to_string(course::BuiltInTest::kBudget))
      all.push_back({&lab, claim.file, claim.stages, {"wrong/" + claim.file.stem().string()}});
  return base::Done{};
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// One row each timed case: lab, stage, answer, case, size, speed in 10^9 a second, ratio, bar,
/// verdict. A matrix of floats and one of doubles are two cases: the slower one decides a check's
/// verdict, and which of two is slower may differ from device to device.
std::vector<std::vector<std::string>> rows_of(const course::Stage& asked,
                                              const course::StageResult& stage,
                                              const std::string& answer) {
  const auto is_right = [](const course::Timing& timing) { return timing.runs_wrong == 0; };
  const std::vector<std::string> begin = {stage.lab, std::to_string(stage.stage), answer};
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::vector<std::string> rest) {
    rows.push_back(begin);
    rows.back().insert(rows.back().end(), rest.begin(), rest.end());
  };
  if (!stage.ratio || !std::ranges::all_of(stage.timings, is_right)) {
    add({"1", "", "", "", number(asked.pass_ratio), "-"});
    return rows;
  }
  for (const course::Timing& timing : stage.timings) {
    const double work =
        stage.bound == course::Bound::kBandwidth ? timing.useful_bytes : timing.useful_operations;
    add({std::to_string(rows.size() + 1), timing.label, number(work / timing.student_median_ns),
         number(timing.ratio), number(asked.pass_ratio),
         timing.ratio >= asked.pass_ratio ? "reached" : "missed"});
  }
  return rows;
}

void print_row(std::vector<std::string> row) {
  const std::string text = base::write_csv({std::move(row), {}, ','}, base::CsvReader::kProgram);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

void compile_all(const std::vector<judge::CheckRequest>& requests, const std::atomic<bool>* stop) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < base::processors(); ++i)
    workers.emplace_back([&] {
      for (std::size_t at = next++; at < requests.size() && !stop->load(); at = next++)
        (void)judge::compile_submission(requests[at]);  // an error comes again
    });
}

base::Result<std::vector<HandedIn>> all_handed_in(const Context& context,
                                                  const std::vector<const course::Lab*>& labs) {
  std::vector<HandedIn> all;
  for (const course::Lab* lab : labs) {
    if (!lab->has_reference()) continue;  // nothing of it is timed
    if (const auto added = add_stages(context, *lab, all); !added) return added.error();
    if (const auto added = add_slow_answers(context, *lab, all); !added) return added.error();
  }
  return all;
}

namespace {

int run_dev_verdicts(DevVerdictsOptions options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  options.test = to_string(course::BuiltInTest::kSpeed);
  const auto tools = chosen_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  const auto labs = labs_of(context->course, options.labs);
  if (!labs) return report_error(labs.error());
  for (const course::Lab* lab : *labs)
    if (!options.size.empty() && lab->has_reference())
      if (const auto checked = check_size(options.size, {{lab, {1}}}); !checked)
        return report_error(checked.error());
  const auto handed_in = all_handed_in(*context, *labs);
  if (!handed_in) return report_error(handed_in.error());
  const std::vector<HandedIn>& all = *handed_in;
  const std::atomic<bool>* const stop = catch_interrupts();
  std::vector<judge::CheckRequest> requests;
  for (const HandedIn& one : all) {
    options.submission = one.file.string();
    requests.push_back(
        judge::request_for(context->place, *tools, options, {one.lab, one.stages}, stop));
  }
  report::Progress progress("timing", static_cast<int>(all.size()), context->err,
                            context->err_is_terminal);
  progress.now("compiling", 0);
  compile_all(requests, stop);
  print_row({"lab", "stage", "answer", "case", "size", "speed", "ratio", "bar", "verdict"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const HandedIn& one = all[i];
    progress.now(one.lab->id + ", " + one.file.stem().string(), static_cast<int>(i));
    const auto result = judge::check(requests[i]);
    if (stop->load()) return kExitInterrupted;
    if (!result) return report_error(result.error());
    for (std::size_t at = 0; at < result->stages.size(); ++at)
      for (auto& row :
           rows_of(*one.lab->stage(one.stages[at]), result->stages[at], one.answers[at]))
        print_row(std::move(row));
  }
  return kExitPassed;
}

}  // namespace

void add_dev_verdicts(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevVerdictsOptions>();
  CLI::App* const command = dev.add_subcommand("verdicts", "");
  command->add_option("LAB", options->labs);
  add_check_options(*command, *options);
  command->add_option("--size", options->size);
  command->callback(
      [options, &chosen] { chosen = [options] { return run_dev_verdicts(*options); }; });
}

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

std::string speed_text(course::Bound bound, double speed) {
  char text[40];
  const bool operations = bound == course::Bound::kOperations;
  std::snprintf(text, sizeof text, "%10.4g %s", speed / 1e9, operations ? "Gops/s" : "GB/s");
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
    for (const std::int64_t extent : size) base::add_word(text, std::to_string(extent), "x");
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
std::string speed_row(const course::StageResult& stage) {
  return report::padded(std::to_string(stage.stage) + " " + stage.kernel, 34) +
         speed_text(stage.bound, *stage.speed);
}

/// The speeds of stages that do different work.
void print_speeds(const course::Lab& lab, const course::Result& result) {
  for (const int number : lab.ladder)
    std::printf("  %s\n", speed_row(*stage_of(result, number)).c_str());
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

/// One line a stage, slowest first as the lab says; whether that is what was found. Stages whose
/// speeds count different things have no order.
bool print_ladder(const course::Lab& lab, const course::Result& result, const report::Style& style,
                  const AtOneSize& at_one_size) {
  const course::StageResult& last = *stage_of(result, lab.ladder.back());
  bool in_order = true;
  const course::StageResult* before = nullptr;
  for (const int number : lab.ladder) {
    const course::StageResult& stage = *stage_of(result, number);
    const bool fits = before == nullptr || before->bound != stage.bound ||
                      is_as_fast(*before, stage, at_one_size);
    in_order = in_order && fits;
    before = &stage;
    const std::string share = stage.bound == last.bound
                                  ? share_text(*stage.speed / *last.speed) + " of the last one"
                                  : "";
    std::printf("%s %s %s\n", style.sign(fits ? report::Tone::kGood : report::Tone::kBad).c_str(),
                speed_row(stage).c_str(), share.c_str());
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
  const auto tools = chosen_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  const auto labs = labs_of(context->course, options.labs);
  if (!labs) return report_error(labs.error());
  const std::atomic<bool>* const stop = catch_interrupts();
  bool good = true;
  for (const course::Lab* lab : *labs) {
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

namespace {

struct DevFiguresOptions : judge::CheckOptions {
  std::vector<std::string> labs;
  std::uint64_t minutes = 9;  // a cluster's interactive job has ten
  bool again = false;
  std::string out;
};

/// Where the figures of this device stand: of a GPU in the course, of a virtual one beside it.
base::Result<fs::path> figures_file(const Context& context, const judge::Tools& tools,
                                    const DevFiguresOptions& options) {
  if (!options.out.empty()) return fs::path(options.out);
  if (tools.device.kind->predicts_times())
    return context.place.state / "figures" /
           (authoring::gpu_name_in_files(tools.device.name) + ".csv");
  const auto gpus =
      judge::chosen_gpus(options.device.empty() ? "gpu" : options.device, judge::ask_gpu().gpus);
  if (!gpus) return gpus.error();
  return context.place.root / "handouts" /
         ("measured_" + authoring::gpu_name_in_files(gpus->front().name) + ".csv");
}

std::string title_of(const authoring::FigureRun& run) {
  return (run.lab.empty() ? "" : run.lab + ", ") +
         (run.run.empty() ? "reference answers" : run.run);
}

/// Runs what the file does not have yet, and writes it after each run, so that a call that was
/// ended goes on. How many are left: more than 0 where the time was up, or a run failed.
base::Result<std::size_t> make_figures(const Context& context, const judge::Tools& tools,
                                       const std::vector<const course::Lab*>& labs,
                                       const DevFiguresOptions& options, const fs::path& file,
                                       const std::atomic<bool>* stop) {
  const auto runs = authoring::figure_runs(context.place, tools, labs);
  if (!runs) return runs.error();
  auto figures = authoring::read_measured(file);
  if (!figures) return figures.error();
  if (options.again)
    std::erase_if(*figures, [&](const authoring::MeasuredFigure& row) {
      return options.labs.empty() ||
             std::ranges::any_of(labs, [&](const course::Lab* lab) { return lab->id == row.lab; });
    });
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::chrono::duration<double> limit = std::chrono::minutes(options.minutes);
  std::chrono::duration<double> longest{0};
  std::size_t left = 0;
  for (const authoring::FigureRun& run : *runs) {
    if (authoring::is_done(run, *figures)) continue;
    const auto now = Clock::now();
    // None is begun that the time may not suffice for.
    if (stop->load() || now - begin + longest > limit) {
      ++left;
      continue;
    }
    auto rows = authoring::measure_figures(context.place, tools, labs, run, stop);
    longest = std::max<std::chrono::duration<double>>(longest, Clock::now() - now);
    if (!rows) {
      std::printf("%s %s\n", context.out.sign(report::Tone::kBad).c_str(), title_of(run).c_str());
      (void)report_error(rows.error());
      ++left;
      continue;
    }
    if (stop->load()) {  // in the middle of it
      ++left;
      continue;
    }
    // None: a wrong answer may have no speed on this device.
    std::printf("%s %s %s\n", context.out.sign(report::Tone::kGood).c_str(),
                report::padded(title_of(run), 56).c_str(),
                base::counted(rows->size(), "figure").c_str());
    std::fflush(stdout);
    for (authoring::MeasuredFigure& row : *rows) figures->push_back(std::move(row));
    if (const auto written = authoring::write_measured(file, *figures); !written)
      return written.error();
  }
  return left;
}

int run_dev_figures(const DevFiguresOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto tools = judge::choose_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  const auto labs = labs_of(context->course, options.labs);
  if (!labs) return report_error(labs.error());
  const auto file = figures_file(*context, *tools, options);
  if (!file) return report_error(file.error());
  const std::atomic<bool>* const stop = catch_interrupts();
  const auto left = make_figures(*context, *tools, *labs, options, *file, stop);
  if (!left) return report_error(left.error());
  std::printf("%s\n", file->c_str());
  if (*left == 0) {
    std::puts(tools->device.kind->predicts_times()
                  ? "complete"
                  : "complete; membound dev check --fix writes the pages' tables from it");
    return kExitPassed;
  }
  std::printf("%s left: the same call goes on, without --again\n",
              base::counted(*left, "run").c_str());
  return stop->load() ? kExitInterrupted : kExitNotPassed;
}

}  // namespace

void add_dev_figures(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevFiguresOptions>();
  CLI::App* const command = dev.add_subcommand("figures", "");
  command->add_option("LAB", options->labs);
  constexpr std::uint64_t kMostMinutes = 24 * 60;
  takes_whole(*command->add_option("--minutes", options->minutes), 1, kMostMinutes);
  command->add_flag("--again", options->again);
  command->add_option("--out", options->out);
  add_check_options(*command, *options);
  command->callback(
      [options, &chosen] { chosen = [options] { return run_dev_figures(*options); }; });
}

}  // namespace membound::cli
