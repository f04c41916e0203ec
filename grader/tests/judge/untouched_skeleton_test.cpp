// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/workplace.hpp"

#include <gmock/gmock.h>

#include "grader/base/process.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

constexpr const char* kSkeleton = "int row;\n// TODO 1 (about 1 line): move it\nreturn;\n";
constexpr const char* kSolution = "int row;\nout[row] = in[row];\nreturn;\n";

TEST(Skeleton, IsWhatTheSolutionOnlyAddsLinesTo) {
  EXPECT_TRUE(is_skeleton_of(kSkeleton, kSolution));
  EXPECT_TRUE(is_skeleton_of("// another comment\n" + std::string(kSkeleton), kSolution));
  EXPECT_FALSE(is_skeleton_of(kSolution, kSolution)) << "it has no TODO";
  EXPECT_FALSE(is_skeleton_of("int row;\n// TODO 1\nout[0] = 1;\nreturn;\n", kSolution));
  EXPECT_FALSE(is_skeleton_of("return;\n// TODO 1\nint row;\n", kSolution)) << "another order";
}

class SkeletonInGit : public testing::Test {
 protected:
  void SetUp() override {
    lab_.id = "01-x";
    folder_.write("course/solutions/01-x/kernel.cu", kSolution);
    place_ = {folder_.path() / "course", folder_.path() / "build", folder_.path() / "state"};
  }
  void git(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"git", "-C", place_.root.string(), "-c", "user.name=a", "-c", "user.email=b"});
    const auto outcome = base::run_process({.arguments = words});
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->exit_code, 0) << outcome->output;
  }
  void commit(const std::string& kernel) {
    folder_.write("course/labs/01-x/kernel.cu", kernel);
    git({"add", "."});
    git({"commit", "-qm", "x"});
  }
  TemporaryFolder folder_;
  course::Lab lab_;
  Workplace place_;
};

TEST_F(SkeletonInGit, IsFoundBehindASolutionTheStudentCommitted) {
  git({"init", "-q"});
  commit("int old;\n// TODO 1: an old skeleton that the answer no longer fits\n");
  commit(kSkeleton);
  commit("int row;\n// TODO 1 (about 1 line): move it\nout[0] = 5;\nreturn;\n");
  const auto found = find_skeleton(place_, lab_);
  ASSERT_TRUE(found) << base::to_string(found.error());
  EXPECT_EQ(*found, kSkeleton);
}

TEST_F(SkeletonInGit, IsTakenFromTheBuildWhereThereIsNoGit) {
  folder_.write("build/share/labs/01-x/kernel.cu", kSkeleton);
  const auto found = find_skeleton(place_, lab_);
  ASSERT_TRUE(found) << base::to_string(found.error());
  EXPECT_EQ(*found, kSkeleton);
}

TEST_F(SkeletonInGit, IsKeptFromTheFolderBeforeAnybodyWorkedOnIt) {
  lab_.folder = place_.root / "labs/01-x";
  folder_.write("course/labs/01-x/kernel.cu", kSkeleton);
  ASSERT_TRUE(keep_skeleton(place_, lab_));
  folder_.write("course/labs/01-x/kernel.cu", "// TODO 1\nout[0] = 5;\n");
  ASSERT_TRUE(keep_skeleton(place_, lab_)) << "the copy of the build stays";
  const auto found = find_skeleton(place_, lab_);
  ASSERT_TRUE(found) << base::to_string(found.error());
  EXPECT_EQ(*found, kSkeleton);
}

TEST_F(SkeletonInGit, IsNotKeptFromAFileSomebodyWorkedOn) {
  lab_.folder = place_.root / "labs/01-x";
  folder_.write("course/labs/01-x/kernel.cu", "// TODO 1\nout[0] = 5;\n");
  EXPECT_FALSE(keep_skeleton(place_, lab_));
  EXPECT_FALSE(find_skeleton(place_, lab_));
}

TEST_F(SkeletonInGit, IsNeverAStudentsFile) {
  folder_.write("build/share/labs/01-x/kernel.cu", "// TODO 1\nout[0] = 5;\n");
  const auto found = find_skeleton(place_, lab_);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().found, testing::HasSubstr("no untouched version"));
}

}  // namespace
}  // namespace membound::judge
