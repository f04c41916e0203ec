// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// `membound dev mechanisms`: what each mechanism of the clock is good for. Switches off one after
/// the other and holds the verdicts, the ladders and the times of kernels that nothing was fitted
/// to against those with all of them. What launches did is kept in files, from which times are
/// predicted again; only what acts while kernels run needs a run of its own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "grader/authoring/written_parts.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/dev_tables.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/ncu_report.hpp"
#include "grader/report/progress_bar.hpp"
#include "grader/report/text.hpp"
#include "grader/vgpu/timing/mechanisms.hpp"
#include "grader/vgpu/timing/model.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The GPUs whose truth is in grader/gpu_truth/data.
constexpr const char* kGpus[] = {"h200", "h100"};

/// The programs of grader/gpu_truth/clock that the clock is held against.
constexpr const char* kPrograms[] = {"kernels", "students"};
constexpr double kNvccSeconds = 900, kProgramSeconds = 7200;
constexpr double kAsFast = 0.97;  // as fast, as `membound dev ladder` has it

using vgpu::timing::Machine;
using vgpu::timing::Mechanism;

struct DevMechanismsOptions : judge::CheckOptions {
  std::vector<std::string> only;
  bool kept = false;
  bool fix = false;
};

/// What a row of the table needs.
struct Setting {
  const Context& context;
  DevMechanismsOptions options;
  std::vector<HandedIn> handed_in;
  const std::atomic<bool>* stop;
};

/// What the clock needs of a launch, and no more.
json kept_launch(const json& kernel) {
  json kept;
  for (const char* field : {"name", "grid", "block", "registers_per_thread", "shared_bytes",
                            "predicted_ns", "start_ns", "end_ns", "counters", "work"})
    if (const auto found = kernel.find(field); found != kernel.end()) kept[field] = *found;
  kept["lines"] = json::array();
  return kept;
}

json kept_launches(const json& report, const std::string& label) {
  json kept = json::array();
  if (!report.is_object() || !report.contains("kernels")) return kept;
  for (const json& kernel : report["kernels"])
    if (kernel.value("case", "") == label) kept.push_back(kept_launch(kernel));
  return kept;
}

/// A timed stage: its cases, each with the launches of the answer and of the reference answer. None
/// where the results are wrong.
json kept_stage(const course::StageMeasurement& measured) {
  const bool right = std::ranges::all_of(
      measured.timings, [](const course::Timing& timing) { return timing.runs_wrong == 0; });
  json cases = json::array();
  if (right)
    for (const course::Timing& timing : measured.timings)
      cases.push_back({{"label", timing.label},
                       {"student_ns", timing.student_median_ns},
                       {"reference_ns", timing.reference_median_ns},
                       {"bytes", timing.useful_bytes},
                       {"operations", timing.useful_operations},
                       {"ceiling", timing.ceiling},
                       {"student", kept_launches(measured.counters, timing.label)},
                       {"reference", kept_launches(measured.counters.value("reference", json()),
                                                   timing.label)}});
  return {{"stage", measured.stage}, {"cases", cases}};
}

base::Result<json> run_and_keep(const judge::CheckRequest& request) {
  const auto code = judge::compile_submission(request);
  if (!code) return code.error();
  const auto measured = judge::measure(request, *code);
  if (!measured) return measured.error();
  json stages = json::array();
  for (const auto& part : measured->parts)
    if (part)
      for (const course::StageMeasurement& stage : *part) stages.push_back(kept_stage(stage));
  return stages;
}

/// Where the runs on a GPU are kept, with all mechanisms or without one.
fs::path kept_folder(const Setting& setting, const std::string& gpu, const Mechanism* off) {
  return setting.context.place.state / "mechanisms" / gpu /
         (off == nullptr ? "all" : std::string(off->name));
}

fs::path kept_file(const fs::path& folder, const HandedIn& one) {
  return folder / (one.lab->id + "-" + one.file.stem().string() + ".json");
}

/// A machine file as the virtual GPU's programs read it; the GPU is one that is built in.
std::string machine_text(const std::string& gpu, const Mechanism* off) {
  json text = json::parse(vgpu::timing::find_machine_file(gpu, {})->json);
  if (off != nullptr) text["without"] = {std::string(off->name)};
  return text.dump();
}

