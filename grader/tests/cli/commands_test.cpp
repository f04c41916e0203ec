// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The built program, from its command line to what it prints, on a fake course.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "grader/tests/cli/commands.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Commands, ListShowsProgressAndWhatComesNext) {
  EXPECT_THAT(course_.run({"list"}).output, HasSubstr("Next: ./membound check 01-fake/1"));
  course_.answer("passed", "wrong");
  check({"1"});
  const auto outcome = course_.run({"list"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("10 of 60 points"), HasSubstr("check 01-fake/2")));
  EXPECT_THAT(course_.run({"list", "1"}).output,
              AllOf(HasSubstr("The second step"), HasSubstr("wrong result")));
}

TEST_F(Commands, ListNamesServesCompletion) {
  EXPECT_EQ(course_.run({"list", "--names"}).output,
            "01-fake\n01-fake/1\n01-fake/2\n03-transpose\n03-transpose/1\n03-transpose/2\n");
}

TEST_F(Commands, HintFollowsTheLastCheckTierByTier) {
  EXPECT_EQ(course_.run({"hint", "1"}).exit_code, 2);
  course_.answer("passed", "wrong");
  check({"1"});
  EXPECT_THAT(course_.run({"hint", "1"}).output,
              AllOf(HasSubstr("Hint 1 of 3 for 01-fake/2"), HasSubstr("Who is too many?")));
  EXPECT_THAT(course_.run({"hint", "1/2"}).output, HasSubstr("Look at the last block."));
  EXPECT_THAT(course_.run({"hint"}).output, HasSubstr("if (i < n)"));
  course_.answer("passed", "slow");
  check({"1"});
  EXPECT_THAT(course_.run({"hint", "1"}).output, HasSubstr("Count sectors."));
}

