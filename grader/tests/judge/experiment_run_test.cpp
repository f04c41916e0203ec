// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// The course's own experiments, run on the virtual GPU at sizes that take no time.
#include "grader/judge/experiment_run.hpp"

#include <gmock/gmock.h>

#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RunOfAnExperiment : public testing::Test {
 protected:
  void SetUp() override {
    const auto all = course::read_experiments(request_.place.root);
    ASSERT_TRUE(all) << base::to_string(all.error());
    all_ = *all;
    CheckOptions options;
    options.device = "vgpu:h200";
    const auto tools = choose_tools(request_.place, options);
    if (!tools) GTEST_SKIP() << base::to_string(tools.error());
    request_.tools = *tools;
  }
  void choose(const std::string& name) {
    const auto found = course::find_experiment(all_, name);
    ASSERT_TRUE(found) << base::to_string(found.error());
    request_.experiment = *found;
  }
  std::string error() {
    const auto run = run_experiment(request_);
    return run ? "no error" : base::to_string(run.error());
  }

  TemporaryFolder folder_;
  std::vector<course::Experiment> all_;
  ExperimentRequest request_{{MEMBOUND_SOURCE_DIR, MEMBOUND_BUILD_DIR, folder_.path()}, {}, {}};
};

TEST_F(RunOfAnExperiment, TimesEachPointOfEveryOneOfTheCourse) {
  ASSERT_FALSE(all_.empty());
  for (const course::Experiment& each : all_) {
    if (each.program) continue;
    request_.experiment = each;
    request_.size = (255 / each.multiple_of + 1) * each.multiple_of;
    const auto run = run_experiment(request_);
    ASSERT_TRUE(run) << base::to_string(run.error());
    EXPECT_TRUE(run->predicted);
    EXPECT_EQ(run->size, request_.size);
    ASSERT_EQ(run->times.size(), each.points.size()) << each.name;
    for (const course::ExperimentTime& time : run->times) {
      EXPECT_GT(time.time_ns, 0) << each.name << " " << time.point.label;
      EXPECT_DOUBLE_EQ(time.rate, each.amount(run->size) / time.time_ns);
    }
  }
}

TEST_F(RunOfAnExperiment, ThatIsAProgramPrintsItsOwnTableWithEachCompiler) {
  choose("bank-strides");
  int compilers_found = 0;
  for (const auto kind : {compilers::DeviceCompiler::kNvcc, compilers::DeviceCompiler::kClang}) {
    const auto compiler =
        compilers::find_compiler(kind, compilers::compiler_places(request_.place.root));
    if (!compiler) continue;
    ++compilers_found;
    request_.tools.compiler = *compiler;
    const ProgramRun program = program_of(request_.experiment, request_.tools);
    EXPECT_EQ(program.environment.at("MEMBOUND_SMS"), "1");
    const auto output = run_program(request_.place, program, request_.tools, nullptr);
    ASSERT_TRUE(output) << base::to_string(output.error());
    EXPECT_THAT(*output, HasSubstr("the suspects, ms")) << compiler->name();
  }
  EXPECT_GT(compilers_found, 0);
}

TEST_F(RunOfAnExperiment, PaddingTakesTheBankConflictsAway) {
  choose("tile-widths");
  request_.size = 512;
  const auto run = run_experiment(request_);
  ASSERT_TRUE(run) << base::to_string(run.error());
  ASSERT_EQ(run->times.back().point.label, "32, padded");
  EXPECT_LT(run->times.back().time_ns, run->times.end()[-2].time_ns);
}

TEST_F(RunOfAnExperiment, WordsThatAreUsedAtOnceAreFoundInL1) {
  choose("two-suspects");
  request_.size = 3 << 22;  // 380 KB an SM, more than its L1 holds
  const auto run = run_experiment(request_);
  ASSERT_TRUE(run) << base::to_string(run.error());
  EXPECT_GT(run->times[0].time_ns, 1.2 * run->times[1].time_ns) << "three walks, and one";
}

TEST_F(RunOfAnExperiment, RefusesASizeThatTheKernelDoesNotTake) {
  choose("tile-widths");
  request_.size = 100;
  EXPECT_THAT(error(), AllOf(HasSubstr("--size: 100"), HasSubstr("a multiple of 32"),
                             HasSubstr("tile-widths"), HasSubstr("try: --size 1024")));
}

TEST_F(RunOfAnExperiment, RefusesASizeThatNoMachineHasRoomFor) {
  choose("tile-widths");
  request_.size = std::int64_t{1} << 30;
  EXPECT_THAT(error(), AllOf(HasSubstr("n = 1073741824: the two arrays take"),
                             HasSubstr("GB that there are"), HasSubstr("a smaller --size")));
}

TEST_F(RunOfAnExperiment, AKernelThatDoesNotCompileIsToldWithTheCompilersWords) {
  choose("tile-widths");
  request_.experiment.file = folder_.write("shapes.cu", "#include \"membound.cuh\"\nint a\n");
  EXPECT_THAT(error(), AllOf(HasSubstr("does not compile"), HasSubstr("expected")));
}

TEST_F(RunOfAnExperiment, AKernelThatIsNotThereIsNamed) {
  choose("tile-widths");
  request_.experiment.file = folder_.write("shapes.cu", "#include \"membound.cuh\"\n");
  EXPECT_THAT(error(), AllOf(HasSubstr("\nhandouts/03-transpose/shapes.cu: "),
                             HasSubstr("there is no LAUNCH_SHAPE(tile_widths"),
                             HasSubstr("experiments.json"), Not(HasSubstr("membound reset"))));
}

TEST_F(RunOfAnExperiment, StopsWhenItIsToldTo) {
  choose("tile-widths");
  const std::atomic<bool> stop = true;
  request_.stop = &stop;
  const auto run = run_experiment(request_);
  ASSERT_TRUE(run) << base::to_string(run.error());
  EXPECT_TRUE(run->times.empty());
}

}  // namespace
}  // namespace membound::judge