/// Times what is handed in, as far as it has not been timed before.
base::Status time_answers(const Setting& setting, const std::string& gpu, const Mechanism* off) {
  judge::CheckOptions options = setting.options;
  options.device = "vgpu:" + gpu;
  options.test = to_string(course::BuiltInTest::kSpeed);
  auto tools = judge::choose_tools(setting.context.place, options);
  if (!tools) return tools.error();
  tools->device.environment["MEMBOUND_WORK"] = "on";
  if (off != nullptr) tools->device.environment["MEMBOUND_MACHINE"] = machine_text(gpu, off);
  const fs::path folder = kept_folder(setting, gpu, off);
  const std::string what = gpu + (off == nullptr ? "" : " without " + std::string(off->name));
  report::Progress progress(what, static_cast<int>(setting.handed_in.size()), setting.context.err,
                            setting.context.err_is_terminal);
  int done = 0;
  for (const HandedIn& one : setting.handed_in) {
    const fs::path file = kept_file(folder, one);
    progress.now(one.lab->id + ", " + one.file.stem().string(), done++);
    if (std::error_code error; fs::exists(file, error)) continue;
    options.submission = one.file.string();
    const auto kept = run_and_keep(judge::request_for(setting.context.place, *tools, options,
                                                      {one.lab, one.stages}, setting.stop));
    if (setting.stop->load()) return base::Done{};
    if (!kept) return kept.error();
    if (const auto written = base::write_file(file, kept->dump()); !written) return written;
  }
  return base::Done{};
}

base::Error not_run(const std::string& what, const std::string& output) {
  return {base::ErrorKind::kMachine, what, output, "it ends with exit code 0",
          "grader/gpu_truth/clock/run.sh runs the same"};
}

/// Compiles a program of grader/gpu_truth/clock where that has not been done.
base::Status compile_program(const Setting& setting, const std::string& name,
                             const fs::path& program) {
  if (std::error_code error; fs::exists(program, error)) return base::Done{};
  const fs::path& root = setting.context.place.root;
  const auto nvcc =
      compilers::find_compiler(compilers::DeviceCompiler::kNvcc, compilers::compiler_places(root));
  if (!nvcc) return nvcc.error();
  std::error_code error;
  fs::create_directories(program.parent_path(), error);
  const auto outcome = base::run_process(
      {.arguments = {nvcc->program.string(), "-std=c++17", "-O2", "-I", root.string(), "-cudart",
                     "shared", "-gencode", "arch=compute_90,code=sm_90", "-gencode",
                     "arch=compute_90,code=compute_90", "-o", program.string(),
                     (root / "grader/gpu_truth/clock" / (name + ".cu")).string()},
       .timeout_seconds = kNvccSeconds,
       .stop = setting.stop});
  if (!outcome) return outcome.error();
  if (outcome->exit_code == 0 || outcome->stopped) return base::Done{};
  return not_run("compiling " + name + ".cu", outcome->output);
}

/// Runs the programs of grader/gpu_truth/clock: of each, what it prints and what was counted.
base::Status time_programs(const Setting& setting, const std::string& gpu, const Mechanism* off) {
  const fs::path folder = kept_folder(setting, gpu, off);
  for (const std::string name : kPrograms) {
    const fs::path kept = folder / (name + ".json"), counted = folder / (name + ".counted.json");
    if (std::error_code error; fs::exists(kept, error) || setting.stop->load()) continue;
    const fs::path program = setting.context.place.state / "mechanisms" / name;
    if (const auto made = compile_program(setting, name, program); !made) return made;
    report::Progress progress(gpu, 0, setting.context.err, setting.context.err_is_terminal);
    progress.now(name + ".cu" + (off == nullptr ? "" : " without " + std::string(off->name)), 0);
    std::error_code error;
    fs::create_directories(folder, error);
    const auto outcome = base::run_process(
        {.arguments = {program.string(), "--once"},
         .environment = {{"LD_LIBRARY_PATH",
                          judge::vgpu_folder(setting.context.place.build).string()},
                         {"MEMBOUND_DEVICE", "vgpu:" + gpu},
                         {"MEMBOUND_MACHINE", machine_text(gpu, off)},
                         {"MEMBOUND_WORK", "on"},
                         {"MEMBOUND_COUNTERS", counted.string()}},
         .timeout_seconds = kProgramSeconds,
         .stop = setting.stop});
    if (!outcome) return outcome.error();
    if (outcome->stopped) return base::Done{};
    const auto report = base::read_file(counted);
    if (outcome->exit_code != 0 || !report) return not_run(name + ".cu", outcome->output);
    json launches = json::array();
    for (const json& kernel : json::parse(*report).at("kernels"))
      launches.push_back(kept_launch(kernel));
    fs::remove(counted, error);
    const json all = {{"printed", outcome->output}, {"launches", launches}};
    if (const auto written = base::write_file(kept, all.dump()); !written) return written;
  }
  return base::Done{};
}