TEST_F(Commands, ResetKeepsTheStudentsFileAndForgetsProgress) {
  course_.answer("passed", "passed");
  const std::string mine = course_.read(course_.kernel());
  check({"1"});
  const auto outcome = course_.run({"reset", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(course_.read(course_.kernel()), AllOf(HasSubstr("TODO"), Not(HasSubstr("passed"))));
  const fs::path backups = course_.root() / ".membound/backups/01-fake";
  ASSERT_TRUE(fs::exists(backups)) << outcome.output;
  EXPECT_EQ(course_.read(fs::directory_iterator(backups)->path()), mine);
  EXPECT_THAT(course_.run({"list", "1"}).output, HasSubstr("not started"));
  EXPECT_THAT(course_.run({"reset", "1"}).output, HasSubstr("already"));
}

TEST_F(Commands, AChangedFileOfTheCourseIsNamedAndTheGraderUsesItsOwn) {
  const std::string json = course_.read(course_.root() / "labs/01-fake/lab.json");
  course_.write("released/course/labs/01-fake/lab.json", json);
  course_.write("released/course/labs/01-fake/kernel.cuh", "// given\n");
  course_.answer("passed", "passed");
  EXPECT_THAT(check({"1"}).output, Not(HasSubstr("--course")));
  course_.write("labs/01-fake/lab.json", "{ changed");
  course_.write("labs/01-fake/kernel.cuh", "// changed\n");
  const auto checked = check({"1"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("labs/01-fake/kernel.cuh and"), HasSubstr("labs/01-fake/lab.json"),
                    HasSubstr("reset --course")));
  EXPECT_THAT(course_.run({"reset", "--course"}).output,
              HasSubstr("labs/01-fake/kernel.cuh: the course's again. Yours is kept: "));
  EXPECT_EQ(course_.read(course_.root() / "labs/01-fake/lab.json"), json);
  EXPECT_EQ(course_.read(course_.root() / "labs/01-fake/kernel.cuh"), "// given\n");
  EXPECT_THAT(course_.run({"reset", "--course"}).output,
              HasSubstr("No file of the course is changed."));
}

TEST_F(Commands, ResetOfAStageLeavesTheRestAndCanBeUndone) {
  const std::string one = "// Stage 1: one\n", two = "// Stage 2: two\n";
  const std::string skeleton = "// TODO\n" + one + two;
  course_.write("../build/share/labs/01-fake/kernel.cu", skeleton);
  course_.write("solutions/01-fake/kernel.cu", skeleton);
  const std::string passes = "// stage 1: passed\n", also = "// stage 2: passed\n";
  course_.write("labs/01-fake/kernel.cu", "// TODO\n" + one + passes + two + also);
  check({"1"});
  const auto outcome = course_.run({"reset", "1/1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(StartsWith("labs/01-fake/kernel.cu, stage 1: the skeleton"),
                                    HasSubstr("./membound reset 1/1 --undo")));
  EXPECT_EQ(course_.read(course_.kernel()), "// TODO\n" + one + two + also);
  const std::string listing = course_.run({"list", "1"}).output;
  EXPECT_THAT(listing, AllOf(HasSubstr("not started"), HasSubstr("20 of 20")));
  EXPECT_THAT(course_.run({"reset", "1/1"}).output, HasSubstr("already"));

  course_.write("labs/01-fake/kernel.cu", "// TODO\n" + one + two + "// stage 2: slow\n");
  EXPECT_EQ(course_.run({"reset", "1/1", "--undo"}).exit_code, 0);
  EXPECT_EQ(course_.read(course_.kernel()),
            "// TODO\n" + one + passes + two + "// stage 2: slow\n");
  EXPECT_THAT(course_.run({"list", "1"}).output, Not(HasSubstr("not checked yet")));
  EXPECT_EQ(course_.run({"reset", "1", "--undo"}).exit_code, 0);
  EXPECT_EQ(course_.run({"reset", "1", "--undo"}).exit_code, 0);
  EXPECT_EQ(course_.read(course_.kernel()), "// TODO\n" + one + passes + two + "// stage 2: slow\n")
      << "undone and back again";

  course_.write("labs/01-fake/kernel.cu", one + two + one);
  const auto unclear = course_.run({"reset", "1/1"});
  EXPECT_EQ(unclear.exit_code, 2);
  EXPECT_THAT(unclear.output, AllOf(HasSubstr("// Stage 1"), HasSubstr("exactly once")));
  EXPECT_EQ(course_.read(course_.kernel()), one + two + one);
  const auto none = course_.run({"reset", "3", "--undo"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.output, HasSubstr("differs from yours"));
}

TEST_F(Commands, HandoutIsAPageOrText) {
  course_.write("handouts/01-fake/figures/a.svg",
                "<svg width=\"8\" height=\"4\"><desc>boxes</desc></svg>");
  const fs::path page = course_.root() / ".membound/pages/handout-01-fake.html";
  EXPECT_THAT(course_.run({"handout", "1"}).output, HasSubstr("the page is " + page.string()));
  EXPECT_THAT(course_.read(page),
              AllOf(HasSubstr("<h1 id=\"the-fake-lab\">"), HasSubstr("src=\"data:image/svg+xml,"),
                    HasSubstr("alt=\"boxes\" width=\"8\"")));
  EXPECT_THAT(course_.run({"handout", "1", "--text"}).output,
              AllOf(HasSubstr("The fake lab\n"), HasSubstr("Read this first, and all of it"),
                    HasSubstr("  int a;\n"), HasSubstr("[figure: A picture]")));
  EXPECT_EQ(course_.run({"handout", "1", "--path"}).output,
            (course_.root() / "handouts/01-fake/handout.md\n").string());
}

TEST_F(Commands, ProgressNeverGoesBack) {
  EXPECT_THAT(course_.run({"progress"}).output,
              AllOf(HasSubstr("[·]"), HasSubstr("1 The first step"), HasSubstr("not started"),
                    HasSubstr("0 of 30")));
  course_.answer("passed", "slow");
  check({"1"});
  course_.answer("wrong", "slow");
  check({"1"});
  const std::string progress = course_.run({"progress"}).output;
  EXPECT_THAT(progress, AllOf(HasSubstr("✓ [✗]"), HasSubstr("> ✗ 2 The second step"),
                              HasSubstr("too slow"), Not(HasSubstr("wrong result"))));
  EXPECT_THAT(course_.run({"list", "1"}).output, HasSubstr("; last: wrong result"));
}

TEST_F(Commands, ProgressIsAPageToo) {
  course_.answer("passed", "slow");
  check({"1"});
  const fs::path page = course_.root() / "mine.html";
  EXPECT_THAT(course_.run({"progress", "--html", page.string()}).output,
              AllOf(HasSubstr("✓ [✗]"), HasSubstr("the page is " + page.string())));
  EXPECT_THAT(course_.read(page),
              AllOf(HasSubstr("2 The second step: too slow"), HasSubstr("Next: 01-fake/2"),
                    HasSubstr("<details id=\"lab-01-fake\" open>")));
}

TEST_F(Commands, AnUntouchedSkeletonIsNotStartedThoughItWasChecked) {
  const auto outcome = check({"3"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("not started"), Not(HasSubstr("wrong result")),
                                    HasSubstr("./membound next")));
  EXPECT_THAT(course_.run({"list", "3"}).output,
              AllOf(HasSubstr("not started"), Not(HasSubstr("wrong"))));
}

TEST_F(Commands, APredictionIsPutBesideWhatWasCounted) {
  EXPECT_THAT(course_.run({"next"}).output,
              HasSubstr("  predict  How many sectors?\n           ./membound predict 01-fake/1 "
                        "NUMBER\n"));
  EXPECT_THAT(course_.run({"predict", "1/1", "4"}).output, StartsWith("Noted: 4 sectors. "));
  course_.answer("passed", "wrong");
  EXPECT_THAT(check({"1"}).output, HasSubstr("Stage 1: you said 4 sectors; it was 32.\n"));
  EXPECT_THAT(course_.run({"predict"}).output,
              AllOf(HasSubstr("01-fake/1: How many sectors?"), HasSubstr("it was 32"),
                    HasSubstr("01-fake/2: asks nothing")));
}

TEST_F(Commands, PredictTakesOneNumberForOneStageThatAsks) {
  const auto refused = [&](std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), "predict");
    const auto outcome = course_.run(words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(why));
  };
  refused({"1/1", "four"}, "this is no number");
  refused({"1/1", "nan"}, "this is no number");
  refused({"1/1", "4sectors"}, "this is no number");
  refused({"1", "4"}, "this means 2 stages");
  refused({"1/2", "4"}, "this stage asks nothing");
  refused({"1/9", "4"}, "try: ./membound list 01-fake");
}

TEST_F(Commands, NextSaysWhatToReadEditAndCheck) {
  EXPECT_THAT(course_.run({"next"}).output,
              AllOf(StartsWith("Next: 01-fake/1, The first step (not started)\n"),
                    HasSubstr("./membound handout 01-fake"), HasSubstr("labs/01-fake/kernel.cu:"),
                    HasSubstr("./membound check 01-fake/1")));
  course_.answer("passed", "slow");
  check({"1"});
  EXPECT_THAT(course_.run({"next"}).output,
              AllOf(StartsWith("Next: 01-fake/2"), HasSubstr("./membound hint 01-fake/2")));
}

TEST_F(Commands, NextStaysInTheLabThatWasBegunAndGoesToTheOneThatIsNamed) {
  EXPECT_THAT(check({"3"}).output, HasSubstr("Next: ./membound next 03 says what to read"));
  EXPECT_THAT(course_.run({"next", "3"}).output, StartsWith("Next: 03-transpose/1"));
  EXPECT_THAT(course_.run({"next"}).output, StartsWith("Next: 01-fake/1"));
  EXPECT_EQ(course_.run({"next", "7"}).exit_code, 2);
  course_.write("labs/03-transpose/kernel.cu", "// stage 1: passed\n// stage 2: slow\n");
  check({"3"});
  EXPECT_THAT(course_.run({"next"}).output, StartsWith("Next: 03-transpose/2"));
  EXPECT_THAT(course_.run({"list"}).output, HasSubstr("Next: ./membound check 03-transpose/2"));
  course_.write("labs/03-transpose/kernel.cu", "// stage 1: passed\n// stage 2: passed\n");
  check({"3"});
  EXPECT_THAT(course_.run({"next", "3"}).output, StartsWith("Next: 01-fake/1"));
  course_.answer("passed", "passed");
  check({"1"});
  EXPECT_THAT(course_.run({"list"}).output,
              AllOf(HasSubstr("Every stage has passed."), Not(HasSubstr("Next: "))));
}

TEST_F(Commands, SolutionIsShownBesideOnesOwnAfterAPass) {
  course_.answer("passed", "slow");
  const auto early = course_.run({"solution", "1/1"});
  EXPECT_EQ(early.exit_code, 2);
  EXPECT_THAT(early.output, HasSubstr("01-fake/1: it has not passed yet"));
  check({"1"});
  const auto shown = course_.run({"solution", "1/1"});
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_THAT(shown.output, AllOf(HasSubstr("+ "), Not(HasSubstr("TODO"))));
  EXPECT_EQ(course_.run({"solution", "1/2"}).exit_code, 2);
  EXPECT_EQ(course_.run({"solution", "1"}).exit_code, 2);
  fs::remove_all(course_.root() / "solutions");
  EXPECT_THAT(course_.run({"solution", "1/1"}).output, HasSubstr("without reference answers"));
}

TEST_F(Commands, DoctorLooksAtEverything) {
  const auto outcome = course_.run({"doctor"});
  for (const char* what :
       {"course", "test programs", "GPU", "virtual GPU", "compiler", "sandbox", "disk"})
    EXPECT_THAT(outcome.output, HasSubstr(what));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  fs::remove(course_.build() / "labs/01-fake/test");
  const auto sick = course_.run({"doctor"});
  EXPECT_EQ(sick.exit_code, 1);
  EXPECT_THAT(sick.output, AllOf(HasSubstr("not built: 01-fake"), HasSubstr("fix: ")));
}

TEST_F(Commands, RunGivesTheProgramTheVirtualGpusEnvironment) {
  const auto script = course_.write("show.sh",
                                    "#!/bin/sh\necho $1 $MEMBOUND_DEVICE $MEMBOUND_CHECK "
                                    "$MEMBOUND_COUNTERS $LD_LIBRARY_PATH\nexit 5\n");
  chmod(script.c_str(), 0755);
  const auto outcome = course_.run({"run", "--device", "vgpu:k80", "--check", "all", "--counters",
                                    "c.json", "--", script.string(), "--flag"},
                                   {{"LD_LIBRARY_PATH", ""}});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.output,
            "--flag vgpu:k80 all c.json " + (course_.build() / "vgpu").string() + "\n");
}

