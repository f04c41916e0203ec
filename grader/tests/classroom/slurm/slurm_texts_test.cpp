// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>

#include "grader/classroom/slurm/slurm.hpp"

namespace membound::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SlurmArray, JoinsNumbersThatFollowEachOther) {
  EXPECT_EQ(array_text({3}, 0), "3");
  EXPECT_EQ(array_text({0, 1, 2, 5, 7, 8}, 0), "0-2,5,7-8");
  EXPECT_EQ(array_text({0, 1}, 4), "0-1%4");
}

/// The script of an array with this command.
std::string script_text(std::vector<std::string> command,
                        std::map<std::string, std::string> environment = {}) {
  Array array;
  array.command = std::move(command);
  array.environment = std::move(environment);
  return slurm::script_text(array);
}

TEST(SlurmScript, GivesTheTaskItsNumber) {
  EXPECT_EQ(script_text({"membound", "grade"}),
            "#!/bin/sh\nexec 'membound' 'grade' \"$SLURM_ARRAY_TASK_ID\"\n");
}

TEST(SlurmScript, PutsTheSitesPartsAroundTheCommand) {
  Array array;
  array.command = {"membound"};
  array.environment = {{"PATH", "/bin"}};
  array.prolog = {"source /etc/site.sh", "cd $TMPDIR"};
  array.modules = {"cuda/13.0"};
  array.container = {"apptainer", "exec", "--nv", "my image.sif"};
  EXPECT_EQ(slurm::script_text(array),
            "#!/bin/bash -l\n"
            "export PATH='/bin'\n"
            "source /etc/site.sh\ncd $TMPDIR\n"
            "module load 'cuda/13.0' || exit\n"
            "exec 'apptainer' 'exec' '--nv' 'my image.sif' 'membound' \"$SLURM_ARRAY_TASK_ID\"\n");
}

TEST(SlurmScript, TheShellSeesEveryArgumentAsItIs) {
  const std::string script = script_text({"printf", "%s|", "a b", "$HOME", "it's", "`id`", "*"});
  FILE* shell =
      popen(("SLURM_ARRAY_TASK_ID=7; " + script.substr(script.find("exec"))).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::array<char, 256> output{};
  const std::size_t size = std::fread(output.data(), 1, output.size(), shell);
  pclose(shell);
  EXPECT_EQ(std::string(output.data(), size), "a b|$HOME|it's|`id`|*|7|");
}

TEST(SlurmScript, SetsTheTasksEnvironmentWhateverTheSiteHandsOn) {
  const std::string script = script_text(
      {"env", "-u", "_"}, {{"MEMBOUND_ROOT", "/it's a course"}, {"PATH", "/usr/bin:/bin"}});
  EXPECT_THAT(script, HasSubstr("export MEMBOUND_ROOT='/it'\\''s a course'\n"));
  const std::string text = script.substr(script.find('\n') + 1);
  FILE* shell = popen(("env -i /bin/sh -c 'eval \"$0\"' "
                       "\"$(cat <<'END'\n" +
                       text.substr(0, text.find("exec")) + "printf %s \"$MEMBOUND_ROOT\"\nEND\n)\"")
                          .c_str(),
                      "r");
  ASSERT_NE(shell, nullptr);
  std::array<char, 256> output{};
  const std::size_t size = std::fread(output.data(), 1, output.size(), shell);
  pclose(shell);
  EXPECT_EQ(std::string(output.data(), size), "/it's a course");
}

TEST(SlurmRefusal, TheAdviceFitsWhatSbatchSays) {
  EXPECT_THAT(advice_for("sbatch: error: Invalid generic resource (gres) specification"),
              HasSubstr("sinfo -o %G"));
  EXPECT_THAT(advice_for("sbatch: error: invalid partition specified: fast"),
              HasSubstr("sinfo -o %P"));
  EXPECT_THAT(advice_for("Batch job submission failed: Requested time limit is invalid"),
              HasSubstr("--minutes"));
  EXPECT_THAT(advice_for("Memory specification can not be satisfied"), HasSubstr("--mem"));
  EXPECT_THAT(advice_for("Requested node configuration is not available"), HasSubstr("sinfo -N"));
  EXPECT_THAT(advice_for("Invalid account or account/partition combination specified"),
              HasSubstr("--account"));
  EXPECT_THAT(advice_for("Unable to contact slurm controller"), HasSubstr("is the cluster up?"));
}

TEST(SlurmQueue, ReadsTasks) {
  const auto tasks = tasks_from("12_0|RUNNING|None\n12_13|PENDING|Resources\n");
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[1].number, 13);
  EXPECT_EQ(tasks[1].reason, "Resources");
}

TEST(SlurmQueue, PassesOverWhatIsNoTask) {
  EXPECT_THAT(tasks_from("slurm_load_jobs error: x\n12_[1-3]|PENDING|None\n||\n"), IsEmpty());
}