/// Launches between two events; their time was `ns`.
struct TimedLaunches {
  double ns = 0;
  std::vector<vgpu::counters::LaunchCounters> counters;
  std::vector<vgpu::timing::LaunchShape> shapes;
  double predicted_ns = 0;  ///< sum of what the clock said of each

  void add(const json& launch) {
    counters.push_back(judge::launch_counters_of(launch));
    shapes.push_back(judge::launch_shape_of(launch));
    predicted_ns += launch.at("predicted_ns").get<double>();
  }
  [[nodiscard]] double on(const Machine& machine) const {
    double now_ns = 0;
    for (std::size_t i = 0; i < counters.size(); ++i)
      now_ns += predict(machine, counters[i], shapes[i]).ns;
    return ns - predicted_ns + now_ns;
  }
};

TimedLaunches timed_launches(const json& launches) {
  TimedLaunches timed;
  for (const json& launch : launches) timed.add(launch);
  if (!launches.empty())
    timed.ns =
        launches.back().at("end_ns").get<double>() - launches.front().at("start_ns").get<double>();
  return timed;
}

/// One case of a stage: what the answer and the reference answer did.
struct TimedCase {
  double work = 0, ceiling = 0;
  TimedLaunches answer, reference;
};

struct TimedStage {
  const HandedIn* of;
  std::string answer;
  int stage = 0;
  double bar = 0;
  std::vector<TimedCase> cases;  ///< none where the results are wrong
};

/// A kernel of the programs, beside its measured time.
struct TimedKernel {
  double measured_us = 0;
  TimedLaunches launches;
};

/// All that is kept of the runs on one GPU with the same mechanisms; a part that has not been run
/// to its end is empty.
struct Kept {
  std::vector<TimedStage> stages;
  std::vector<TimedKernel> held_out;  ///< kernels that no constant was fitted to
};

base::Error broken_record(const fs::path& file, std::string found) {
  return {base::ErrorKind::kInput, file.string(), std::move(found), "what an earlier run kept",
          "remove the file, and it is made again"};
}

base::Result<json> read_record(const fs::path& file) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  json record = json::parse(*text, nullptr, false);
  if (record.is_discarded()) return broken_record(file, "no JSON");
  return record;
}

TimedStage timed_stage(const HandedIn& one, const json& kept) {
  TimedStage stage{&one, "", kept.at("stage").get<int>(), 0, {}};
  const auto at = std::find(one.stages.begin(), one.stages.end(), stage.stage);
  stage.answer = one.answers[static_cast<std::size_t>(at - one.stages.begin())];
  stage.bar = one.lab->stage(stage.stage)->pass_ratio;
  const bool operations = one.lab->stage(stage.stage)->bound == course::Bound::kOperations;
  for (const json& each : kept.at("cases"))
    stage.cases.push_back({each.at(operations ? "operations" : "bytes"), each.at("ceiling"),
                           timed_launches(each.at("student")),
                           timed_launches(each.at("reference"))});
  return stage;
}

std::vector<std::string> rows_of_program(std::string_view text) {
  std::vector<std::string> rows;
  for (const std::string_view line : base::lines_of(text))
    if (!line.starts_with("#") && line.find(',') != std::string_view::npos) rows.emplace_back(line);
  return rows;
}

