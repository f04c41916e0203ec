// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/stage_runs.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/judge/checker_rerun.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

using testing::HasSubstr;

/// A test program whose stages do what their entry of `plan` says: pass, fault, crash, hang, quiet.
class TestProgram : public testing::Test {
 protected:
  void SetUp() override {
    for (int number = 1; number <= 4; ++number) {
      course::Stage stage;
      stage.number = number;
      stage.kernel = "kernel_" + std::to_string(number);
      stage.timeout_seconds = 0;
      lab_.stages.push_back(stage);
    }
    lab_.id = "01-x";
    request_.lab = &lab_;
    request_.stages = {1, 2, 3, 4};
    request_.scratch_folder = folder_.path() / "tmp";
    request_.seconds_per_stage = 20;
  }

  RunOutcome run(const std::string& plan) {
    request_.program = folder_.script("test", R"(
while [ $# -gt 0 ]; do
  case $1 in --stages) stages=$2;; --result) result=$2;; --seed) seed=$2;; esac
  shift
done
echo "start $stages seed $seed" >> )" + (folder_.path() / "starts").string() +
                                                  R"(
line() { echo "{\"lab\":\"01-x\",\"stage\":$1,\"abort\":\"$2\"}" >> $result; }
for stage in $(echo $stages | tr , ' '); do
  case $(echo )" + plan + R"( | cut -d, -f$stage) in
    pass) line $stage "";;
    fault) line $stage fault; exit 6;;
    crash) echo "about to die"; kill -SEGV $$;;
    hang) sleep 60;;
    quiet) ;;
    ours) echo "no device"; exit 3;;
    unloadable) echo "out of memory"; exit 7;;
  esac
done)");
    const auto outcome = run_stages(request_);
    EXPECT_TRUE(outcome);
    return outcome ? *outcome : RunOutcome{};
  }
  std::string starts() { return *base::read_file(folder_.path() / "starts"); }

  static std::vector<std::string> aborts(const RunOutcome& outcome) {
    std::vector<std::string> all;
    for (const auto& measurement : outcome.measurements)
      all.push_back(std::to_string(measurement.stage) + std::string(to_string(measurement.abort)));
    return all;
  }

  TemporaryFolder folder_;
  course::Lab lab_;
  RunRequest request_;
};

/// In the form of a log of compute-sanitizer 2025.3.
constexpr const char* kOutside = R"(========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at reverse(int *, const int *, int)+0x90 in /tmp/kernel.cu:12
=========     by thread (192,0,0) in block (8,0,0)
=========     Access to 0x7f0000001000 is out of bounds
=========
========= Invalid __global__ read of size 4 bytes
=========     at reverse(int *, const int *, int)+0x90 in /tmp/kernel.cu:14
=========     by thread (193,0,0) in block (8,0,0)
=========
========= ERROR SUMMARY: 64 errors
)";

TEST(Sanitizer, IsToldByItsFirstReportAndTheirNumber) {
  EXPECT_EQ(sanitizer_words("memcheck", kOutside),
            "memcheck: Invalid __global__ read of size 4 bytes, kernel.cu 12, thread (192,0,0) in "
            "block (8,0,0); 64 errors in all");
  EXPECT_EQ(
      sanitizer_words("racecheck",
                      "========= COMPUTE-SANITIZER\n========= Error: Race reported between "
                      "Write access at sum(float *)+0x70 in /tmp/kernel.cu:20\n=========     "
                      "and Read access at sum(float *)+0xd0 in /tmp/kernel.cu:23 [8 hazards]\n"
                      "=========\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 "
                      "warnings)\n"),
      "racecheck: Error: Race reported between Write access at sum(float *)+0x70 in "
      "/tmp/kernel.cu:20; 1 hazard in all");
  EXPECT_EQ(sanitizer_words("synccheck",
                            "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"),
            "synccheck: nothing");
  EXPECT_EQ(sanitizer_words("initcheck", "========= COMPUTE-SANITIZER\n"),
            "initcheck: it did not come to its end");
  const std::string word(1'000'000, 'x');
  EXPECT_LT(sanitizer_words("initcheck", "========= " + word + "\n").size(), 5000u);
}

TEST_F(TestProgram, RunsOnceBelowEachToolOfTheSanitizer) {
  auto measurements = run("pass,pass,pass,pass").measurements;
  measurements.resize(2);
  const auto stand_in = folder_.script("compute-sanitizer", R"(
while [ "${1#--}" != "$1" ]; do
  case $1 in --tool) tool=$2;; --log-file) log=$2;; esac
  shift 2
