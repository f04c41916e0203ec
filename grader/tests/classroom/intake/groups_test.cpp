// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups: one submission, a row for each member.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "grader/classroom/intake/intake.hpp"
#include "grader/tests/classroom/intake/archive_maker.hpp"

namespace membound::intake {
namespace {

using testing::HasSubstr;

const std::string kReverseKernel = "__global__ void reverse_all(int*);\n";
const std::string kTransposeKernel = "__global__ void transpose_tiled(float*);\n";

/// A file that was handed in: where, its text, and the minute of its date.
struct Handed {
  std::string path, text;
  int minute = 0;
};

struct GroupCase {
  const char* what;
  std::string roster;
  bool group_folders;
  std::vector<Handed> files;
  std::string expected;  ///< "a:red:x b:red:x": student, group, text of each row
  AttemptPolicy policy = AttemptPolicy::kLatest;
};

std::string rows_of(const GroupCase& one) {
  const TemporaryFolder in, out;
  IntakeRequest request;
  for (const char* id : {"01-reverse-array", "03-transpose"}) {
    course::Lab lab;
    lab.id = id;
    lab.stages.resize(1);
    lab.stages[0].kernel = lab.id == "03-transpose" ? "transpose_tiled" : "reverse_all";
    request.labs.push_back(lab);
  }
  for (const Handed& handed : one.files) {
    const auto file = in.write(handed.path, handed.text);
    const timespec date{1795000000 + 60L * handed.minute, 0};
    const timespec times[2] = {date, date};
    EXPECT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  request.out = out.path();
  request.sources = {in.path()};
  if (!one.roster.empty()) request.roster = *Roster::from_text(one.roster, "class.csv");
  request.group_folders = one.group_folders;
  request.attempts = one.policy;
  const auto intake = take_in(request);
  if (!intake) return base::to_string(intake.error());
  std::string text;
  for (const Submission& row : intake->submissions) {
    const auto content = Store(out.path()).get(row.sha256);
    text += (text.empty() ? "" : " ") + row.student + ":" + row.group + ":" +
            (content ? content->substr(3, content->find('\n') - 3) : "?");
    if (!row.unmatched.empty()) text += ":unmatched";
  }
  return text;
}

std::string reverse(const std::string& name) { return "// " + name + "\n" + kReverseKernel; }
std::string transpose(const std::string& name) { return "// " + name + "\n" + kTransposeKernel; }

TEST(Groups, OneSubmissionIsEachMembers) {
  const std::string column = "id,group\na,red\nb,red\nc,blue\nd,\n";
  const std::string by_lab = "id,group,group transpose\na,red,one\nb,red,two\nc,blue,one\n";
  const std::vector<GroupCase> cases = {
      {"a column of the roster", column, false, {{"a/kernel.cu", reverse("x")}}, "a:red:x b:red:x"},
      {"the newest of two members' counts for both",
       column,
       false,
       {{"a/kernel.cu", reverse("x"), 5}, {"b/kernel.cu", reverse("y"), 3}},
       "a:red:x b:red:x"},
      {"whoever it is from",
       column,
       false,
       {{"a/kernel.cu", reverse("x"), 3}, {"b/kernel.cu", reverse("y"), 5}},
       "a:red:y b:red:y"},
      {"where the best counts, each is an attempt",
       column,
       false,
       {{"a/kernel.cu", reverse("x"), 3}, {"b/kernel.cu", reverse("y"), 5}},
       "a:red:x a:red:y b:red:x b:red:y",
       AttemptPolicy::kBest},
      {"the same text from both is one",
       column,
       false,
       {{"a/kernel.cu", reverse("x"), 3}, {"b/kernel.cu", reverse("x"), 5}},
       "a:red:x b:red:x",
       AttemptPolicy::kBest},
      {"others are not touched",
       column,
       false,
       {{"a/kernel.cu", reverse("x")},
        {"c/kernel.cu", reverse("z")},
        {"d/kernel.cu", reverse("w")}},
       "a:red:x b:red:x c::z d::w"},
      {"groups change between labs",
       by_lab,
       false,
       {{"a/01-reverse-array/kernel.cu", reverse("x")},
        {"a/03-transpose/kernel.cu", transpose("t")}},
       "a:red:x a:one:t b:red:x c:one:t"},
      {"a folder that the group names",
       column,
       false,
       {{"red/kernel.cu", reverse("x")}},
       "a:red:x b:red:x"},
      {"a_b where the course says so",
       "id\na\nb\nc\n",
       true,
       {{"a_b/kernel.cu", reverse("x")}, {"c/kernel.cu", reverse("z")}},
       "a:a_b:x b:a_b:x c::z"},
      {"a_b where it does not",
       "id\na\nc\n",
       false,
       {{"a_b/kernel.cu", reverse("x")}, {"c/kernel.cu", reverse("z")}},
       "a::x c::z"},
      {"an id with a '_' in it",
       "id\na_b\nb\na\n",
       true,
       {{"a_b/kernel.cu", reverse("x")}, {"b/kernel.cu", reverse("z")}},
       "a_b::x b::z"},
      {"two ways to read it are none",
       "id\na\nb\nc\na_b\nb_c\nx\n",
       true,
       {{"a_b_c/kernel.cu", reverse("x")}, {"x/kernel.cu", reverse("z")}},
       "a_b_c::x:unmatched x::z"},
      {"without a roster each part is a student",
       "",
       true,
       {{"ann_bob/kernel.cu", reverse("x")}, {"eve/kernel.cu", reverse("z")}},
       "ann:ann_bob:x bob:ann_bob:x eve::z"},
      {"Gradescope's record",
       "id\na\nb\n",
       false,
       {{"submission_1/kernel.cu", reverse("x")},
        {"submission_metadata.yml",
         "submission_1:\n  :submitters:\n  - {:name: A, :sid: a}\n  - {:name: B, :sid: b}\n"}},
       "a:submission_1:x b:submission_1:x"},
  };
  for (const GroupCase& one : cases) EXPECT_EQ(rows_of(one), one.expected) << one.what;
}

TEST(Groups, AColumnForALabThatIsNoneIsRefused) {
  EXPECT_THAT(
      rows_of({"", "id,group sorting\na,red\n", false, {{"a/kernel.cu", reverse("x")}}, ""}),
      HasSubstr("there is no lab \"sorting\""));
}

TEST(Groups, ALabsTimeIsThatOfItsOwnFiles) {
  const TemporaryFolder in, out;
  IntakeRequest request;
  for (const char* id : {"01-reverse-array", "03-transpose"}) {
    course::Lab lab;
    lab.id = id;
    lab.stages.resize(1);
    request.labs.push_back(lab);
  }
  request.out = out.path();
  request.sources = {in.path()};
  for (const auto& [path, time] : {std::pair("ana/01-reverse-array/kernel.cu", 1793491200L),
                                   {"ana/03-transpose/kernel.cu", 1795608000L}}) {
    const auto file = in.write(path, kReverseKernel);
    const timespec times[2] = {{time, 0}, {time, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  const auto intake = take_in(request);
  ASSERT_TRUE(intake);
  ASSERT_EQ(intake->submissions.size(), 2u);
  EXPECT_EQ(utc_text(intake->submissions[0].time), "2026-11-01T00:00:00Z");
  EXPECT_EQ(utc_text(intake->submissions[1].time), "2026-11-25T12:00:00Z");
}

}  // namespace
}  // namespace membound::intake