TEST_F(Commands, RunExplainsWhatIsMissing) {
  EXPECT_THAT(course_.run({"run", "--", "/nowhere/a.out"}).output, HasSubstr("no such file"));
  EXPECT_THAT(course_.run({"run", "--", "nowhere"}).output, HasSubstr("no such program in $PATH"));
  EXPECT_THAT(course_.run({"run", "--", course_.root().string()}).output, HasSubstr("is a folder"));
  const auto locked = course_.run({"run", "--", course_.kernel().string()});
  EXPECT_EQ(locked.exit_code, 2);
  EXPECT_THAT(locked.output, AllOf(HasSubstr("is not executable"), HasSubstr("nvcc -cudart")));
  fs::remove(course_.build() / "vgpu/libcudart.so.13");
  const auto outcome = course_.run({"run", "--", "/bin/true"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("virtual GPU: not built"));
}

TEST_F(Commands, RunTellsAProgramThatHoldsAnOlderRuntime) {
  const auto program = course_.write("a.out",
                                     "\x7f"
                                     "ELF libcudart.so.11.0" +
                                         std::string(1, '\0'));
  chmod(program.c_str(), 0755);
  const auto outcome = course_.run({"run", "--", program.string()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("uses libcudart.so.11.0"), HasSubstr("-cudart shared")));
}

TEST_F(Commands, DevCheckRunsEveryClaim) {
  course_.write("solutions/01-fake/wrong/2-edge.cu",
                "// 2-edge fails CutOff\n\n// stage 2: wrong\n");
  course_.write("solutions/01-fake/wrong/2-late.cu",
                "// 2-late fails ReachesItsBar\n\n// stage 2: slow\n");
  course_.write("solutions/01-fake/wrong/2-dead.cu",
                "// 2-dead fails RunsWithoutFault\n\n// stage 2: fault\n");
  const auto good = course_.run({"dev", "check", "1", "--run", "--device", "vgpu"});
  EXPECT_THAT(good.output, HasSubstr("5 of 5 claims hold."));
  course_.write("solutions/01-fake/wrong/2-fine.cu",
                "// 2-fine fails CutOff\n\n// stage 2: passed\n");
  course_.write("labs/01-fake/kernel.cu", "// TODO\n// stage 1: passed\n");
  const auto bad = course_.run({"dev", "check", "1", "--run", "--device", "vgpu"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.output, AllOf(HasSubstr("4 of 6 claims hold."), HasSubstr("stage 1: passes"),
                                HasSubstr("stage 2: passes every test")));
}

TEST_F(Commands, DevWrongPrintsAWrongAnswerWhole) {
  course_.write("solutions/01-fake/wrong/stage-2.patch",
                "# 2-edge fails CutOff\nWhy: forgets the edge.\n@@ -5 +5 @@\n"
                "-int b;  // stage 2: passed\n+int b;  // stage 2: wrong\n");
  const auto whole = course_.run({"dev", "wrong", "1/2-edge"});
  EXPECT_EQ(whole.exit_code, 0);
  EXPECT_THAT(whole.output, AllOf(HasSubstr("#include \"kernel.cuh\"\n"),
                                  HasSubstr("\nint b;  // stage 2: wrong\n")));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"dev", "wrong", "1"}, {"dev", "wrong"}})
    EXPECT_THAT(course_.run(words).output,
                AllOf(HasSubstr("2-edge"), HasSubstr("stage 2 fails CutOff"),
                      HasSubstr("forgets the edge.")));
  const auto unknown = course_.run({"dev", "wrong", "1/2-egde"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("did you mean \"2-edge\"?"));
  const auto run = course_.run({"dev", "check", "1", "--run", "--device", "vgpu"});
  EXPECT_THAT(run.output, HasSubstr("3 of 3 claims hold."));
}