done
"$@"
echo "========= COMPUTE-SANITIZER" > $log
[ $tool != memcheck ] || echo "========= Invalid __global__ write of size 4 bytes" >> $log
[ $tool = initcheck ] || echo "========= ERROR SUMMARY: $([ $tool = memcheck ] && echo 2 || echo 0) errors" >> $log)");
  add_sanitizer_reports(request_, stand_in, measurements);
  for (const course::StageMeasurement& measurement : measurements)
    EXPECT_THAT(measurement.remarks,
                testing::ElementsAre(
                    "compute-sanitizer, on the tests of this stage:\n"
                    "  memcheck: Invalid __global__ write of size 4 bytes; 2 errors in all\n"
                    "  racecheck: nothing\n  synccheck: nothing\n"
                    "  initcheck: it did not come to its end"));
  EXPECT_EQ(starts(), "start 1,2,3,4 seed 1\n" + std::string("start 1 seed 1\nstart 1 seed 1\n"
                                                             "start 1 seed 1\nstart 1 seed 1\n"
                                                             "start 2 seed 1\nstart 2 seed 1\n"
                                                             "start 2 seed 1\nstart 2 seed 1\n"));
}

TEST(Sanitizer, IsFoundOnThePathAndBesideTheCompiler) {
  const TemporaryFolder folder;
  const auto tool = folder.script("compute-sanitizer", "true");
  EXPECT_EQ(find_compute_sanitizer(folder.path().string(), "/nowhere/nvcc"), tool);
  EXPECT_EQ(find_compute_sanitizer("/nowhere", folder.path() / "nvcc"), tool);
  EXPECT_EQ(find_compute_sanitizer("/nowhere", "/nowhere/nvcc"), "");
}

TEST_F(TestProgram, RunsAllStagesInOneStart) {
  request_.seed = 42;
  const auto outcome = run("pass,pass,pass,pass");
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_EQ(starts(), "start 1,2,3,4 seed 42\n");
}

TEST_F(TestProgram, StartsAgainForTheStagesAfterAFault) {
  const auto outcome = run("pass,fault,pass,pass");
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"1", "2fault", "3", "4"}));
  EXPECT_EQ(starts(), "start 1,2,3,4 seed 1\nstart 3,4 seed 1\n");
}

TEST_F(TestProgram, SideBySideEveryStageHasAStartOfItsOwn) {
  request_.stages_at_once = 3;
  request_.stages = {4, 2, 1};
  const auto outcome = run("pass,fault,pass,crash");
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"4crash", "2fault", "1"}));
  EXPECT_EQ(outcome.starts, 3);
}

TEST_F(TestProgram, BlamesTheStageInWhichTheProgramDied) {
  const auto outcome = run("pass,crash,pass,pass");
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"1", "2crash", "3", "4"}));
  EXPECT_THAT(outcome.measurements[1].abort_text, HasSubstr("Segmentation fault"));
  EXPECT_THAT(outcome.measurements[1].abort_text, HasSubstr("about to die"));
}

TEST_F(TestProgram, EndsAStageThatReportsNothingInTime) {
  request_.seconds_per_stage = 0.5;
  request_.stages = {1, 2};
  const auto outcome = run("hang,pass");
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"1timeout", "2"}));
}

TEST_F(TestProgram, DoesNotStartAgainWhenTheFaultIsOurs) {
  const auto outcome = run("pass,ours,pass,pass");
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"1", "2crash", "3crash", "4crash"}));
  EXPECT_EQ(outcome.starts, 1);
  EXPECT_THAT(outcome.measurements[2].abort_text, HasSubstr("no device"));
}

TEST_F(TestProgram, CodeThatTheDeviceDoesNotTakeIsTheSubmissionsFault) {
  const RunOutcome outcome = run("unloadable,pass,pass,pass");
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"1fault", "2fault", "3fault", "4fault"}));
  EXPECT_THAT(outcome.measurements[0].abort_text, HasSubstr("out of memory"));
}

TEST_F(TestProgram, NoticesAStageLeftOutInSilence) {
  EXPECT_EQ(aborts(run("pass,quiet,pass,pass")),
            (std::vector<std::string>{"1", "2crash", "3", "4"}));
}

TEST_F(TestProgram, StopsOnCtrlCAndKeepsWhatIsDone) {
  std::atomic<bool> stop = false;
  request_.stop = &stop;
  request_.on_tick = [&](int stage) { stop = stop || stage == 2; };
  const auto outcome = run("pass,hang,pass,pass");
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(aborts(outcome), (std::vector<std::string>{"1"}));
}

TEST_F(TestProgram, LeavesNoScratchFileBehind) {
  run("pass,pass,pass,pass");
  EXPECT_TRUE(std::filesystem::is_empty(request_.scratch_folder));
}

}  // namespace
}  // namespace membound::judge
