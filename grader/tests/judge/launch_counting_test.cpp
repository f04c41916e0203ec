// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// A check on a GPU, for which the virtual one stands in, with a program in ncu's place that prints
// what an H200's ncu printed of the same launches.
#include "grader/judge/profiling_runs.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "grader/judge/counters_profile.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/ncu_report.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/tests/judge/ncu_log.hpp"
#include "grader/tests/judge/temporary_folder.hpp"
#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using course::StageMeasurement;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int kTiled = 3;  // stage

class Counting : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path root = MEMBOUND_SOURCE_DIR, build = MEMBOUND_BUILD_DIR;
    request_.place = {root, build, folder_.path()};
    auto lab = course::read_lab(root / "labs/03-transpose/lab.json");
    ASSERT_TRUE(lab) << base::to_string(lab.error());
    lab_ = *std::move(lab);
    for (course::Stage& stage : lab_.stages) stage.timeout_seconds = 1;
    fs::path answer;
    for (const auto compiler :
         {compilers::DeviceCompiler::kClang, compilers::DeviceCompiler::kNvcc})
      if (const fs::path built = built_reference(request_.place, lab_, compiler); fs::exists(built))
        answer = built;
    ASSERT_FALSE(answer.empty()) << "the build makes a reference answer with some compiler";
    RunRequest run;
    run.program = test_program(request_.place, lab_, course::kKernelStage);
    run.lab_json = root / "labs/03-transpose/lab.json";
    run.submission = answer;
    run.parts = run.backend->parts(request_.place, answer);
    run.lab = &lab_;
    run.stages = {kTiled};
    run.environment = virtual_gpu("h200", build).environment;
    run.scratch_folder = folder_.path() / "tmp";
    fs::create_directories(run.scratch_folder);
    runs_ = {run, run};
    runs_.on_virtual.more_arguments = {"--counters", "--size", "113x211"};
    runs_.on_gpu.more_arguments = {"--size", "9999x9999"};  // what is counted decides, not this
  }

  /// A program that keeps its arguments, writes `log` where ncu would, and does `rest`.
  Ncu ncu(const std::string& log, const std::string& rest) {
    const fs::path recorded = folder_.write("recorded", log);
    return {folder_.script("ncu", "echo \"$@\" > " + (folder_.path() / "arguments").string() + R"(
while [ "$1" != --log-file ]; do shift; done
cp )" + recorded.string() + R"( "$2"; shift 2
)" + rest)};
  }
  static constexpr const char* kRunIt = "exec \"$@\"";

  StageMeasurement count_with(const Ncu& ncu) {
    StageMeasurement measurement;
    measurement.stage = kTiled;
    measurement.kernel = "transpose_tiled";
    measurement.tests.push_back({"TilesCutOffAtBothEdges", true, false, "", "", 0});
    measurement.device.name = "NVIDIA H200";
    std::vector<StageMeasurement> all = {measurement};
    choose_counting(request_.sandbox || request_.graded, ncu)->count(runs_, all);
    return all.front();
  }

  std::string arguments() {
    const auto text = base::read_file(folder_.path() / "arguments");
    return text ? *text : "";
  }

  TemporaryFolder folder_;
  course::Lab lab_;
  CheckRequest request_;
  CountingRuns runs_;
};

TEST_F(Counting, TakesNcusCountsAndSaysWhichTheyAre) {
  const StageMeasurement counted = count_with(ncu(ncu_log_of_transpose(), kRunIt));
  ASSERT_THAT(counted.notes,
              ElementsAre(AllOf(HasSubstr("Counted by ncu on NVIDIA H200 at 113x211"),
                                HasSubstr("The others"))));
  EXPECT_THAT(counted.counted_on, AllOf(HasSubstr("ncu"), HasSubstr("vgpu:h200")));
  const auto own = own_launches(counted.counters);
  ASSERT_EQ(own.size(), 2U);
  // The H200 read 98,560 bytes; the virtual GPU counts 97,152.
  EXPECT_EQ((*own[0])["counters"]["dram_read_bytes"], 98560);
  EXPECT_GT((*own[0])["counters"]["warp_instructions"], 0);
  const auto kernels = profiles(counted.counters);
  ASSERT_FALSE(kernels.empty());
  ASSERT_FALSE(kernels[0].advice.empty());
  EXPECT_EQ(kernels[0].advice[0].rule, "bank-conflicts");
  EXPECT_EQ(kernels[0].advice[0].counted_by, "ncu");
}

