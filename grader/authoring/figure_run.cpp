// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure_run.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "grader/base/text_files.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/tools.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

std::string first_failure(const course::StageResult& stage) {
  for (const course::TestOutcome& test : stage.tests)
    if (!test.passed) return test.name + ": " + test.message;
  return stage.findings.empty() ? "" : stage.findings.front().text;
}

base::Result<fs::path> answer_file(const judge::Workplace& place, const course::Lab& lab,
                                   const std::string& answer) {
  fs::path file = answer;
  if (answer == "reference") file = place.root / "solutions" / lab.id / "kernel.cu";
  if (answer == "skeleton") file = lab.folder / "kernel.cu";
  std::error_code error;
  if (fs::exists(file, error)) return fs::absolute(file, error);
  return input_error("--answer " + answer, "there is no such file",
                     "reference, skeleton, or a kernel.cu", "");
}

}  // namespace

base::Error input_error(std::string where, std::string found, std::string expected,
                        std::string advice) {
  return {base::ErrorKind::kInput, std::move(where), std::move(found), std::move(expected),
          std::move(advice)};
}

base::Result<Traced> run_lab(const judge::Workplace& place, const course::Course& course,
                             const FigureOptions& options) {
  const auto lab = course.find(options.what);
  if (!lab) return lab.error();
  const int number = options.stage == 0 ? (*lab)->stages.front().number : options.stage;
  if ((*lab)->stage(number) == nullptr) {
    return base::Error{base::ErrorKind::kUsage, "--stage",
                       (*lab)->id + " has no stage " + std::to_string(number),
                       "1 to " + std::to_string((*lab)->stages.size()), ""};
  }
  const auto file = answer_file(place, **lab, options.answer);
  if (!file) return file.error();
  judge::CheckOptions check;
  check.device = options.device;
  check.compiler = options.compiler;
  check.submission = file->string();
  check.no_gpu = base::Error{base::ErrorKind::kUsage, "--device",
                             "a GPU does not tell what its lanes do", "vgpu or vgpu:MODEL", ""};
  const auto tools = judge::choose_tools(place, check);
  if (!tools) return tools.error();
  judge::CheckRequest request = judge::request_for(place, *tools, check, {*lab, {number}}, nullptr);
  request.more_arguments = {
      "--counters", "--gtest_filter=*." + std::string(to_string(course::BuiltInTest::kSpeed))};
  if (!options.size.empty())
    request.more_arguments.insert(request.more_arguments.end(), {"--size", options.size});
  request.device.environment["MEMBOUND_CACHES"] = "off";
  request.device.environment["MEMBOUND_TRACE"] =
      options.block + ":" + std::to_string(options.warp) + ":" +
      std::to_string(std::max(options.occurrence + 1, options.steps));
  auto code = judge::compile_submission(request);
  if (!code) return code.error();
  judge::CompiledPart& part = code->parts.front();
  if (!part.submission.compiled)
    return input_error(file->string(), "does not compile:\n" + part.submission.output, "", "");
  part.reference = part.submission.file;  // nothing is graded: one answer is enough
  const auto result = judge::run_and_judge(request, *code);
  if (!result) return result.error();
  const course::StageResult& stage = result->stages.front();
  if (stage.profiles.empty()) {
    return input_error(
        file->string(),
        "its kernel of stage " + std::to_string(number) + " did not run: " + first_failure(stage),
        "a kernel that runs", "membound check " + (*lab)->id + "/" + std::to_string(number));
  }
  return Traced{stage.profiles, *file, (*lab)->id + ", stage " + std::to_string(number)};
}

base::Result<Traced> read_counters(const FigureOptions& options) {
  const auto text = base::read_file(options.what);
  if (!text) return text.error();
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("kernels"))
    return input_error(options.what, "is not a counters file", "docs/counters_file.md",
                       "membound run --counters FILE --trace -- PROGRAM");
  return Traced{judge::profiles(json), {}, fs::path(options.what).filename().string()};
}

}  // namespace membound::authoring