double last_number(const std::string& row) {
  return std::strtod(row.c_str() + row.rfind(',') + 1, nullptr);
}

/// Adds the kernels of one program: a row of what it printed has the launches that make its time.
base::Status add_kernels(const Setting& setting, const std::string& gpu, const std::string& program,
                         const fs::path& file, Kept& kept) {
  const auto record = read_record(file);
  if (!record) return record.error();
  const fs::path truth = setting.context.place.root / "grader/gpu_truth/data" /
                         ("clock_" + program + "_" + gpu + ".csv");
  const auto measured = base::read_file(truth);
  if (!measured) return measured.error();
  const auto rows = rows_of_program(record->at("printed").get<std::string>());
  const auto truths = rows_of_program(*measured);
  const json& launches = record->at("launches");
  if (rows.size() != truths.size())
    return broken_record(file, "other kernels than " + truth.string());
  // Launches of a row follow one another; before it a few bytes are set.
  constexpr double kApart = 1000;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TimedKernel kernel{last_number(truths[i]), {1000 * last_number(rows[i])}};
    double begin = 0, end = 0;
    for (; next < launches.size(); ++next) {
      const double starts = launches[next].at("start_ns").get<double>();
      if (!kernel.launches.counters.empty() && starts > end + kApart) break;
      if (kernel.launches.counters.empty()) begin = starts;
      end = launches[next].at("end_ns").get<double>();
      kernel.launches.add(launches[next]);
    }
    if (std::abs(end - begin - kernel.launches.ns) > kApart)
      return broken_record(file, "no launches that take as long as \"" + rows[i] + "\"");
    // Constants were fitted to the rows of kernels.cu that are called fit.
    if (!rows[i].starts_with("fit,")) kept.held_out.push_back(std::move(kernel));
  }
  return base::Done{};
}

base::Result<Kept> read_kept(const Setting& setting, const std::string& gpu, const Mechanism* off) {
  const fs::path folder = kept_folder(setting, gpu, off);
  Kept kept;
  std::error_code error;
  const bool all_timed = std::ranges::all_of(setting.handed_in, [&](const HandedIn& one) {
    return fs::exists(kept_file(folder, one), error);
  });
  for (std::size_t i = 0; all_timed && i < setting.handed_in.size(); ++i) {
    const auto record = read_record(kept_file(folder, setting.handed_in[i]));
    if (!record) return record.error();
    for (const json& stage : *record)
      kept.stages.push_back(timed_stage(setting.handed_in[i], stage));
  }
  const auto file_of = [&](const char* program) {
    return folder / (program + std::string(".json"));
  };
  const bool all_ran = std::ranges::all_of(
      kPrograms, [&](const char* program) { return fs::exists(file_of(program), error); });
  for (const char* program : kPrograms)
    if (all_ran)
      if (const auto added = add_kernels(setting, gpu, program, file_of(program), kept); !added)
        return added.error();
  return kept;
}

/// What a machine says of all that was run.
struct Outcome {
  std::vector<bool> reached;           ///< by check of one answer for another stage
  std::set<std::string> out_of_order;  ///< "03, stage 4": labs whose ladder breaks there
  std::optional<double> p90;           ///< of the error of the kernels held out, as a share
};

/// The speed of the slowest case, beside the reference answer's: as results show it, never above
/// what a copy and the reference answer reach.
struct Speed {
  double speed = 0, ratio = 0;
};
Speed speed_of(const TimedStage& stage, const Machine& machine) {
  Speed slowest{0, HUGE_VAL};
  for (const TimedCase& each : stage.cases) {
    const double reference = each.work / each.reference.on(machine);
    const double most = each.ceiling > 0 ? std::max(each.ceiling / 1e9, reference) : HUGE_VAL;
    const double speed = std::min(each.work / each.answer.on(machine), most);
    if (speed / reference < slowest.ratio) slowest = {speed, speed / reference};
  }
  return slowest;
}

