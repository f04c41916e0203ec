// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/intake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/tests/classroom/intake/archive_maker.hpp"

namespace membound::intake {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

course::Lab lab(const std::string& id, const std::string& kernel) {
  course::Lab one;
  one.id = id;
  one.stages.resize(1);
  one.stages[0].number = 1;
  one.stages[0].kernel = kernel;
  return one;
}

const std::string kTranspose = "__global__ void transpose_tiled(float*);\n";
const std::string kReverse = "__global__ void reverse_all(int*);\n";

/// A folder that was exported, a store, and what is taken in from one into the other.
class IntakeTest : public testing::Test {
 protected:
  IntakeTest() {
    request_.labs = {lab("01-reverse-array", "reverse_all"),
                     lab("03-transpose", "transpose_tiled")};
    request_.out = out_.path();
    request_.sources = {in_.path()};
  }
  void roster(const std::string& text) {
    auto roster = Roster::from_text(text, "roster.csv");
    ASSERT_TRUE(roster);
    request_.roster = *roster;
  }
  /// "student lab#attempt content" or "student lab#attempt REFUSED why", one a line.
  std::string taken() {
    const auto intake = take_in(request_);
    if (!intake) return base::to_string(intake.error());
    std::string text;
    for (const Submission& one : intake->submissions) {
      text += one.student + " " + one.lab + "#" + std::to_string(one.attempt) + " ";
      if (one.refused) {
        text += "REFUSED " + *one.refused + "\n";
        continue;
      }
      const auto content = Store(out_.path()).get(one.sha256);
      text += content ? content->substr(0, content->find('\n')) + "\n" : "NOT STORED\n";
    }
    return text;
  }
  Submission only() {
    const auto intake = take_in(request_);
    EXPECT_TRUE(intake);
    EXPECT_EQ(intake->submissions.size(), 1u);
    return intake && !intake->submissions.empty() ? intake->submissions[0] : Submission();
  }