TEST_F(Counting, AsksForTheStudentsKernelsByNameAtTheSizeOfTheVirtualGpu) {
  count_with(ncu(ncu_log_of_transpose(), kRunIt));
  EXPECT_THAT(arguments(), AllOf(HasSubstr("--csv --page raw --print-units base"),
                                 HasSubstr("regex:^(_Z15transpose_tiledIdEvPT_PKS0_ii|"
                                           "_Z15transpose_tiledIfEvPT_PKS0_ii)$"),
                                 HasSubstr("--metrics " + ncu_metrics()), HasSubstr("--look"),
                                 HasSubstr("--size 113x211"), Not(HasSubstr("9999"))));
}

TEST_F(Counting, FollowsTheCountsThatNcuGives) {
  runs_.on_virtual.environment["MEMBOUND_WORK"] = "on";
  const json own = count_with({}).counters;
  auto launches = read_ncu_table(ncu_log_of_transpose());
  const auto machine = vgpu::timing::find_machine("h200");
  ASSERT_TRUE(launches && machine);
  // As if the kernel had been mended: few passes.
  for (NcuLaunch& launch : *launches)
    for (std::size_t i = 0; i < launch.counts.size(); ++i)
      if (vgpu::counters::all_counters()[i].name.find("wavefronts") != std::string_view::npos)
        launch.counts[i] = 100;
  const auto mended = with_ncu_counts(own, *launches, *machine);
  ASSERT_TRUE(mended) << base::to_string(mended.error());
  EXPECT_LT(profiles(*mended)[0].predicted_ns, profiles(own)[0].predicted_ns);
  EXPECT_EQ(profiles(own)[0].advice.at(0).rule, "bank-conflicts");
  EXPECT_TRUE(profiles(*mended)[0].advice.empty());
}

TEST_F(Counting, TakesTheCaseOfTheReportAmongThoseThatAStageTimes) {
  runs_.on_virtual.environment["MEMBOUND_WORK"] = "on";
  const json own = count_with({}).counters;
  const auto launches = read_ncu_table(ncu_log_of_transpose());
  const auto machine = vgpu::timing::find_machine("h200");
  ASSERT_TRUE(launches && machine);
  const auto alone = with_ncu_counts(own, *launches, *machine);
  ASSERT_TRUE(alone) << base::to_string(alone.error());
  std::vector<NcuLaunch> cases = *launches;
  for (NcuLaunch& launch : cases) ++launch.grid[0];  // another size, timed before it
  cases.insert(cases.end(), launches->begin(), launches->end());
  const auto among_others = with_ncu_counts(own, cases, *machine);
  ASSERT_TRUE(among_others) << base::to_string(among_others.error());
  EXPECT_EQ(*among_others, *alone);
  cases.pop_back();
  EXPECT_FALSE(with_ncu_counts(own, cases, *machine));
}

TEST_F(Counting, AsksNoClockThatDoesNotRepeatWhatTheReportSays) {
  runs_.on_virtual.environment["MEMBOUND_WORK"] = "on";
  const json own = count_with({}).counters;
  const auto launches = read_ncu_table(ncu_log_of_transpose());
  const auto machine = vgpu::timing::find_machine("k80");
  ASSERT_TRUE(launches && machine);
  const auto merged = with_ncu_counts(own, *launches, *machine);
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().found, HasSubstr("does not repeat"));
}

