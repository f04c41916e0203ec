// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A text has one verdict: options and commands that only show or store something change neither
/// what is timed nor what comes of it, nor what is remembered. The built program checks an answer
/// of each lab in which one stage is slow, one is wrong and the others are right.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "grader/authoring/patch.hpp"
#include "grader/authoring/wrong_answer.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kDevice = "vgpu:h200";

/// The reference answer of a lab with the mistakes of two of its wrong answers, of which none
/// races: what a race leaves is told as it is.
struct MixedAnswer {
  std::string lab;
  std::string slow, wrong;  ///< "5-slow-one-warp": the first letter is the stage
  [[nodiscard]] std::string slow_stage() const { return lab + "/" + slow.substr(0, 1); }
};

void PrintTo(const MixedAnswer& answer, std::ostream* out) {
  *out << answer.lab << " with " << answer.slow << " and " << answer.wrong;
}

std::string text_of(const fs::path& file) {
  auto text = base::read_file(file);
  EXPECT_TRUE(text.ok()) << file;
  return text ? *std::move(text) : "";
}

std::string mixed_text(const MixedAnswer& answer) {
  const fs::path solution = fs::path(MEMBOUND_SOURCE_DIR) / "solutions" / answer.lab;
  const auto slow = authoring::find_wrong_answer(solution, answer.slow);
  EXPECT_TRUE(slow.ok()) << answer.slow;
  const auto wrong = authoring::find_wrong_answer(solution, answer.wrong);
  EXPECT_TRUE(wrong.ok()) << answer.wrong;
  const auto both = authoring::apply_diff(slow->text, wrong->diff, answer.wrong);
  EXPECT_TRUE(both.ok()) << base::to_string(both.error());
  return both ? both->text : "";
}

/// Takes out of a result what a clock on the wall says.
void forget_wall_clock(json& in) {
  if (in.is_object())
    for (const char* name : {"seconds", "checked_at", "created_at"}) in.erase(name);
  for (json& part : in)
    if (part.is_structured()) forget_wall_clock(part);
}

/// What a file holds, or the first of a list that it holds.
json first_of(const fs::path& file) {
  const json content = json::parse(text_of(file));
  return content.is_array() ? content.at(0) : content;
}

/// What decides of a stage, for two runs that time other blocks: a ratio to one part in a thousand,
/// which is what blocks differ by (docs/judge_and_runner.md).
json verdict_of(const json& stage) {
  json labels = json::array();
  for (const json& timing : stage.at("timings")) labels.push_back(timing.at("label"));
  const json& ratio = stage.at("ratio");  // null where nothing was timed
  return {{"verdict", stage.at("verdict")},
          {"points", stage.at("points")},
          {"ratio", ratio.is_number() ? json(std::round(ratio.get<double>() * 1000)) : ratio},
          {"timed", labels}};
}

/// A course of its own, whose kernel.cu of one lab is the answer.
class OneVerdict : public testing::TestWithParam<MixedAnswer> {
 protected:
  void SetUp() override {
    const fs::path source = MEMBOUND_SOURCE_DIR;
    fs::create_directories(root_ / "labs");
    for (const auto& entry : fs::directory_iterator(source)) {
      const std::string name = entry.path().filename();
      if (name != "labs" && name != "build" && !name.starts_with("."))
        fs::create_symlink(entry.path(), root_ / name);
    }
    for (const auto& entry : fs::directory_iterator(source / "labs"))
      if (entry.path().filename() != lab())
        fs::create_symlink(entry.path(), root_ / "labs" / entry.path().filename());
    fs::copy(source / "labs" / lab(), root_ / "labs" / lab());
    const std::string text = mixed_text(GetParam());
    ASSERT_FALSE(text.empty());
    ASSERT_TRUE(base::write_file(root_ / "labs" / lab() / "kernel.cu", text));
    ASSERT_TRUE(base::write_file(folder_.path() / "class" / "ada" / "kernel.cu", text));
  }

  [[nodiscard]] static std::string lab() { return GetParam().lab; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.path() / name; }

  /// `until`: ends a command that would wait for more; null: it ends by itself.
  base::ProcessOutcome run(std::vector<std::string> words,
                           std::map<std::string, std::string> environment = {},
                           std::function<bool()> until = {}) const {
    words.insert(words.begin(), MEMBOUND_PROGRAM);
    words.insert(words.end(), {"--device", kDevice});
    environment["MEMBOUND_ROOT"] = root_;
    const auto outcome = base::run_process({.arguments = words,
                                            .environment = environment,
                                            .timeout_seconds = 600,
                                            .output_limit_bytes = 1 << 24,
                                            .keep_going = [&] { return !until || !until(); }});
    EXPECT_TRUE(outcome.ok());
    return outcome ? *outcome : base::ProcessOutcome();
  }

