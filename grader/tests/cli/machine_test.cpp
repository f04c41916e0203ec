// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "grader/tests/cli/fake_course.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class MachineCommand : public testing::Test {
 protected:
  [[nodiscard]] base::ProcessOutcome run(const std::vector<std::string>& words) const {
    return course_.run(words, {{"XDG_CONFIG_HOME", config().string()}});
  }
  [[nodiscard]] std::filesystem::path config() const { return course_.root() / "config"; }
  void own(const std::string& id, const std::string& text) const {
    course_.write("config/membound/machines/" + id + ".json", text);
  }
  FakeCourse course_;
};

TEST_F(MachineCommand, ListNamesEveryMachineIn80Columns) {
  const auto outcome = run({"machine", "list"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const auto& machine : vgpu::timing::built_in_machines())
    EXPECT_THAT(outcome.output, HasSubstr("\n" + std::string(machine.id) + " "));
  EXPECT_LE(widest_line(outcome.output.substr(0, outcome.output.find("own files"))), 80u);
}

TEST_F(MachineCommand, ListNamesABrokenFileAndStillListsTheOthers) {
  own("mine", "{}");
  const auto outcome = run({"machine", "list"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("\nk80 "), HasSubstr("machines/mine.json"),
                                    HasSubstr("expected: the machine's id")));
}

TEST_F(MachineCommand, ShowGivesEachNumberItsMeaningAndItsSource) {
  const auto outcome = run({"machine", "show", "h200"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("NVIDIA H200"), HasSubstr("clock_ghz"), HasSubstr("SM clock under"),
                    HasSubstr("[measured] one H200"), HasSubstr("shuffle")));
  for (const auto& number :
       vgpu::timing::read_sources(vgpu::timing::find_machine_file("h200", {})->json))
    EXPECT_THAT(outcome.output, HasSubstr("\n" + number.field));
  EXPECT_LE(widest_line(outcome.output), 80u);
}

TEST_F(MachineCommand, ShowOfAnUnknownNameSuggestsOne) {
  const auto outcome = run({"machine", "show", "titan-w"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("did you mean \"vgpu:titan-v\"?"));
}

TEST_F(MachineCommand, AFileOfOnesOwnIsADeviceAndItsTextTravelsWithIt) {
  std::string json = vgpu::timing::find_machine_file("k80", {})->json;
  json.replace(json.find("\"k80\""), 5, "\"mine\"");
  own("mine", json);
  EXPECT_THAT(run({"machine", "list"}).output, HasSubstr("mine (own)"));
  const auto outcome = run({"run", "--device", "vgpu:mine", "--", "/usr/bin/env"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("MEMBOUND_DEVICE=vgpu:mine"), HasSubstr("MEMBOUND_MACHINE={")));
  EXPECT_THAT(run({"run", "--device", "vgpu:k80", "--", "/usr/bin/env"}).output,
              Not(HasSubstr("MEMBOUND_MACHINE")));
}

TEST_F(MachineCommand, CalibrateWritesAFileThatIsThenADevice) {
  course_.write("r.csv", "# NVIDIA X9, CUDA driver 13.0\ndevice,sm_count,77\n");
  const auto outcome = run({"machine", "calibrate", "--readings",
                            (course_.root() / "r.csv").string(), "--like", "k80", "--id", "x9"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("sm_count"), HasSubstr("1 numbers measured"),
                                    HasSubstr("--device vgpu:x9")));
  EXPECT_THAT(run({"machine", "show", "x9"}).output,
              AllOf(HasSubstr("NVIDIA X9"), HasSubstr("[measured] NVIDIA X9, CUDA driver 13.0")));
}

TEST_F(MachineCommand, CalibrateWithoutAGpuSaysWhatElseThereIs) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine may have one";
  const auto outcome = run({"machine", "calibrate"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("no GPU answers"), HasSubstr("--readings FILE")));
}

TEST_F(MachineCommand, ABrokenFileOfOnesOwnIsNoDevice) {
  own("mine", "{");
  const auto outcome = run({"run", "--device", "vgpu:mine", "--", "/usr/bin/env"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("machines/mine.json"));
}

}  // namespace
}  // namespace membound::cli