TEST_F(Counting, OfItsOwnCountsTheClockSaysTheSameAgain) {
  runs_.on_virtual.environment["MEMBOUND_WORK"] = "on";
  const json own = count_with({}).counters;
  auto launches = read_ncu_table(ncu_log_of_transpose());
  const auto machine = vgpu::timing::find_machine("h200");
  ASSERT_TRUE(launches && machine);
  for (NcuLaunch& launch : *launches) std::ranges::fill(launch.counts, std::nullopt);
  const auto again = with_ncu_counts(own, *launches, *machine);
  ASSERT_TRUE(again) << base::to_string(again.error());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*again)["kernels"][i]["counters"], own["kernels"][i]["counters"]);
    EXPECT_EQ((*again)["kernels"][i]["bounds"], own["kernels"][i]["bounds"]);
    const auto was = profiles(own)[i].advice, is = profiles(*again)[i].advice;
    ASSERT_EQ(was.size(), is.size());
    for (std::size_t a = 0; a < is.size(); ++a) {
      EXPECT_EQ(was[a].gain, is[a].gain);
      EXPECT_EQ(is[a].counted_by, "virtual GPU");
    }
  }
}

TEST_F(Counting, AnyCountsArePredictedWithoutNonsense) {
  runs_.on_virtual.environment["MEMBOUND_WORK"] = "on";
  const json own = count_with({}).counters;
  const auto good = read_ncu_table(ncu_log_of_transpose());
  const auto machine = vgpu::timing::find_machine("h200");
  ASSERT_TRUE(good && machine);
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    auto launches = *good;
    for (NcuLaunch& launch : launches)
      for (auto& count : launch.counts)
        if (random() % 3 == 0) count = random() % 2 == 0 ? 0 : random() >> (random() % 60 + 4);
    const auto merged = with_ncu_counts(own, launches, *machine);
    ASSERT_TRUE(merged) << base::to_string(merged.error());
    for (const course::KernelProfile& kernel : profiles(*merged)) {
      EXPECT_TRUE(std::isfinite(kernel.predicted_ns) && kernel.predicted_ns > 0);
      for (const course::SpeedAdvice& advice : kernel.advice) EXPECT_GE(advice.gain, 1.05);
    }
  }
}

/// What ncu did wrong, and what a student reads.
struct Surprise {
  const char* what;
  std::string log, rest, says;
};

TEST_F(Counting, AnySurpriseLeavesTheVirtualGpusCountsAndANote) {
  const StageMeasurement plain = count_with({});
  ASSERT_THAT(plain.notes, ElementsAre(HasSubstr("ncu's to read, which is not installed")));
  const std::string good = ncu_log_of_transpose();
  const std::string half = good.substr(0, good.rfind("\"1\",\"4711\""));
  std::string other = good;
  other.replace(other.find("(7, 4, 1)"), 9, "(8, 4, 1)");
  std::string bad = good;
  bad.replace(bad.find("98560"), 5, "-8560");
  const Surprise surprises[] = {
      {"no right to count",
       "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
       "Performance Counters on the target device 0.\n",
       kRunIt, "ncu may not count here (ERR_NVGPUCTRPERM"},
      {"nothing printed", "", kRunIt, "a table of launches"},
      {"it fails", "==ERROR== unrecognised option '--print-kernel-base'.\n", "exit 1",
       "unrecognised option"},
      {"it crashes", "", "kill -SEGV $$", "a table of launches"},
      {"it never ends", good, "sleep 60", "longer than a check should"},
      {"one launch of two", half, kRunIt, "1 launches, expected 2"},
      {"another shape", other, kRunIt, "8 x 4 x 1 blocks of 32 x 32 x 1 threads where 7 x 4 x 1"},
      {"a bad row", bad, kRunIt, "row 3"},
  };
  for (const Surprise& surprise : surprises) {
    Ncu stand_in = ncu(surprise.log, surprise.rest);
    if (surprise.rest.starts_with("sleep")) stand_in.seconds_per_stage = 1;
    const StageMeasurement counted = count_with(stand_in);
    EXPECT_THAT(counted.notes, ElementsAre(AllOf(HasSubstr("Counted on the virtual GPU, vgpu:h200"),
                                                 HasSubstr(surprise.says))))
        << surprise.what;
    EXPECT_EQ(profiles(counted.counters)[0].advice.size(),
              profiles(plain.counters)[0].advice.size())
        << surprise.what;
    EXPECT_EQ(counted.counters["kernels"][0]["counters"], plain.counters["kernels"][0]["counters"])
        << surprise.what;
    EXPECT_EQ(counted.abort, course::Cause::kNone) << surprise.what;
  }
  EXPECT_TRUE(fs::is_empty(runs_.on_gpu.scratch_folder)) << "something was left behind";
}