  /// What is remembered of the lab after the command, by stage, where nothing was before.
  std::map<std::string, json> remembered(std::vector<std::string> words,
                                         std::map<std::string, std::string> environment = {}) {
    const fs::path state = root_ / ".membound" / "state" / lab();
    fs::remove_all(state);
    const bool waits = words.front() == "watch";
    const fs::path awaited = state / (GetParam().slow.substr(0, 1) + ".json");
    const base::ProcessOutcome outcome =
        run(std::move(words), std::move(environment),
            waits ? [&] { return fs::exists(awaited); } : std::function<bool()>());
    std::map<std::string, json> stages;
    if (fs::exists(state))
      for (const auto& entry : fs::directory_iterator(state)) {
        json stage = json::parse(text_of(entry.path()));
        forget_wall_clock(stage);
        stages[entry.path().stem()] = std::move(stage);
      }
    EXPECT_FALSE(stages.empty()) << outcome.output;
    return stages;
  }

  judge::TemporaryFolder folder_;
  fs::path root_ = folder_.path() / "course";
};

TEST_P(OneVerdict, IsRememberedWhateverIsShownOrStored) {
  const auto plain = remembered({"check", lab()});
  std::set<std::string> verdicts;
  for (const auto& [number, stage] : plain) verdicts.insert(stage.at("last").at("verdict"));
  EXPECT_THAT(verdicts,
              testing::AllOf(testing::SizeIs(testing::Ge(3)), testing::Contains("passed")))
      << "one stage is right, one slow, one wrong";

  EXPECT_EQ(remembered({"check", lab(), "--html", file("page.html"), "--json", file("all.json")},
                       {{"COLUMNS", "43"}, {"CLICOLOR_FORCE", "1"}, {"MEMBOUND_TRACE", "on"}}),
            plain);
  EXPECT_EQ(remembered({"profile", lab(), "--html", file("profile.html")}, {{"NO_COLOR", "1"}}),
            plain);
  EXPECT_EQ(remembered({"watch", GetParam().slow_stage()}),
            (std::map<std::string, json>{
                {GetParam().slow.substr(0, 1), plain.at(GetParam().slow.substr(0, 1))}}))
      << "one stage by itself";
}

TEST_P(OneVerdict, IsTheGradeOfAClass) {
  const std::string out = file("grades");
  const base::ProcessOutcome graded = run(
      {"grade", file("class"), "--lab", lab(), "--out", out, "--trust-submissions", "--seed", "7"});
  std::vector<fs::path> grades;
  for (const auto& entry : fs::recursive_directory_iterator(out))
    if (entry.path().filename() == "ada.json") grades.push_back(entry.path());
  ASSERT_EQ(grades.size(), 1U) << graded.output;
  const json grade = first_of(grades.front());
  // The same inputs: the batch draws them for each submission.
  const std::string seed = std::to_string(grade.at("seed").get<std::uint64_t>());
  const base::ProcessOutcome checked =
      run({"check", lab(), "--seed", seed, "--json", file("check.json")});
  const json check = first_of(file("check.json"));
  const json& stages = grade.at("result").at("stages");
  ASSERT_EQ(check.at("stages").size(), stages.size()) << checked.output;
  for (std::size_t i = 0; i < stages.size(); ++i)
    EXPECT_EQ(verdict_of(check.at("stages")[i]), verdict_of(stages[i])) << "stage " << i + 1;
}

INSTANTIATE_TEST_SUITE_P(
    Labs, OneVerdict,
    testing::Values(MixedAnswer{"00-hello-gpu", "2-stretch-per-thread", "3-rounds-down"},
                    MixedAnswer{"01-reverse-array", "3-slow-one-warp", "2-order-of-blocks-kept"},
                    MixedAnswer{"02-coalescing", "3-float-per-thread", "4-counts-floats"},
                    MixedAnswer{"03-transpose", "5-one-element-per-thread", "4-parameters-swapped"},
                    MixedAnswer{"04-reduction", "5-slow-one-warp", "4-starts-at-8"},
                    MixedAnswer{"05-bank-conflicts", "5-as-it-comes", "4-first-guard-serves-both"},
                    MixedAnswer{"06-shortcut", "2-slow-columns", "1-begins-at-zero"},
                    MixedAnswer{"08-local-memory", "3-own-array", "2-remainder"},
                    MixedAnswer{"09-latency-hiding", "2-loads-one-at-a-time", "4-mixes-up-units"},
                    MixedAnswer{"12-streams", "2-one-stream", "1-bytes-for-elements"}),
    [](const auto& answer) { return "Lab" + answer.param.lab.substr(0, 2); });

}  // namespace
}  // namespace membound::cli
