// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of a release by themselves: handouts, leaks, folders, archives.
#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"
#include "grader/classroom/release/leaks.hpp"
#include "grader/classroom/release/reference.hpp"
#include "grader/classroom/release/student_files.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;
using judge::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// --- what students read ------------------------------------------------------------------------

TEST(StudentHandout, EndsWhereTheAnswersBegin) {
  const std::string text =
      student_handout("# Lab\n\nIdea.\n\n## After you are done\n\nThe answer.\n");
  EXPECT_THAT(text, HasSubstr("Idea.\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("The answer")));
}

TEST(StudentHandout, LeavesOutFilesThatItNoLongerNames) {
  Tree tree;
  tree["handouts/01-x/handout.md"] = {"![](figures/a.svg)\n\n## After you are done\n![](b.svg)\n"};
  tree["handouts/01-x/figures/a.svg"] = {"a"};
  tree["handouts/01-x/figures/b.svg"] = {"b"};
  tree["handouts/02-y/figures/b.svg"] = {"b"};
  shorten_handout(tree, "01-x");
  EXPECT_TRUE(tree.contains("handouts/01-x/figures/a.svg"));
  EXPECT_FALSE(tree.contains("handouts/01-x/figures/b.svg"));
  EXPECT_TRUE(tree.contains("handouts/02-y/figures/b.svg"));
}

TEST(StudentHandout, HasTheExperimentsThatItSaysHowToRun) {
  Tree tree;
  const std::string folder = "handouts/01-x/";
  tree[folder + "handout.md"] = {
      "# Lab\n`./membound experiment loads`\n`./membound experiment strides-wrapped`\n"
      "## After you are done\n`./membound experiment strides`\n"};
  tree[folder + "experiments.json"] = {
      R"([{"name": "loads", "file": "loads.cu"}, {"name": "strides", "file": "strides.cu"}])"};
  tree[folder + "loads.cu"] = {"a"};
  tree[folder + "strides.cu"] = {"b"};
  shorten_handout(tree, "01-x");
  EXPECT_TRUE(tree.contains(folder + "loads.cu"));
  EXPECT_FALSE(tree.contains(folder + "strides.cu"));
  const auto left = nlohmann::json::parse(tree.at(folder + "experiments.json").bytes);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].at("name"), "loads");

  tree[folder + "handout.md"] = {"# Lab\n## After you are done\n`./membound experiment loads`\n"};
  shorten_handout(tree, "01-x");
  EXPECT_FALSE(tree.contains(folder + "experiments.json"));
  EXPECT_FALSE(tree.contains(folder + "loads.cu"));
}

TEST(StudentLabList, NamesTheLabsThatAreHandedOut) {
  EXPECT_EQ(
      student_lab_list("# labs\nadd_lab(01-a BOTH_COMPILERS)\nadd_lab(03-b)\nend()\n", {"03-b"}),
      "# labs\nadd_lab(03-b)\nend()\n");
}

TEST(StudentPresets, AreTheStudentsAlone) {
  const auto text = base::read_file(fs::path(MEMBOUND_SOURCE_DIR) / "CMakePresets.json");
  ASSERT_TRUE(text);
  const auto presets = student_presets(*text);
  ASSERT_TRUE(presets);
  const auto json = nlohmann::json::parse(*presets);
  EXPECT_EQ(json["configurePresets"].size(), 2U);
  EXPECT_EQ(json["buildPresets"].size(), 1U);
}

TEST(BarePtx, HasNeitherCommentsNorLineTables) {
  EXPECT_EQ(bare_ptx("// head\n.version 8.0 // why\n\t.file\t1 \"k.cu\"\n\t.loc 1 2 3\n"
                     "/* two\nlines */\t.local .b8 x[4];\n  ret;\n"),
            ".version 8.0\n.local .b8 x[4];\nret;\n");
}

TEST(BarePtx, KeepsStrings) {
  EXPECT_EQ(bare_ptx(".pragma \"// no comment\"; // one\n"), ".pragma \"// no comment\";\n");
}

// --- leaks -------------------------------------------------------------------------------------