TEST(SlurmQueue, NoTextStopsTheReader) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text;
    for (unsigned i = 0; i < random() % 30; ++i) text += "1_|\nAx%"[random() % 7];
    static_cast<void>(tasks_from(text));
    static_cast<void>(node_troubles_from(text));
    static_cast<void>(forgotten_from(text, text));
  }
}

TEST(SlurmTroubles, AHeldTaskNamesTheCommandThatFreesIt) {
  const auto troubles = troubles_of(
      "12", tasks_from("12_0|PENDING|launch failed requeued held\n12_1|RUNNING|None\n"));
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_THAT(troubles[0].what, HasSubstr("1 task of job 12 waits for ever"));
  EXPECT_EQ(troubles[0].fix, "scontrol release 12");
}

TEST(SlurmTroubles, APartitionThatIsClosedNamesHowToFindAnother) {
  const auto troubles = troubles_of("12", tasks_from("12_0|PENDING|PartitionDown\n"));
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_THAT(troubles[0].fix, HasSubstr("sinfo -o '%P %a'"));
}

TEST(SlurmTask, TellsWhatMayStillComeOfIt) {
  const auto tasks = tasks_from(
      "12_0|RUNNING|None|n1\n12_1|PENDING|launch failed requeued "
      "held|\n12_2|FAILED|NonZeroExitCode\n");
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_TRUE(tasks[0].alive() && tasks[0].running() && !tasks[0].failed());
  EXPECT_EQ(tasks[0].node, "n1");
  EXPECT_TRUE(tasks[1].alive() && tasks[1].held_after_failure() && !tasks[1].running());
  EXPECT_TRUE(!tasks[2].alive() && tasks[2].failed());
}

TEST(SlurmTroubles, WaitingForResourcesIsNone) {
  EXPECT_THAT(troubles_of("12", tasks_from("12_0|PENDING|Resources\n12_1|PENDING|Priority\n")),
              IsEmpty());
}

TEST(SlurmTroubles, ADrainedNodeNamesItsReasonAndTheCommand) {
  const auto troubles =
      node_troubles_from("n1|idle|none\nn2|drained|Duplicate jobid\nn3|down*|Not responding\n");
  ASSERT_EQ(troubles.size(), 2U);
  EXPECT_EQ(troubles[0].what, "node n2 is drained: Duplicate jobid");
  EXPECT_EQ(troubles[0].fix, "scontrol update NodeName=n2 State=RESUME");
}

// As Slurm 22.05 printed it after its controller was killed while two tasks ran.
constexpr std::string_view kForgotten = "vm|0/2/0/2|gpu:fake:2(IDX:0-1)|\n";

TEST(SlurmForgotten, ANodeWithGpusInUseAndNoJobIsNamedWithTheCommand) {
  const auto troubles = forgotten_from(kForgotten, "");
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0].what,
            "node vm holds gpu:fake:2(IDX:0-1) for no job, as after the controller's death, and "
            "tasks wait for it");
  EXPECT_EQ(troubles[0].fix, "scontrol reconfigure");
}

TEST(SlurmForgotten, ANodeWithProcessorsInUseAndNoJobIsOne) {
  const auto troubles = forgotten_from("n1|4/4/0/8|(null)|\nn2|0/8/0/8|(null)|\n", "n3\n");
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_THAT(troubles[0].what, HasSubstr("node n1 holds 4 CPUs for no job"));
}

TEST(SlurmForgotten, ANodeWithAJobIsNone) {
  EXPECT_THAT(forgotten_from(kForgotten, "n1\nvm\n"), IsEmpty());
}

TEST(SlurmForgotten, ANodeThatIsFreeIsNone) {
  EXPECT_THAT(forgotten_from("vm|0/2/0/2|gpu:fake:0(IDX:N/A),mps:0|\n", ""), IsEmpty());
}

TEST(SlurmForgotten, ANodeOfTwoPartitionsIsNamedOnce) {
  EXPECT_EQ(forgotten_from(std::string(kForgotten) + std::string(kForgotten), "").size(), 1U);
}

TEST(SlurmForgotten, MattersOnlyToTasksThatWaitForRoom) {
  EXPECT_TRUE(any_waits_for_room(tasks_from("1_0|RUNNING|None\n1_1|PENDING|Resources\n")));
  EXPECT_FALSE(any_waits_for_room(tasks_from("1_0|RUNNING|None\n1_1|PENDING|JobHeldUser\n")));
}

TEST(SlurmForgotten, IsNotKnownWhereOthersJobsAreHidden) {
  EXPECT_FALSE(hides_jobs("Prefix = x\nPrivateData             = none\n"));
  EXPECT_TRUE(hides_jobs("PrivateData             = jobs,nodes\n"));
}

TEST(SlurmSnapshot, CountsWhatStillLives) {
  Snapshot snapshot;
  snapshot.tasks =
      tasks_from("1_0|PENDING|None\n1_1|COMPLETED|None\n1_2|RUNNING|None\n1_3|FAILED|x\n");
  EXPECT_EQ(snapshot.alive(), 2);
}

}  // namespace
}  // namespace membound::slurm