  TemporaryFolder in_, out_;
  IntakeRequest request_;
};

TEST_F(IntakeTest, AFolderForEachStudent) {
  in_.write("alice/kernel.cu", "// a\n" + kTranspose);
  in_.write("bob/kernel.cu", "// b\n" + kReverse);
  EXPECT_EQ(taken(), "alice 03-transpose#1 // a\nbob 01-reverse-array#1 // b\n");
}

TEST_F(IntakeTest, AFileOrArchiveForEachStudent) {
  in_.write("alice.cu", "// a\n" + kTranspose);
  in_.write("bob.zip", make_archive("zip", {{"x/kernel.cu", "// b\n" + kTranspose}}));
  in_.write("carol.tar.xz", make_archive("tar.xz", {{"kernel.cu", "// c\n" + kTranspose}}));
  EXPECT_EQ(taken(),
            "alice 03-transpose#1 // a\nbob 03-transpose#1 // b\ncarol 03-transpose#1 // c\n");
}

TEST_F(IntakeTest, SeveralLabsOfOneStudentByFolder) {
  in_.write("alice/01-reverse-array/kernel.cu", "// 1\n");
  in_.write("alice/transpose/kernel.cu", "// 3\n");
  EXPECT_EQ(taken(), "alice 01-reverse-array#1 // 1\nalice 03-transpose#1 // 3\n");
}

TEST_F(IntakeTest, WithOneLabAskedForOthersAreLeftOut) {
  request_.lab = "03-transpose";
  in_.write("alice/01-reverse-array/kernel.cu", "// 1\n");
  in_.write("alice/03-transpose/kernel.cu", "// 3\n");
  in_.write("bob/kernel.cu", "// whatever\n");
  EXPECT_EQ(taken(), "alice 03-transpose#1 // 3\nbob 03-transpose#1 // whatever\n");
}

TEST_F(IntakeTest, ALabThatIsAskedForTakesWhatDetectionTakes) {
  in_.write("alice/week1/kernel.cu", "// 1\n" + kReverse);
  in_.write("alice/week2/kernel.cu", "// 3\n" + kTranspose);
  fs::create_directories(in_.path() / "bob");
  EXPECT_EQ(taken(), "alice 01-reverse-array#1 // 1\nalice 03-transpose#1 // 3\n");
  request_.lab = "01-reverse-array";
  EXPECT_EQ(taken(), "alice 01-reverse-array#1 // 1\n");
  request_.lab = "03-transpose";
  EXPECT_EQ(taken(), "alice 03-transpose#1 // 3\n");
}

TEST_F(IntakeTest, ARefusalNamesPaths) {
  in_.write("alice/one/kernel.cu", "// 1\n" + kTranspose);
  in_.write("alice/two/kernel.cu", "// 2\n" + kTranspose);
  fs::create_directories(in_.path() / "bob");
  EXPECT_THAT(taken(), HasSubstr("\"one/kernel.cu\" and \"two/kernel.cu\""));
}

TEST_F(IntakeTest, WorkForAnotherLabIsNothingForThisOne) {
  request_.lab = "01-reverse-array";
  in_.write("alice/kernel.cu", kTranspose);
  in_.write("bob/kernel.cu", "// b\n");
  const auto intake = take_in(request_);
  ASSERT_TRUE(intake);
  EXPECT_EQ(intake->submissions.size(), 1u);
  ASSERT_EQ(intake->absent.size(), 1u);
  EXPECT_EQ(intake->absent[0].student, "alice");
  EXPECT_EQ(intake->absent[0].note, "nothing submitted for it; found: kernel.cu");
}

/// Empty folders, in whatever they come, belong to students who handed in nothing.
TEST_F(IntakeTest, AnEmptyFolderIsSomebodyWhoHandedInNothing) {
  in_.write("alice/kernel.cu", kTranspose);
  fs::create_directories(in_.path() / "bob");
  fs::create_directories(in_.path() / "carol" / "01-reverse-array");
  in_.write("dave/.DS_Store", "litter");
  const auto intake = take_in(request_);
  ASSERT_TRUE(intake);
  EXPECT_EQ(intake->submissions.size(), 1u);
  std::string absent;
  for (const Absent& one : intake->absent)
    absent += one.student + ":" + one.lab.value_or("any") + " ";
  EXPECT_EQ(absent, "bob:any carol:01-reverse-array dave:any ");
}

TEST_F(IntakeTest, SoIsOneInAnArchiveAndInAMoodleExport) {
  in_.write("a.zip", make_archive("zip", {{"alice/kernel.cu", kTranspose},
                                          {.path = "bob/", .type = AE_IFDIR}}));
  request_.sources = {in_.path() / "a.zip"};
  auto intake = take_in(request_);
  ASSERT_TRUE(intake && intake->absent.size() == 1u);
  EXPECT_EQ(intake->absent[0].student, "bob");
  fs::remove(in_.path() / "a.zip");
  in_.write("Jane Doe_123_assignsubmission_file_/kernel.cu", kTranspose);
  fs::create_directories(in_.path() / "Bob Roe_124_assignsubmission_file_");
  request_.sources = {in_.path()};
  intake = take_in(request_);
  ASSERT_TRUE(intake && intake->absent.size() == 1u);
  EXPECT_EQ(intake->absent[0].student, "124");
  EXPECT_EQ(intake->absent[0].name, "Bob Roe");
}

TEST_F(IntakeTest, AKernelNamedInACommentTellsNothing) {
  in_.write("alice/kernel.cu", "// transpose_tiled\nint x;\n");
  EXPECT_THAT(taken(), HasSubstr("alice unknown#1 REFUSED nothing tells which lab"));
}

TEST_F(IntakeTest, CanvasNamesStudentsByNumberAndNumbersFilesHandedInAgain) {
  in_.write("doejane_4711_100_kernel.cu", "// old\n" + kTranspose);
  in_.write("doejane_LATE_4711_101_kernel-1.cu", "// new\n" + kTranspose);
  in_.write("roebob_4712_102_kernel.cu", "// b\n" + kTranspose);
  EXPECT_EQ(taken(), "4711 03-transpose#2 // new\n4712 03-transpose#1 // b\n");
}

TEST_F(IntakeTest, AllAttemptsStayWhereTheBestCounts) {
  request_.attempts = AttemptPolicy::kBest;
  in_.write("doejane_4711_100_kernel.cu", "// old\n" + kTranspose);
  in_.write("doejane_4711_101_kernel-1.cu", "// new\n" + kTranspose);
  EXPECT_EQ(taken(), "4711 03-transpose#1 // old\n4711 03-transpose#2 // new\n");
}

TEST_F(IntakeTest, CanvasStudentsAreFoundInTheRoster) {
  roster("id,SIS Login ID,name\n4711,jdoe,Jane Doe\n");
  in_.write("doejane_4711_100_kernel.cu", kTranspose);
  EXPECT_EQ(only().name, "Jane Doe");
}

TEST_F(IntakeTest, MoodleFoldersNameParticipants) {
  in_.write("Jane Doe_123_assignsubmission_file_/kernel.cu", "// m\n" + kTranspose);
  in_.write("Jane Doe_123_assignsubmission_onlinetext_/onlinetext.html", "<p>");
  in_.write("Bob Roe_124_assignsubmission_file_/a.zip",
            make_archive("zip", {{"kernel.cu", "// z\n" + kTranspose}}));
  EXPECT_EQ(taken(), "123 03-transpose#1 // m\n124 03-transpose#1 // z\n");
}

TEST_F(IntakeTest, MoodleWithoutFolders) {
  in_.write("Jane Doe_123_assignsubmission_file_kernel.cu", "// m\n" + kTranspose);
  EXPECT_EQ(taken(), "123 03-transpose#1 // m\n");
}

TEST_F(IntakeTest, GradescopeNamesStudentsInItsMetadata) {
  in_.write("assignment_9_export/submission_metadata.yml",
            "submission_1:\n  :submitters:\n  - :name: Jane Doe\n    :sid: '77'\n    :email: "
            "j@x.org\n  :created_at: 2026-11-20 13:37:00.123 -0800\n"
            "submission_2:\n  :submitters:\n  - :name: A\n    :sid: '1'\n  - :name: B\n    :sid: "
            "'2'\n  :created_at: 2026-11-20 13:37:00 -0800\n");
  in_.write("assignment_9_export/submission_1/kernel.cu", "// g\n" + kTranspose);
  in_.write("assignment_9_export/submission_2/kernel.cu", "// group\n" + kTranspose);
  EXPECT_EQ(taken(),
            "1 03-transpose#1 // group\n2 03-transpose#1 // group\n77 03-transpose#1 // g\n");
}

TEST_F(IntakeTest, GradescopeTellsWhenItWasHandedIn) {
  in_.write("submission_metadata.yml",
            "submission_1:\n  :submitters:\n  - :sid: '77'\n  :created_at: 2026-11-20 13:37:00 "
            "-0800\n");
  in_.write("submission_1/kernel.cu", kTranspose);
  EXPECT_EQ(utc_text(only().time), "2026-11-20T21:37:00Z");
  EXPECT_TRUE(only().time_is_record);
}

TEST_F(IntakeTest, AStudentsOwnMetadataFileTellsNothing) {
  in_.write("alice/submission_metadata.yml", "alice:\n  :submitters:\n  - :sid: bob\n");
  in_.write("alice/kernel.cu", "// a\n" + kTranspose);
  in_.write("bob/kernel.cu", "// b\n" + kTranspose);
  EXPECT_EQ(taken(), "alice 03-transpose#1 // a\nbob 03-transpose#1 // b\n");
}

TEST_F(IntakeTest, GitHubClonesCarryTheAssignmentsName) {
  for (const char* name : {"lab3-octo", "lab3-hub-cat"}) {
    in_.write(fs::path(name) / ".git" / "HEAD", "ref");
    in_.write(fs::path(name) / "kernel.cu", "// " + std::string(name) + "\n" + kTranspose);
  }
  EXPECT_EQ(taken(), "hub-cat 03-transpose#1 // lab3-hub-cat\nocto 03-transpose#1 // lab3-octo\n");
}

TEST_F(IntakeTest, AClassInOneArchiveWithArchivesInIt) {
  const std::string bob = make_archive("tar.gz", {{"kernel.cu", "// b\n" + kTranspose}});
  in_.write("export.zip", make_archive("zip", {{"all/alice/kernel.cu", "// a\n" + kTranspose},
                                               {"all/bob/bob.tar.gz", bob}}));
  EXPECT_EQ(taken(), "alice 03-transpose#1 // a\nbob 03-transpose#1 // b\n");
}

TEST_F(IntakeTest, OneStudentsArchiveAloneInTheFolderIsThatStudents) {
  for (const char* inside : {"kernel.cu", "src/kernel.cu", "03-transpose/kernel.cu", "lab3/a.cu",
                             "janes-work/deep/kernel.cu"}) {
    in_.write("jane.zip", make_archive("zip", {{inside, "// j\n" + kTranspose},
                                               {"notes/readme.txt", "hello"}}));
    EXPECT_EQ(taken(), "jane 03-transpose#1 // j\n") << inside;
  }
}

TEST_F(IntakeTest, SeveralLabsInOneStudentsArchiveStayThatStudents) {
  in_.write("jane.zip", make_archive("zip", {{"01-reverse-array/kernel.cu", "// 1\n" + kReverse},
                                             {"transpose/kernel.cu", "// 3\n" + kTranspose}}));
  EXPECT_EQ(taken(), "jane 01-reverse-array#1 // 1\njane 03-transpose#1 // 3\n");
}

TEST_F(IntakeTest, TheRosterTellsAClassOfOneFromAStudent) {
  roster("id\nalice\njane\n");
  in_.write("export.zip", make_archive("zip", {{"alice/kernel.cu", "// a\n" + kTranspose}}));
  EXPECT_EQ(taken(), "alice 03-transpose#1 // a\n");
  fs::remove(in_.path() / "export.zip");
  in_.write("jane.zip", make_archive("zip", {{"one/kernel.cu", "// j\n" + kTranspose},
                                             {"two/notes.cu", "// other\n"}}));
  EXPECT_THAT(taken(), HasSubstr("jane 03-transpose#1 // j\n"));
}

TEST_F(IntakeTest, ALearningSystemsExportAloneInTheFolderIsAClass) {
  in_.write("x.zip", make_archive("zip", {{"doejane_4711_100_kernel.cu", "// c\n" + kTranspose}}));
  EXPECT_EQ(taken(), "4711 03-transpose#1 // c\n");
}

TEST_F(IntakeTest, AnArchiveGivenByItselfIsAClass) {
  in_.write("x.zip", make_archive("zip", {{"alice/kernel.cu", "// a\n" + kTranspose}}));
  request_.sources = {in_.path() / "x.zip"};
  EXPECT_EQ(taken(), "alice 03-transpose#1 // a\n");
}

TEST_F(IntakeTest, AllOfItIsOneStudentsWhereThatIsSaid) {
  request_.student = "s";
  in_.write("deep/er/kernel.cu", "// s\n" + kTranspose);
  in_.write("report.txt", "words");
  EXPECT_EQ(taken(), "s 03-transpose#1 // s\n");
  in_.write("kernel (1).cu", "// other\n" + kTranspose);
  EXPECT_EQ(taken(), "s 03-transpose#1 // s\n");
  in_.write("deep/two/kernel.cu", "// t\n" + kTranspose);
  EXPECT_THAT(taken(), HasSubstr("REFUSED two files could be the submission"));
}

TEST_F(IntakeTest, OneStudentsArchiveIsOpenedWhereThatIsSaid) {
  request_.student = "s";
  in_.write("work.zip", make_archive("zip", {{"alice/kernel.cu", "// s\n" + kTranspose}}));
  EXPECT_EQ(taken(), "s 03-transpose#1 // s\n");
}

TEST_F(IntakeTest, TheNewestNumberedAttemptCounts) {
  in_.write("alice/attempt-1/kernel.cu", "// 1\n" + kTranspose);
  in_.write("alice/attempt-2/kernel.cu", "// 2\n" + kTranspose);
  in_.write("bob/kernel.cu", "// b\n" + kTranspose);
  EXPECT_EQ(taken(), "alice 03-transpose#2 // 2\nbob 03-transpose#1 // b\n");
}

TEST_F(IntakeTest, ALinkInPlaceOfTheKernelIsRefused) {
  in_.write("bob/kernel.cu", "// b\n" + kTranspose);
  fs::create_directories(in_.path() / "alice");
  fs::create_symlink("/etc/passwd", in_.path() / "alice" / "kernel.cu");
  EXPECT_EQ(taken(),
            "alice unknown#1 REFUSED \"kernel.cu\" is refused: it is a symbolic link\n"
            "bob 03-transpose#1 // b\n");
}

TEST_F(IntakeTest, APipeInPlaceOfTheKernelDoesNotMakeUsWait) {
  request_.lab = "03-transpose";
  fs::create_directories(in_.path() / "alice");
  ASSERT_EQ(mkfifo((in_.path() / "alice" / "kernel.cu").c_str(), 0644), 0);
  EXPECT_THAT(taken(),
              HasSubstr("alice 03-transpose#1 REFUSED \"kernel.cu\" is refused: it is a pipe"));
}

TEST_F(IntakeTest, AHardLinkIsRefused) {
  in_.write("bob/kernel.cu", kTranspose);
  fs::create_directories(in_.path() / "alice");
  fs::create_hard_link(out_.write("secret", "x"), in_.path() / "alice" / "kernel.cu");
  EXPECT_THAT(taken(), HasSubstr("it is a hard link"));
}

TEST_F(IntakeTest, AMemberOutsideOfTheArchiveIsRefusedAndNotWritten) {
  in_.write("alice.tar", make_archive("tar", {{"../../bob/kernel.cu", kTranspose}}));
  in_.write("bob/kernel.cu", "// b\n" + kTranspose);
  EXPECT_THAT(taken(), HasSubstr("its path leaves the archive"));
  EXPECT_THAT(taken(), HasSubstr("bob 03-transpose#1 // b\n"));
}

TEST_F(IntakeTest, ABombIsOneRefusedItem) {
  in_.write("alice.tar.gz", make_archive("tar.gz", {{"kernel.cu", kTranspose},
                                                    {"z", std::string(50 << 20, '\0')}}));
  in_.write("bob/kernel.cu", "// b\n" + kTranspose);
  EXPECT_THAT(taken(), HasSubstr("REFUSED \"alice.tar.gz\" is refused: an archive that unpacks"));
  EXPECT_THAT(taken(), HasSubstr("bob 03-transpose#1 // b\n"));
}

TEST_F(IntakeTest, ADamagedArchiveIsOneRefusedItem) {
  in_.write("alice.zip", "PK\x03\x04 nothing");
  in_.write("bob/kernel.cu", "// b\n" + kTranspose);
  EXPECT_THAT(taken(), HasSubstr("REFUSED \"alice.zip\" is refused: cannot be read as an archive"));
}

TEST_F(IntakeTest, TwoContentsOfOneNameAreRefused) {
  in_.write("alice.zip", make_archive("zip", {{"kernel.cu", "// 1\n" + kTranspose},
                                              {"Kernel.CU", "// 2\n" + kTranspose}}));
  EXPECT_THAT(taken(), HasSubstr("is there twice, and not the same"));
}

TEST_F(IntakeTest, KernelCuGoesBeforeOtherNames) {
  in_.write("alice/kernel.cu", "// right\n" + kTranspose);
  in_.write("alice/old.cu", "// old\n" + kTranspose);
  EXPECT_EQ(taken(), "alice 03-transpose#1 // right\n");
}

TEST_F(IntakeTest, TwoFilesThatCouldBeItAreRefused) {
  in_.write("alice/a.cu", "// 1\n" + kTranspose);
  in_.write("alice/b.cu", "// 2\n" + kTranspose);
  in_.write("bob/kernel.cu", "// b\n" + kTranspose);
  EXPECT_THAT(taken(), HasSubstr("two files could be the submission"));
}

TEST_F(IntakeTest, LitterOfMacsIsNoSubmission) {
  in_.write("alice.zip", make_archive("zip", {{"kernel.cu", "// a\n" + kTranspose},
                                              {"__MACOSX/._kernel.cu", "litter"}}));
  EXPECT_EQ(taken(), "alice 03-transpose#1 // a\n");
}

TEST_F(IntakeTest, SomethingElseThanAKernelIsSaid) {
  in_.write("alice/report.pdf", "%PDF");
  EXPECT_EQ(taken(), "alice unknown#1 REFUSED no kernel.cu in it; found: report.pdf\n");
}

TEST_F(IntakeTest, AHugeKernelIsRefused) {
  in_.write("alice/kernel.cu", kTranspose + std::string(2 << 20, ' '));
  EXPECT_THAT(taken(), HasSubstr("at most 1048576 are read"));
}

TEST_F(IntakeTest, AnEmptyKernelIsGraded) {
  request_.lab = "03-transpose";
  in_.write("alice/kernel.cu", "");
  EXPECT_EQ(taken(), "alice 03-transpose#1 \n");
}

TEST_F(IntakeTest, TwinNamesWithoutARosterAreBothRefused) {
  in_.write("Zo\xc3\xab/kernel.cu", "// 1\n" + kTranspose);
  in_.write("Zoe\xcc\x88/kernel.cu", "// 2\n" + kTranspose);
  const std::string text = taken();
  EXPECT_THAT(text, HasSubstr("(look-alike 1) 03-transpose#1 REFUSED"));
  EXPECT_THAT(text, HasSubstr("(look-alike 2) 03-transpose#1 REFUSED"));
}

TEST_F(IntakeTest, WithARosterTheExactIdWinsOverItsTwin) {
  roster("id\nalice\n");
  in_.write("alice/kernel.cu", "// hers\n" + kTranspose);
  in_.write("ALICE/kernel.cu", "// not hers\n" + kTranspose);
  const std::string text = taken();
  EXPECT_THAT(text, HasSubstr("alice 03-transpose#1 // hers\n"));
  EXPECT_THAT(text, HasSubstr("ALICE (look-alike 1) 03-transpose#1 REFUSED"));
}

TEST_F(IntakeTest, WhoIsNotInTheRosterIsGradedAndMarked) {
  roster("id\nbob\n");
  in_.write("mallory/kernel.cu", kTranspose);
  EXPECT_EQ(only().unmatched, "not in the roster");
}

TEST_F(IntakeTest, AFolderNameThatHoldsAnIdIsThatStudent) {
  roster("id\ns1001\ns1002\n");
  in_.write("s1001_transpose-final/kernel.cu", kTranspose);
  EXPECT_EQ(only().student, "s1001");
}

TEST_F(IntakeTest, ControlCharactersNeverReachTheNames) {
  in_.write("a\x1b]0;x\x07/kernel.cu", kTranspose);
  const Submission one = only();
  EXPECT_EQ(one.student.find('\x1b'), std::string::npos);
  EXPECT_EQ(one.origin.find('\x1b'), std::string::npos);
}

TEST_F(IntakeTest, AMissingFolderIsAnError) {
  request_.sources = {in_.path() / "nowhere"};
  EXPECT_FALSE(take_in(request_));
}

TEST_F(IntakeTest, EqualTextsAreStoredOnce) {
  in_.write("alice/kernel.cu", kTranspose);
  in_.write("bob/kernel.cu", kTranspose);
  const auto intake = take_in(request_);
  ASSERT_TRUE(intake);
  EXPECT_EQ(intake->submissions[0].sha256, intake->submissions[1].sha256);
}

TEST_F(IntakeTest, AChangedStoreIsNoticed) {
  in_.write("alice/kernel.cu", kTranspose);
  const std::string digest = only().sha256;
  const fs::path file = Store(out_.path()).file(digest);
  fs::permissions(file, fs::perms::owner_all);
  std::ofstream(file) << "another text";
  EXPECT_FALSE(Store(out_.path()).get(digest));
}

/// A class that hands in answers.md beside a kernel.cu, for lab 03 alone.
class IntakeOfSeveralFiles : public IntakeTest {
 protected:
  IntakeOfSeveralFiles() { request_.labs[1].files = {"kernel.cu", "answers.md"}; }
  /// The files of the only submission.
  course::SplitSubmission files() {
    const Submission one = only();
    const auto text = Store(out_.path()).get(one.sha256);
    EXPECT_TRUE(text) << one.refused.value_or("");
    return course::split_submission(text ? *text : "");
  }
};

TEST_F(IntakeOfSeveralFiles, TheyLieBesideEachOther) {
  in_.write("alice/kernel.cu", kTranspose);
  in_.write("alice/answers.md", "- line: 7\n");
  in_.write("alice/old/answers.md", "- line: 8\n");
  EXPECT_EQ(files().kernel, kTranspose);
  EXPECT_EQ(files().beside.at("answers.md"), "- line: 7\n");
}

TEST_F(IntakeOfSeveralFiles, InAnArchiveOrAsALearningSystemNamesThem) {
  in_.write("alice.zip", make_archive("zip", {{"03-transpose/kernel.cu", kTranspose},
                                              {"03-transpose/answers.md", "- line: 7\n"}}));
  EXPECT_EQ(files().beside.at("answers.md"), "- line: 7\n");
  for (const auto& [kernel, answers] :
       {std::pair("doejane_12345_67890_kernel.cu", "doejane_12345_67891_answers.md"),
        {"doejane_12345_67892_kernel-1.cu", "doejane_12345_67893_answers-1.md"},
        {"Jane Doe_123_assignsubmission_file_/kernel.cu",
         "Jane Doe_123_assignsubmission_file_/answers.md"}}) {
    const TemporaryFolder in;
    request_.sources = {in.path()};
    in.write(kernel, kTranspose);
    in.write(answers, "- line: 9\n");
    EXPECT_EQ(files().beside["answers.md"], "- line: 9\n") << answers;
  }
}

TEST_F(IntakeOfSeveralFiles, OneIsEnoughAndAnotherLabWantsNone) {
  in_.write("alice/kernel.cu", kTranspose);
  in_.write("bob/kernel.cu", kReverse);
  in_.write("bob/answers.md", "- line: 7\n");
  EXPECT_EQ(taken(), "alice 03-transpose#1 " + kTranspose + "bob 01-reverse-array#1 " + kReverse);
}

TEST_F(IntakeOfSeveralFiles, TwoOfANameAndTooLargeOnesAreRefused) {
  in_.write("alice/kernel.cu", kTranspose);
  in_.write("alice/answers.md", "- line: 7\n");
  in_.write("alice/Answers.md", "- line: 8\n");
  in_.write("bob/kernel.cu", kTranspose);
  in_.write("bob/answers.md", std::string(course::kMostBytesBeside + 1, 'x'));
  EXPECT_THAT(taken(), testing::AllOf(HasSubstr("two files could be its answers.md"),
                                      HasSubstr("bytes; at most 65536 are read")));
}

}  // namespace
}  // namespace membound::intake
