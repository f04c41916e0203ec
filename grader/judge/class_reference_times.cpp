// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/class_reference_times.hpp"

#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> command(const CheckRequest& request, const fs::path& oracle,
                                 const fs::path& reference, const fs::path& file) {
  std::vector<std::string> words = {
      test_program(request.place, *request.lab, course::kKernelStage).string(),
      "--lab",
      (request.lab->folder / "lab.json").string(),
      "--submission",
      reference.string(),
      "--reference",
      reference.string(),
      "--harness-kernels",
      harness_kernels(request.place).string(),
      "--time-reference",
      file.string(),
  };
  if (!oracle.empty()) words.insert(words.end(), {"--oracle", oracle.string()});
  if (request.sandbox && request.sandbox->sample_seed)
    words.insert(words.end(), {"--sample-seed", std::to_string(*request.sandbox->sample_seed)});
  words.insert(words.end(), request.more_arguments.begin(), request.more_arguments.end());
  return words;
}

base::Error cannot(const CheckRequest& request, const std::string& why) {
  return {base::ErrorKind::kMachine, request.lab->id,
          "the reference answer could not be timed: " + why, "its predicted times",
          "membound dev check " + request.lab->id};
}

/// Runs the test program; the file is there afterwards.
base::Status make(const CheckRequest& request, const fs::path& reference, const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path part = file.string() + "." + std::to_string(gettid()) + ".part";
  const double seconds =
      request.seconds_per_stage * static_cast<double>(request.lab->stages.size());
  // All others wait for it once they are compiled: it may use all processors.
  std::map<std::string, std::string> environment = request.device.environment;
  environment.erase("MEMBOUND_WORKERS");
  const auto oracle = make_oracle(request.place, *request.lab);
  if (!oracle) return oracle.error();
  const auto run = base::run_process({.arguments = command(request, *oracle, reference, part),
                                      .environment = environment,
                                      .timeout_seconds = seconds,
                                      .stop = request.stop});
  if (!run) return run.error();
  if (run->exit_code != 0) {
    fs::remove(part, error);
    return cannot(request, run->stopped ? "stopped" : base::printable(run->output));
  }
  fs::rename(part, file, error);
  if (error) return cannot(request, file.string() + ": " + error.message());
  return base::Done{};
}

}  // namespace

base::Result<ReferenceTimes> reference_times_from_text(const std::string& text,
                                                       const std::string& file_name) {
  try {
    const nlohmann::json whole = nlohmann::json::parse(text);
    ReferenceTimes times;
    times.file = file_name;
    times.unusable = whole.at("unusable");
    nlohmann::json kept = {whole.at("schema"), whole.at("lab"), whole.at("device")};
    for (const nlohmann::json& one : whole.at("cases"))
      kept.push_back({one.at("stage"), one.at("label"), one.at("sampled"), one.at("time_ns"),
                      one.at("ceiling")});
    times.sha256 = base::sha256(kept.dump());
    return times;
  } catch (const nlohmann::json::exception& problem) {
    return base::Error{base::ErrorKind::kMachine, file_name,
                       std::string("holds no reference times: ") + problem.what(),
                       "what a lab's test program wrote", "remove the file; it is made anew"};
  }
}

base::Result<ReferenceTimes> time_reference(const CheckRequest& request, const fs::path& reference,
                                            const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    if (const auto made = make(request, reference, file); !made) return made.error();
  const auto text = base::read_file(file);
  if (!text) return text.error();
  return reference_times_from_text(*text, file.string());
}

}  // namespace membound::judge
