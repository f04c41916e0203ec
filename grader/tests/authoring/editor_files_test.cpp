// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/written_parts.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/report/diagnostics.hpp"

namespace membound::authoring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kRoot = MEMBOUND_SOURCE_DIR;

course::Course whole_course() {
  auto course = course::read_course(kRoot);
  EXPECT_TRUE(course);
  return *std::move(course);
}

TEST(EditorFiles, FlagsAboutTheMadeCodeAreLeftOut) {
  EXPECT_THAT(reading_flags("-x cuda\n-O3 -S -gline-directives-only\n-mllvm -unroll-threshold=9\n"
                            "-Xclang -target-feature -Xclang +ptx72\n-std=c++20\n"),
              ElementsAre("-x", "cuda", "-std=c++20"));
}

TEST(EditorFiles, PackagesAreTheFirstWordsOfTheList) {
  EXPECT_THAT(
      listed_packages("a\n  done <<'LIST'\ng++ /usr/bin/g++ all compiles\ngit /g staff restores\n"
                      "doxygen /d ci reads\ng++ /g nvcc reads\nLIST\nother /x y\n"),
      ElementsAre("g++", "git"));
}

TEST(EditorFiles, AreTheTrees) {
  const auto files = editor_files(kRoot, whole_course());
  ASSERT_TRUE(files);
  for (const WrittenFile& file : *files)
    EXPECT_THAT(check_written_file(file, kRoot, false), IsEmpty()) << file.name;
}

TEST(EditorFiles, DoNotSpeakOfLabsOfOtherFolders) {
  course::Course course = whole_course();
  const auto own = editor_files(kRoot, course);
  course::Lab other = *std::ranges::find(course.labs, "12-streams", &course::Lab::id);
  other.id = "90-elsewhere";
  other.tree = "/elsewhere";
  course.labs.push_back(other);
  const auto both = editor_files(kRoot, course);
  ASSERT_TRUE(own && both);
  for (std::size_t i = 0; i < own->size(); ++i) EXPECT_EQ((*both)[i].text, (*own)[i].text);
}

TEST(EditorFiles, TheContainerHasThePackagesThatTheLauncherAsksFor) {
  const auto docker = base::read_file(kRoot / ".devcontainer/Dockerfile");
  const auto needs = base::read_file(kRoot / "grader/launcher/needs.sh");
  ASSERT_TRUE(docker && needs);
  const auto packages = listed_packages(*needs);
  EXPECT_GT(packages.size(), 10u);
  for (const std::string& package : packages) EXPECT_THAT(*docker, HasSubstr(" " + package + " "));
}

TEST(EditorFiles, TheTasksFindPlacesInWhatACheckPrints) {
  const auto text = base::read_file(kRoot / ".vscode/tasks.json");
  ASSERT_TRUE(text);
  const auto matcher = nlohmann::json::parse(*text)["tasks"][0]["problemMatcher"]["pattern"];
  const std::regex pattern(matcher["regexp"].get<std::string>());
  for (const std::string& line :
       {report::with_places("labs/03-transpose/kernel.cu(25): error: expected a \";\""),
        "  - " + report::diagnostic_head("labs/03-transpose/kernel.cu", 25, "error") +
            "data race"}) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, pattern)) << line;
    EXPECT_EQ(match[matcher["file"].get<std::size_t>()], "labs/03-transpose/kernel.cu");
    EXPECT_EQ(match[matcher["line"].get<std::size_t>()], "25");
    EXPECT_EQ(match[matcher["column"].get<std::size_t>()], "1");
    EXPECT_EQ(match[matcher["severity"].get<std::size_t>()], "error");
  }
}

TEST(EditorFiles, ClangdReadsEveryLabsKernelWithoutAToolkit) {
  const auto version = base::run_process({.arguments = {"clangd", "--version"}});
  if (!version || version->exit_code != 0) GTEST_SKIP() << "there is no clangd here";
  for (const course::Lab& lab : whole_course().labs) {
    const auto outcome = base::run_process(
        {.arguments = {"clangd", "--check=labs/" + lab.id + "/kernel.cu", "--log=info"},
         .folder = kRoot,
         .timeout_seconds = 60});
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome->output, HasSubstr("All checks completed, 0 errors")) << lab.id;
  }
}

// clangd keeps silent about mistakes in headers: that a wrong call is told shows that ours was
// read.
TEST(EditorFiles, ClangdKnowsTheCallsOfAWholeProgramAndTellsAWrongOne) {
  const auto version = base::run_process({.arguments = {"clangd", "--version"}});
  if (!version || version->exit_code != 0) GTEST_SKIP() << "there is no clangd here";
  const base::ScratchFolder tree("membound-editor");
  const std::filesystem::path lab = tree.path() / "labs/12-streams";
  std::filesystem::create_directories(lab);
  std::filesystem::create_symlink(kRoot / "grader", tree.path() / "grader");
  std::filesystem::copy(kRoot / ".clangd", tree.path());
  std::filesystem::copy(kRoot / "labs/12-streams/kernel.cuh", lab);
  const auto answer = base::read_file(kRoot / "solutions/12-streams/kernel.cu");
  ASSERT_TRUE(answer);
  ASSERT_TRUE(base::write_file(
      lab / "kernel.cu", *answer +
                             "void more(float* p) { cudaMalloc(&p, 4); cudaGraphUpload(0, 0); }\n"
                             "void wrong(float* p) { cudaMalloc(&p); }\n"));
  const auto outcome =
      base::run_process({.arguments = {"clangd", "--check=" + (lab / "kernel.cu").string()},
                         .folder = tree.path(),
                         .timeout_seconds = 60});
  ASSERT_TRUE(outcome);
  static const std::regex kTold(R"(\] Line \d+: (.*))");
  std::vector<std::string> told;
  for (std::sregex_iterator it(outcome->output.begin(), outcome->output.end(), kTold), end;
       it != end; ++it)
    told.push_back((*it)[1]);
  EXPECT_THAT(told, ElementsAre("no matching function for call to 'cudaMalloc'"));
}

}  // namespace
}  // namespace membound::authoring