void hold_ladders(const Setting& setting, const std::map<std::pair<std::string, int>, double>& own,
                  Outcome& outcome) {
  std::set<const course::Lab*> labs;
  for (const HandedIn& one : setting.handed_in) labs.insert(one.lab);
  for (const course::Lab* lab : labs) {
    if (!lab->has_order) continue;
    for (std::size_t i = 1; i < lab->ladder.size(); ++i) {
      if (lab->stage(lab->ladder[i - 1])->bound != lab->stage(lab->ladder[i])->bound) continue;
      const auto before = own.find({lab->id, lab->ladder[i - 1]});
      const auto stage = own.find({lab->id, lab->ladder[i]});
      if (before != own.end() && stage != own.end() && stage->second <= before->second * kAsFast)
        outcome.out_of_order.insert(lab->id.substr(0, 2) + "/" + std::to_string(lab->ladder[i]));
    }
  }
}

/// As grader/gpu_truth/clock/compare.sh finds it.
double ninetieth(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  const auto at = static_cast<std::size_t>(std::lround(static_cast<double>(errors.size()) * 0.9));
  return errors[std::max<std::size_t>(at, 1) - 1];
}

Outcome outcome_on(const Setting& setting, const Kept& kept, const Machine& machine) {
  Outcome outcome;
  std::map<std::pair<std::string, int>, double> own;
  for (const TimedStage& stage : kept.stages) {
    if (stage.cases.empty()) {
      outcome.reached.push_back(false);
      continue;
    }
    const Speed speed = speed_of(stage, machine);
    const bool is_own = stage.answer == "stage " + std::to_string(stage.stage);
    if (is_own) own[{stage.of->lab->id, stage.stage}] = speed.speed;
    outcome.reached.push_back(is_own || speed.ratio >= stage.bar);
  }
  hold_ladders(setting, own, outcome);
  std::vector<double> errors;
  for (const TimedKernel& kernel : kept.held_out)
    errors.push_back(std::abs(kernel.launches.on(machine) / 1000 / kernel.measured_us - 1));
  if (!errors.empty()) outcome.p90 = ninetieth(errors);
  return outcome;
}

/// A mechanism on one GPU; `lost` are stages of ladders.
struct Cell {
  std::optional<std::size_t> flips;
  std::set<std::string> lost;
  std::optional<double> p90;
};

Cell cell_of(const Outcome& with_all, const Outcome& without) {
  Cell cell{{}, {}, without.p90};
  if (with_all.reached.empty() || with_all.reached.size() != without.reached.size()) return cell;
  cell.flips = 0;
  for (std::size_t i = 0; i < with_all.reached.size(); ++i)
    *cell.flips += with_all.reached[i] != without.reached[i];
  std::ranges::set_difference(without.out_of_order, with_all.out_of_order,
                              std::inserter(cell.lost, cell.lost.end()));
  return cell;
}

/// One GPU with all mechanisms on, and what its machine file says.
struct Base {
  std::string gpu;
  Machine machine;
  Kept kept;
  Outcome outcome;
};

base::Result<Cell> try_without(const Setting& setting, const Base& base, const Mechanism& off) {
  const Machine machine = vgpu::timing::without(base.machine, off);
  if (!off.runs) return cell_of(base.outcome, outcome_on(setting, base.kept, machine));
  // What it counted is there; the rest of the machine is the same.
  const auto kept = read_kept(setting, base.gpu, &off);
  if (!kept) return kept.error();
  return cell_of(base.outcome, outcome_on(setting, *kept, machine));
}

