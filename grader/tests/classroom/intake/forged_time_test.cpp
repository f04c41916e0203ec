// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dates that a student can write, in each form in which something is handed in, and what counts
/// in their place. Everything here came on 25 November and says that it is of 1 November.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/intake.hpp"
#include "grader/tests/classroom/intake/archive_maker.hpp"

namespace membound::intake {
namespace {

namespace fs = std::filesystem;

const std::string kKernel = "__global__ void transpose_tiled(float*);\n";
constexpr std::int64_t kForged = 1793491200;   // 2026-11-01T00:00:00Z
constexpr std::int64_t kArrived = 1795608000;  // 2026-11-25T12:00:00Z

/// What is handed in lies in a folder; its files' own dates are set like those of an arrival.
class ForgedTime : public testing::Test {
 protected:
  ForgedTime() {
    for (const char* id : {"01-reverse-array", "03-transpose"}) {
      course::Lab lab;
      lab.id = id;
      lab.stages.resize(1);
      lab.stages[0].kernel = lab.id == "03-transpose" ? "transpose_tiled" : "reverse_all";
      request_.labs.push_back(lab);
    }
    request_.out = out_.path();
    request_.sources = {in_.path()};
  }
  void arrives(const std::string& name, const std::string& bytes) {
    const fs::path file = in_.write(name, bytes);
    const timespec times[2] = {{kArrived, 0}, {kArrived, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  static std::string forged(const std::string& kind, const std::string& member = "kernel.cu") {
    return make_archive(kind, {{.path = member, .content = kKernel, .time = kForged}});
  }
  std::vector<TimeRecord> records(const std::string& text) {
    auto read = read_time_records(text, "times.csv", request_.lab, request_.labs);
    EXPECT_TRUE(read) << (read ? "" : base::to_string(read.error()));
    return read ? *read : std::vector<TimeRecord>();
  }
  /// "2026-11-25T12:00:00Z file", one for each submission.
  std::string times() {
    const auto intake = take_in(request_);
    if (!intake) return base::to_string(intake.error());
    std::string text;
    for (const Submission& one : intake->submissions)
      text += (text.empty() ? "" : ", ") + utc_text(one.time) +
              (one.time_is_record ? " record" : " file");
    return text;
  }

  TemporaryFolder in_, out_;
  IntakeRequest request_;
};

constexpr const char* kArrival = "2026-11-25T12:00:00Z file";

TEST_F(ForgedTime, AZipsMemberDoesNotDateIt) {
  arrives("alice.zip", forged("zip"));
  EXPECT_EQ(times(), kArrival);
}

TEST_F(ForgedTime, NorDoesATarsOfAnyKind) {
  for (const char* kind : {"tar", "tar.gz", "tar.xz", "tar.zst", "tar.bz2"}) {
    fs::remove_all(in_.path() / "alice");
    arrives("alice/work." + std::string(kind), forged(kind));
    EXPECT_EQ(times(), kArrival) << kind;
  }
}

TEST_F(ForgedTime, NorDoesAnArchiveInAnArchive) {
  arrives("alice.zip",
          make_archive("zip",
                       {{.path = "inner.tar.gz", .content = forged("tar.gz"), .time = kForged}}));
  EXPECT_EQ(times(), kArrival);
}

TEST_F(ForgedTime, InACanvasExport) {
  arrives("doejane_4711_100_work.zip", forged("zip"));
  EXPECT_EQ(times(), kArrival);
}

TEST_F(ForgedTime, InAMoodleExport) {
  arrives("Jane Doe_123_assignsubmission_file_/work.tar", forged("tar"));
  EXPECT_EQ(times(), kArrival);
}

TEST_F(ForgedTime, InAnExportThatIsAnArchiveItself) {
  const std::string alice =
      make_archive("zip", {{.path = "kernel.cu", .content = kKernel, .time = kForged}});
  in_.write("export.zip",
            make_archive("zip", {{.path = "alice.zip", .content = alice, .time = kArrived},
                                 {.path = "bob.cu", .content = kKernel, .time = kArrived}}));
  request_.sources = {in_.path() / "export.zip"};
  EXPECT_EQ(times(), "2026-11-25T12:00:00Z file, 2026-11-25T12:00:00Z file");
}

TEST_F(ForgedTime, GradescopesRecordGoesBeforeAnyDate) {
  in_.write("submission_metadata.yml",
            "submission_1:\n  :submitters:\n  - :sid: '77'\n  :created_at: 2026-11-24 10:00 UTC\n");
  arrives("submission_1/work.zip", forged("zip"));
  EXPECT_EQ(times(), "2026-11-24T10:00:00Z record");
}

TEST_F(ForgedTime, ATouchedFileIsItsOwnWitnessUntilThePlatformSpeaks) {
  const fs::path file = in_.write("alice/kernel.cu", kKernel);
  const timespec touched[2] = {{kForged, 0}, {kForged, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), touched, 0), 0);
  EXPECT_EQ(times(), "2026-11-01T00:00:00Z file");  // a row with a due date says so
  request_.times = records("id,lab,submitted_at\nalice,transpose,2026-11-25T12:00:00Z\n");
  EXPECT_EQ(times(), "2026-11-25T12:00:00Z record");
}

TEST_F(ForgedTime, AClonesPushIsTheRecordAndNotItsCommits) {
  request_.lab = "03-transpose";
  arrives("lab3-octo/.git/HEAD", "ref");
  arrives("lab3-octo/kernel.cu", kKernel);
  arrives("lab3-cat/.git/HEAD", "ref");
  arrives("lab3-cat/kernel.cu", kKernel);
  request_.times = records(
      "assignment_name,github_username,roster_identifier,submission_timestamp\n"
      "Lab 3,octo,s1,2026-11-26 09:00:00 UTC\n");
  EXPECT_EQ(times(), "2026-11-25T12:00:00Z file, 2026-11-26T09:00:00Z record");
}

TEST_F(ForgedTime, MoodlesWorksheetIsARecord) {
  request_.lab = "03-transpose";
  arrives("Jane Doe_123_assignsubmission_file_/work.tar", forged("tar"));
  request_.times = records(
      "Identifier,Full name,Status,Last modified (submission)\n"
      "Participant 123,Jane Doe,Submitted,\"Wednesday, 25 November 2026, 12:30 PM\"\n"
      "Participant 124,Bob Roe,No submission,-\n");
  ASSERT_EQ(request_.times.size(), 1u);
  EXPECT_EQ(request_.times[0].time, *parse_time("2026-11-25T12:30"));
  EXPECT_EQ(times(), utc_text(*parse_time("2026-11-25T12:30")) + " record");
}

TEST_F(ForgedTime, CanvassSubmissionsAreARecordForEachAttempt) {
  request_.lab = "03-transpose";
  request_.attempts = AttemptPolicy::kBest;
  arrives("doejane_4711_100_kernel.cu", kKernel);
  arrives("doejane_4711_101_kernel-1.cu", kKernel + "// 2\n");
  request_.times = records(R"([{"user_id": 4711, "attempt": 2, "submitted_at": "x",
      "submission_history": [
        {"user_id": 4711, "attempt": 1, "submitted_at": "2026-11-20T10:00:00Z"},
        {"user_id": 4711, "attempt": 2, "submitted_at": "2026-11-24T10:00:00Z"}]},
     {"user_id": 4712, "attempt": null, "submitted_at": null}])");
  EXPECT_EQ(times(), "2026-11-20T10:00:00Z record, 2026-11-24T10:00:00Z record");
  request_.attempts = AttemptPolicy::kLatest;
  EXPECT_EQ(times(), "2026-11-24T10:00:00Z record");
}

TEST_F(ForgedTime, TheRosterHasATimeForEachLab) {
  arrives("alice/03-transpose/kernel.cu", kKernel);
  arrives("alice/01-reverse-array/kernel.cu", "// 1\n");
  auto roster = Roster::from_text(
      "id,submitted_at 03-transpose,submitted_at (reverse-array)\n"
      "alice,2026-11-24T10:00Z,2026-11-03T10:00Z\n",
      "roster.csv");
  ASSERT_TRUE(roster);
  request_.roster = *roster;
  EXPECT_EQ(times(), "2026-11-03T10:00:00Z record, 2026-11-24T10:00:00Z record");
}

TEST_F(ForgedTime, OneTimeForSeveralLabsIsRefused) {
  arrives("alice/03-transpose/kernel.cu", kKernel);
  arrives("alice/01-reverse-array/kernel.cu", "// 1\n");
  request_.roster = *Roster::from_text("id,submitted_at\nalice,2026-11-24T10:00Z\n", "roster.csv");
  EXPECT_NE(times().find("a time for each student, and 2 labs"), std::string::npos) << times();
  request_.lab = "03-transpose";
  EXPECT_EQ(times(), "2026-11-24T10:00:00Z record");
}

TEST_F(ForgedTime, ATimeThatIsNoneIsAnErrorAndNotInTime) {
  arrives("alice/kernel.cu", kKernel);
  request_.roster = *Roster::from_text("id,submitted_at\nalice,yesterday\n", "roster.csv");
  EXPECT_NE(times().find("\"yesterday\" is no time"), std::string::npos) << times();
}

TEST_F(ForgedTime, ANameThatTwoPeopleHaveTellsNoTime) {
  request_.lab = "03-transpose";
  arrives("Jane Doe/kernel.cu", kKernel);
  request_.times = records(
      "id,name,submitted_at\ns1,Jane Doe,2026-11-02T10:00Z\ns2,Jane Doe,2026-11-24T10:00Z\n");
  EXPECT_EQ(times(), kArrival);
}

}  // namespace
}  // namespace membound::intake
