// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/predicted_runs.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "grader/base/process.hpp"
#include "grader/base/scratch_folder.hpp"
#include "grader/base/text_files.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/experiment_run.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 300;  // a run of a handout takes some

base::Result<SaidFigures> figures_of_experiment(const judge::ExperimentRequest& request) {
  const auto run = judge::run_experiment(request);
  if (!run) return run.error();
  SaidFigures said;
  for (const course::ExperimentTime& time : run->times) {
    const std::string label =
        time.point.label.empty() ? std::to_string(time.point.x) : time.point.label;
    said[label + ".us"] = {time.time_ns / 1e3, false};
    said[label + ".gbs"] = {time.rate, false};
  }
  return said;
}

/// "suspect_a" of "suspect_a(int*, int const*)".
std::string short_name(const nlohmann::json& kernel) {
  const std::string name = judge::kernel_name(kernel);
  return name.substr(0, name.find('('));
}

void say_launch(const std::string& name, const nlohmann::json& kernel, SaidFigures& said) {
  for (const auto& [counter, value] : kernel.at("counters").items())
    said[name + "." + counter] = {value.get<double>(), true};
  for (const nlohmann::json& bound : kernel.at("bounds"))
    said[name + ".us of " + bound.at("name").get<std::string>()] = {
        bound.at("ns").get<double>() / 1e3, false};
}

base::Error failed(const std::string& what, const base::ProcessOutcome& outcome) {
  return {base::ErrorKind::kInput, what, "failed:\n" + outcome.output,
          "a program of a handout, as its text runs it", ""};
}

}  // namespace

SaidFigures figures_of(const Proof& proof) {
  const std::string file = proof.claim.file.stem().string();
  const bool is_wrong = file != "kernel";
  if (!is_wrong && !proof.claim.fails.empty()) return {};
  SaidFigures said;
  for (const course::StageResult& stage : proof.stages)
    said.merge(figures_of(is_wrong ? file : std::to_string(stage.stage), stage));
  return said;
}

base::Result<SaidFigures> figures_of_run(const judge::Workplace& place, const judge::Tools& tools,
                                         const std::string& lab, const std::string& run,
                                         const std::atomic<bool>* stop) {
  std::istringstream stream(run);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.size() == 2 && words[0] == "experiment") {
    const auto all = course::read_experiments(place.root);
    if (!all) return all.error();
    const auto found = course::find_experiment(*all, words[1]);
    if (!found) return found.error();
    return figures_of_experiment({place, tools, *found, 0, stop});
  }
  auto environment = tools.device.environment;
  while (!words.empty() && words[0].find('=') != std::string::npos) {
    const auto equal = words[0].find('=');
    environment[words[0].substr(0, equal)] = words[0].substr(equal + 1);
    words.erase(words.begin());
  }
  if (words.empty())
    return base::Error{base::ErrorKind::kInput, "\"" + run + "\"", "no program",
                       "FILE.cu, or experiment NAME", "correct handouts/predicted.csv"};
  const base::ScratchFolder folder("predicted");
  const fs::path counters = folder.path() / "counters.json";
  const std::string source = (place.root / "handouts" / lab / words[0]).string();
  words[0] = (folder.path() / "program").string();
  const auto compiled =
      base::run_process({.arguments = {tools.compiler.program.string(), "-O3", "-std=c++20",
                                       "-cudart", "shared", "-arch=sm_90", source, "-o", words[0]},
                         .timeout_seconds = kSeconds,
                         .stop = stop});
  if (!compiled) return compiled.error();
  if (compiled->exit_code != 0) return failed(source, *compiled);
  environment["MEMBOUND_COUNTERS"] = counters.string();
  const auto outcome = base::run_process(
      {.arguments = words, .environment = environment, .timeout_seconds = kSeconds, .stop = stop});
  if (!outcome) return outcome.error();
  if (outcome->exit_code != 0) return failed(run, *outcome);
  SaidFigures said = lines_of_output(outcome->output);
  const auto text = base::read_file(counters);
  if (!text) return text.error();
  const nlohmann::json counted = nlohmann::json::parse(*text);
  for (const nlohmann::json& kernel : counted.at("kernels")) {
    const std::string name = short_name(kernel);
    if (!said.contains(name + ".threads")) say_launch(name, kernel, said);
    say_launch(name + " last", kernel, said);
  }
  return said;
}

}  // namespace membound::authoring