class LeaksTest : public testing::Test {
 protected:
  LeaksTest() {
    folder_.write("solutions/01-x/kernel.cu",
                  "// SPDX-License-Identifier: Apache-2.0\nopen_line_of_skeleton();\n"
                  "  out[n - 1 - i]  =  in[i];\n----------------\nreturn;\n");
    folder_.write("solutions/01-x/NOTES.md", "Students forget the last element.\n");
  }
  std::vector<std::string> leaks(const std::string& name, const std::string& bytes) {
    const auto secrets = Secrets::read({folder_.path()}, {"open_line_of_skeleton();\n"});
    EXPECT_TRUE(secrets);
    Tree tree;
    tree[name] = {bytes};
    const auto found = find_leaks(tree, *secrets, {folder_.path(), "/"});
    if (!found) return {base::to_string(found.error())};
    std::vector<std::string> all;
    for (const Leak& leak : *found) all.push_back(to_string(leak));
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(LeaksTest, ALineOfASolutionIsFoundWhateverItsBlanks) {
  EXPECT_THAT(leaks("a.md", "fine\n\tout[n - 1 - i] = in[i];   \n"),
              ElementsAre("a.md:2: a line of solutions/01-x/kernel.cu: out[n - 1 - i] = in[i];"));
}

TEST_F(LeaksTest, ALineOfTheNotesIsFound) {
  EXPECT_THAT(leaks("a.md", "Students forget the last element."),
              ElementsAre(HasSubstr("solutions/01-x/NOTES.md")));
}

TEST_F(LeaksTest, ALineThatAWrongAnswersPatchAddsIsFound) {
  folder_.write(
      "solutions/01-x/wrong/stage-1.patch",
      "# 1-too-far fails One\n@@ -3 +3 @@\n-  out[n - 1 - i]  =  in[i];\n+  out[n - i] = in[i];\n");
  EXPECT_THAT(leaks("a.md", "out[n - i] = in[i];"), ElementsAre(HasSubstr("wrong/stage-1.patch")));
}

TEST_F(LeaksTest, SkeletonsLicencesRulersAndShortLinesAreNone) {
  EXPECT_THAT(leaks("a.md",
                    "open_line_of_skeleton();\n// SPDX-License-Identifier: Apache-2.0\n"
                    "----------------\nreturn;\n"),
              IsEmpty());
}

TEST_F(LeaksTest, APathOfThisMachineIsFoundInBinariesToo) {
  const std::string bytes = std::string("\0\1", 2) + folder_.path().string() + "/x";
  EXPECT_THAT(leaks("a.bin", bytes), ElementsAre(HasSubstr("of this machine")));
}

TEST_F(LeaksTest, ALineTableInDeviceCodeIsFound) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  EXPECT_THAT(leaks("r.ptx", head + ".entry k()\n{\n\t.local .b8 x[4];\n\tret;\n}\n"), IsEmpty());
  EXPECT_THAT(leaks("r.ptx", head + ".entry k()\n{\n\t.loc 1 2 3\n\tret;\n}\n"),
              ElementsAre(HasSubstr("debug information")));
}

// --- the folder --------------------------------------------------------------------------------

class TargetTest : public testing::Test {
 protected:
  static Tree tree(const std::string& text) {
    Tree made;
    made["a/b.txt"] = {text};
    made["run"] = {"#!/bin/sh\n", true};
    nlohmann::json files;
    for (const auto& [name, file] : made) files[name] = base::sha256(file.bytes);
    made[kManifest] = {nlohmann::json{{"schema", kManifestSchema}, {"files", files}}.dump()};
    return made;
  }
  std::string put(const Tree& tree) {
    const auto put = put_in_place(tree, out());
    return put ? "" : base::to_string(put.error());
  }
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  [[nodiscard]] std::string read(const std::string& name) const {
    const auto text = base::read_file(out() / name);
    return text ? *text : "(none)";
  }
  /// No trace of the work is left beside the folder.
  [[nodiscard]] bool tidy() const { return !fs::exists(out().string() + ".part"); }
  TemporaryFolder folder_;
};

TEST_F(TargetTest, WritesATreeWithItsPrograms) {
  EXPECT_EQ(put(tree("1")), "");
  EXPECT_EQ(read("a/b.txt"), "1");
  const auto run = fs::status(out() / "run").permissions();
  EXPECT_NE(run & fs::perms::others_exec, fs::perms::none);
  EXPECT_TRUE(tidy());
}

TEST_F(TargetTest, AnEmptyFolderIsTaken) {
  fs::create_directories(out());
  EXPECT_EQ(put(tree("1")), "");
}

TEST_F(TargetTest, AnEarlierReleaseIsReplacedAndItsGitKept) {
  EXPECT_EQ(put(tree("1")), "");
  folder_.write("out/.git/HEAD", "ref");
  folder_.write("out/build/x.o", "object");
  EXPECT_EQ(put(tree("2")), "");
  EXPECT_EQ(read("a/b.txt"), "2");
  EXPECT_EQ(read(".git/HEAD"), "ref");
  EXPECT_EQ(read("build/x.o"), "(none)");
  EXPECT_TRUE(tidy());
}

TEST_F(TargetTest, ANewRepositorysCloneIsTaken) {
  folder_.write("out/.git/HEAD", "ref");
  EXPECT_EQ(put(tree("1")), "");
  EXPECT_EQ(read("a/b.txt"), "1");
  EXPECT_EQ(read(".git/HEAD"), "ref");
  EXPECT_TRUE(tidy());
}

TEST_F(TargetTest, AFolderWithOtherThingsIsRefused) {
  folder_.write("out/thesis.tex", "years of work");
  EXPECT_THAT(put(tree("1")), HasSubstr("is not empty, and no earlier release"));
  EXPECT_EQ(read("thesis.tex"), "years of work");
}

TEST_F(TargetTest, AReleaseThatSomebodyWorkedOnIsRefused) {
  EXPECT_EQ(put(tree("1")), "");
  folder_.write("out/mine.txt", "m");
  EXPECT_THAT(put(tree("2")), HasSubstr("was changed since it was released: mine.txt"));
  fs::remove(out() / "mine.txt");
  folder_.write("out/a/b.txt", "better");
  EXPECT_THAT(put(tree("2")), HasSubstr("a/b.txt"));
  EXPECT_EQ(read("a/b.txt"), "better");
}

TEST_F(TargetTest, WhatAKilledCallLeftIsClearedAway) {
  folder_.write("out.part/.membound-release-part", "");
  folder_.write("out.part/a/half", "ha");
  EXPECT_EQ(put(tree("1")), "");
  EXPECT_TRUE(tidy());
}

TEST_F(TargetTest, AGitFolderThatWasOnItsWayComesBack) {
  EXPECT_EQ(put(tree("1")), "");
  // Killed between moving .git over and exchanging the folders.
  fs::copy(out(), out().string() + ".part", fs::copy_options::recursive);
  folder_.write("out.part/.git/HEAD", "ref");
  EXPECT_EQ(put(tree("2")), "");
  EXPECT_EQ(read(".git/HEAD"), "ref");
  EXPECT_TRUE(tidy());
}

TEST_F(TargetTest, AFolderOfThatNameThatIsNotOursIsLeftAlone) {
  folder_.write("out.part/letters", "dear");
  EXPECT_THAT(put(tree("1")), HasSubstr("was not made by membound release"));
  EXPECT_FALSE(fs::exists(out()));
}

// --- the archive -------------------------------------------------------------------------------

TEST(ZipOf, HoldsTheFilesWithTheirRightsInOrder) {
  Tree tree;
  tree["b/run"] = {"#!/bin/sh\n", true};
  tree["a.txt"] = {std::string(100'000, 'x')};
  const auto zip = zip_of(tree);
  ASSERT_TRUE(zip);
  archive* const in = archive_read_new();
  archive_read_support_format_zip(in);
  ASSERT_EQ(archive_read_open_memory(in, zip->data(), zip->size()), ARCHIVE_OK);
  std::vector<std::string> found;
  for (archive_entry* entry = nullptr; archive_read_next_header(in, &entry) == ARCHIVE_OK;)
    found.push_back(std::string(archive_entry_pathname(entry)) + " " +
                    std::to_string(archive_entry_size(entry)) + " " +
                    std::to_string(archive_entry_perm(entry) == 0755));
  archive_read_free(in);
  EXPECT_THAT(found, ElementsAre("a.txt 100000 0", "b/run 10 1"));
  EXPECT_LT(zip->size(), 2000U);
}

TEST(ZipOf, IsTheSameBytesEachTime) {
  Tree tree;
  tree["a"] = {"1"};
  const auto one = zip_of(tree);
  const auto two = zip_of(tree);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(*one, *two);
}

// --- the workflow ------------------------------------------------------------------------------

TEST(Workflow, IsYamlWithEveryActionPinnedToACommit) {
  const fs::path file = fs::path(MEMBOUND_SOURCE_DIR) / "grader" / "classroom" / "release" /
                        "templates" / "membound.yml";
  const YAML::Node workflow = YAML::LoadFile(file.string());
  EXPECT_EQ(workflow["permissions"]["contents"].as<std::string>(), "read");
  const YAML::Node job = workflow["jobs"]["check"];
  ASSERT_TRUE(job["runs-on"]);
  ASSERT_TRUE(job["timeout-minutes"]);
  static const std::regex kPinned("[a-z-]+/[a-z-]+@[0-9a-f]{40}");
  int actions = 0, commands = 0;
  for (const YAML::Node& step : job["steps"]) {
    if (step["uses"]) {
      ++actions;
      EXPECT_TRUE(std::regex_match(step["uses"].as<std::string>(), kPinned))
          << step["uses"].as<std::string>();
    } else {
      ++commands;
      EXPECT_FALSE(step["run"].as<std::string>().empty());
    }
  }
  EXPECT_EQ(actions, 3);
  EXPECT_GE(commands, 3);
}

}  // namespace
}  // namespace membound::release