TEST_F(Commands, CompletionIsAScriptOfItsShell) {
  const auto script = course_.write("c.bash", course_.run({"completion", "bash"}).output);
  const auto offered = base::run_process(
      {.arguments = {"bash", "-c",
                     "source " + script.string() + "; COMP_WORDS=(" + course_.program().string() +
                         " check 01-f); COMP_CWORD=2; _membound " + course_.program().string() +
                         "; echo ${COMPREPLY[@]}"},
       .environment = course_.environment()});
  ASSERT_TRUE(offered);
  EXPECT_EQ(offered->output, "01-fake 01-fake/1 01-fake/2\n");
  EXPECT_THAT(course_.run({"completion", "fish"}).output, HasSubstr("complete -c membound"));
  EXPECT_THAT(course_.run({"completion", "zsh"}).output, HasSubstr("bashcompinit"));
  EXPECT_EQ(course_.run({"completion", "csh"}).exit_code, 2);
}

TEST_F(Commands, WrongUseSaysWhatWasMeant) {
  const auto command = course_.run({"chekc"});
  EXPECT_EQ(command.exit_code, 2);
  EXPECT_THAT(command.output, HasSubstr("did you mean \"check\"?"));
  const auto option = course_.run({"check", "1", "--sed", "4"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.output, HasSubstr("did you mean \"--seed\"?"));
  const auto word =
      course_.run({"selftest", "--attack", "unroll"});  // a command whose options stand in a group
  EXPECT_THAT(word.output, AllOf(HasSubstr("\"unroll\" is not expected here"),
                                 Not(HasSubstr("expected: one of"))));
  EXPECT_EQ(course_.run({"check"}).exit_code, 2);
  const auto seed = course_.run({"check", "1", "--seed", "-1"});
  EXPECT_EQ(seed.exit_code, 2);
  EXPECT_EQ(seed.output,
            "membound: --seed: \"-1\"\n"
            "  expected: a whole number from 0 to 18446744073709551615\n"
            "  try: ./membound check --help\n");
  EXPECT_THAT(course_.run({"dev", "chekc"}).output,
              AllOf(HasSubstr("no command \"chekc\""), HasSubstr("did you mean \"check\"?")));
}

TEST_F(Commands, OutputThatIsLostEndsWith3) {
  course_.answer("passed", "slow");
  check({"1"});
  for (const std::string words : {"list",
                                  "list 1",
                                  "list --names",
                                  "progress",
                                  "next",
                                  "hint 1",
                                  "predict",
                                  "doctor",
                                  "solution 1/1",
                                  "handout 1 --text",
                                  "handout 1 --path",
                                  "check 1 --device vgpu",
                                  "check 1 --device vgpu --json -",
                                  "completion bash",
                                  "machine list",
                                  "machine show h200",
                                  "dev wrong",
                                  "help check",
                                  "--help",
                                  "--version",
                                  "reset 1"}) {
    const auto outcome = base::run_process(
        {.arguments = {"sh", "-c", course_.program().string() + " " + words + " > /dev/full"},
         .environment = course_.environment()});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->exit_code, 3) << words;
    EXPECT_THAT(outcome->output, HasSubstr("standard output: not all of it could be written"))
        << words;
  }
}