/// "load_batches        21   19   24.1  23.9  03/4 06/5"; "-" where it has not been run.
std::string table_row(const std::string& name, const std::vector<Cell>& cells) {
  std::string text = "    " + report::padded(name, 20);
  std::set<std::string> ladders;
  for (const Cell& cell : cells) {
    text += report::padded(cell.flips ? std::to_string(*cell.flips) : "-", 5);
    ladders.insert(cell.lost.begin(), cell.lost.end());
  }
  for (const Cell& cell : cells)
    text += report::padded(cell.p90 ? report::amount(100 * *cell.p90) : "-", 6);
  for (const std::string& ladder : ladders) text += ladder + " ";
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

base::Result<std::vector<const Mechanism*>> chosen_mechanisms(
    const std::vector<std::string>& names) {
  std::vector<const Mechanism*> chosen;
  for (const Mechanism& mechanism : vgpu::timing::all_mechanisms())
    if (names.empty()) chosen.push_back(&mechanism);
  for (const std::string& name : names) {
    chosen.push_back(vgpu::timing::find_mechanism(name));
    if (chosen.back() != nullptr) continue;
    return base::Error{base::ErrorKind::kUsage, "--only", "there is no mechanism \"" + name + "\"",
                       "a row of grader/vgpu/timing/mechanisms.def", ""};
  }
  return chosen;
}

base::Status run_what_is_missing(const Setting& setting, const Mechanism* off) {
  for (const std::string gpu : kGpus) {
    if (const auto timed = time_programs(setting, gpu, off); !timed) return timed;
    if (const auto timed = time_answers(setting, gpu, off); !timed) return timed;
    if (setting.stop->load()) break;
  }
  return base::Done{};
}

base::Result<std::vector<Base>> bases_of(const Setting& setting) {
  std::vector<Base> bases;
  for (const std::string gpu : kGpus) {
    auto kept = read_kept(setting, gpu, nullptr);
    if (!kept) return kept.error();
    auto machine = vgpu::timing::find_machine(gpu);
    if (!machine) return machine.error();
    Base base{gpu, *std::move(machine), *std::move(kept), {}};
    base.outcome = outcome_on(setting, base.kept, base.machine);
    bases.push_back(std::move(base));
  }
  return bases;
}

base::Result<std::string> table_of(const Setting& setting,
                                   const std::vector<const Mechanism*>& mechanisms) {
  const auto bases = bases_of(setting);
  if (!bases) return bases.error();
  std::string text =
      "    without             flips      p90, %      ladders that break\n"
      "                        H200 H100 H200  H100\n";
  std::vector<Cell> cells;
  for (const Base& base : *bases) cells.push_back(cell_of(base.outcome, base.outcome));
  text += table_row("(nothing)", cells);
  for (const Mechanism* off : mechanisms) {
    cells.clear();
    for (const Base& base : *bases) {
      const auto cell = try_without(setting, base, *off);
      if (!cell) return cell.error();
      cells.push_back(*cell);
    }
    text += table_row(std::string(off->name), cells);
  }
  return text;
}

int run_dev_mechanisms(const DevMechanismsOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto mechanisms = chosen_mechanisms(options.only);
  if (!mechanisms) return report_error(mechanisms.error());
  const auto labs = labs_of(context->course, {});
  if (!labs) return report_error(labs.error());
  auto handed_in = all_handed_in(*context, *labs);
  if (!handed_in) return report_error(handed_in.error());
  const Setting setting{*context, options, *std::move(handed_in), catch_interrupts()};
  if (!options.kept) {
    if (const auto run = run_what_is_missing(setting, nullptr); !run)
      return report_error(run.error());
    for (const Mechanism* off : *mechanisms) {
      if (!off->runs || setting.stop->load()) continue;
      if (const auto run = run_what_is_missing(setting, off); !run)
        return report_error(run.error());
    }
    if (setting.stop->load()) return kExitInterrupted;
  }
  const auto table = table_of(setting, *mechanisms);
  if (!table) return report_error(table.error());
  std::fputs(table->c_str(), stdout);
  if (!options.fix || !options.only.empty()) return kExitPassed;
  const auto drifts = authoring::check_written_part(
      {"docs/timing_model.md", "mechanisms", *table, "grader/vgpu/timing/mechanisms.def",
       "membound dev mechanisms --fix"},
      context->place.root, true);
  for (const authoring::Drift& drift : drifts)
    std::printf("%s\n", authoring::to_string(drift).c_str());
  return drifts.empty() ? kExitPassed : kExitNotPassed;
}

}  // namespace

void add_dev_mechanisms(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevMechanismsOptions>();
  CLI::App* const command = dev.add_subcommand("mechanisms", "");
  command->add_option("--only", options->only);
  command->add_flag("--kept", options->kept);
  command->add_flag("--fix", options->fix);
  command->callback(
      [options, &chosen] { chosen = [options] { return run_dev_mechanisms(*options); }; });
}

}  // namespace membound::cli