TEST_F(Counting, WhatIsGradedNeverRunsUnderNcu) {
  request_.graded.emplace();
  EXPECT_THAT(count_with(ncu(ncu_log_of_transpose(), kRunIt)).notes,
              ElementsAre(HasSubstr("what is graded runs under no profiler")));
  request_.graded.reset();
  request_.sandbox.emplace();
  EXPECT_THAT(count_with(ncu(ncu_log_of_transpose(), kRunIt)).notes,
              ElementsAre(HasSubstr("what is graded runs under no profiler")));
  EXPECT_EQ(arguments(), "");
}

TEST_F(Counting, NoCountChangesAVerdictOrAPoint) {
  StageMeasurement counted = count_with(ncu(ncu_log_of_transpose(), kRunIt));
  const course::Stage& stage = *lab_.stage(kTiled);
  const auto with = judge_stage(lab_, stage, counted);
  counted.counters = nullptr;
  counted.counted_on.clear();
  const auto without = judge_stage(lab_, stage, counted);
  EXPECT_EQ(with.verdict, without.verdict);
  EXPECT_EQ(with.points, without.points);
  EXPECT_FALSE(with.profiles.empty());
}

TEST_F(Counting, ACheckOfAStudentOnAGpuAsksNcuAndPassesWhateverItSays) {
  const auto compiler =
      compilers::find_any_compiler(compilers::compiler_places(MEMBOUND_SOURCE_DIR));
  ASSERT_TRUE(compiler) << base::to_string(compiler.error());
  const Ncu stand_in = ncu(ncu_log_of_transpose(), "exit 0");
  const char* const path = std::getenv("PATH");
  ASSERT_NE(path, nullptr);
  const std::string old = path;
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  setenv("PATH", (stand_in.program.parent_path().string() + ":" + old).c_str(), 1);
  request_.lab = &lab_;
  request_.stages = {kTiled};
  request_.submission = fs::path(MEMBOUND_SOURCE_DIR) / "solutions/03-transpose/kernel.cu";
  request_.compiler = *compiler;
  request_.device = real_gpu();
  request_.device.environment = virtual_gpu("h200", MEMBOUND_BUILD_DIR).environment;
  request_.more_arguments = {"--size", "113x211"};  // the virtual GPU counts at its own
  request_.profiling.counters = true;
  const auto result = check(request_);
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  setenv("PATH", old.c_str(), 1);
  ASSERT_TRUE(result) << base::to_string(result.error());
  ASSERT_EQ(result->stages.size(), 1U);
  EXPECT_EQ(result->stages[0].verdict, course::Verdict::kPassed);
  EXPECT_THAT(result->stages[0].notes, testing::Contains(HasSubstr("ncu saw something else")));
  EXPECT_FALSE(result->stages[0].profiles.empty());
  EXPECT_THAT(arguments(), AllOf(HasSubstr("transpose_tiled"), Not(HasSubstr("113x211"))));
}

TEST(FindNcu, LooksInThePathThenBesideTheCompiler) {
  const TemporaryFolder folder;
  const fs::path beside = folder.script("toolkit/bin/ncu", ""), ours = folder.script("bin/ncu", "");
  compilers::CompilerInfo compiler;
  compiler.program = folder.path() / "toolkit/bin/nvcc";
  EXPECT_EQ(find_ncu((folder.path() / "bin").string(), compiler).program, ours);
  EXPECT_EQ(find_ncu("", compiler).program, beside);
  compiler.program = folder.path() / "bin2/nvcc";
  EXPECT_TRUE(find_ncu("", compiler).program.empty());
}

}  // namespace
}  // namespace membound::judge