TEST_F(Commands, SaysWhenThereIsNoCourse) {
  const auto outcome = course_.run({"list"}, {{"MEMBOUND_ROOT", ""}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("there is no course here"));
}

TEST_F(Commands, NothingIsWiderThan80Columns) {
  course_.answer("wrong", "slow");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list"},
                                             {"list", "1"},
                                             {"progress"},
                                             {"next"},
                                             {"check", "1", "--device", "vgpu"},
                                             {"hint", "1"},
                                             {"handout", "1", "--text"},
                                             {"check", "nowhere"},
                                             {"chekc"}}) {
    const std::string text = course_.run(words).output;
    EXPECT_LE(widest_line(text), 80u) << text;
  }
}

TEST_F(Commands, LabsOfAnotherTreeAreListedBesideOursHoweverItIsNamed) {
  std::string lab = course_.read(course_.root() / "labs/01-fake/lab.json");
  lab.replace(lab.find("01-fake"), 7, "15-theirs");
  course_.write("more/labs/15-theirs/lab.json", lab);
  course_.write("more/labs/15-theirs/kernel.cu", "// TODO\n");
  const std::string more = (course_.root() / "more").string();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"list", "--labs", more}, {"--labs", more, "list"}, {"list", "--labs=" + more}})
    EXPECT_THAT(course_.run(words).output, AllOf(HasSubstr("15-theirs"), HasSubstr("01-fake")));
  EXPECT_THAT(course_.run({"list"}, {{"MEMBOUND_LABS", more}}).output, HasSubstr("15-theirs"));
  EXPECT_THAT(course_.run({"next", "15"}, {{"MEMBOUND_LABS", more}}).output,
              HasSubstr("more/labs/15-theirs/kernel.cu"));
}

TEST_F(Commands, AFolderOfLabsThatIsNotThereIsTold) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list", "--labs", "/nowhere"}, {"list", "--labs"}}) {
    const auto outcome = course_.run(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("--labs"), HasSubstr("expected: a folder with")));
  }
}

TEST_F(Commands, PlainAsciiWhereTheLocaleIsPlain) {
  course_.answer("passed", "wrong");
  const auto outcome = course_.run({"check", "1", "--device", "vgpu"}, {{"LC_ALL", "C"}});
  for (const char letter : outcome.output)
    ASSERT_LT(static_cast<unsigned char>(letter), 128) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("\033[")));
}

}  // namespace
}  // namespace membound::cli
