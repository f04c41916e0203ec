// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "grader/tests/cli/fake_course.hpp"

namespace membound::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// One experiment of two points, and a program that times them.
class ExperimentCommand : public testing::Test {
 protected:
  ExperimentCommand() {
    course_.write("handouts/01-fake/experiments.json",
                  R"([{"name": "strides", "title": "A copy", "section": "Strides",
                       "file": "strides.cu", "kernel": "strides", "axis": "words apart",
                       "unit": "GB/s", "sizes": {"gpu": 512, "vgpu": 512, "multiple_of": 256},
                       "amount": {"each": 8, "power": 1},
                       "document": {"unit": "GB/s", "source": "a book"},
                       "points": [{"x": 1, "printed": 2}, {"x": 2, "printed": 1}]}])");
    course_.write("handouts/01-fake/strides.cu", "\n");
    timer(R"(echo 256; echo 512)");
  }
  void timer(const std::string& points) {
    const std::string script = R"sh(
while [ $# -gt 0 ]; do
  case $1 in --result) result=$2;; --size) n=$2;; esac
  shift
done
[ "$n" = 0 ] && n=512
exec > "$result"
echo "{\"device\":\"a fake device\",\"predicted\":true,\"size\":$n}"
)sh" + points + "\n";
    const auto file = course_.build() / "libexec/membound_experiment";
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  base::ProcessOutcome run(std::vector<std::string> words) {
    words.insert(words.begin(), "experiment");
    words.insert(words.end(), {"--device", "vgpu"});
    return course_.run(words);
  }
  FakeCourse course_;
};

TEST_F(ExperimentCommand, ListsThemWithoutAName) {
  const auto outcome = run({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("strides"), HasSubstr("A copy"), HasSubstr("01-fake"),
                                    HasSubstr("membound experiment NAME")));
}

TEST_F(ExperimentCommand, SaysWhereTheyComeFromWhereThereAreNone) {
  std::filesystem::remove(course_.root() / "handouts/01-fake/experiments.json");
  EXPECT_THAT(run({}).output, HasSubstr("no experiments: they come with the handouts"));
  const auto named = run({"strides"});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.output, HasSubstr("this course has none"));
}

TEST_F(ExperimentCommand, PrintsTheTableAndWritesThePage) {
  const auto outcome = run({"strides", "--html", "page.html"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("n = 512, predicted"), HasSubstr("16.0"), HasSubstr("8.00"),
                    HasSubstr("printed: a book"), HasSubstr("the page is page.html")));
  EXPECT_LE(widest_line(outcome.output), 80u);
  EXPECT_THAT(course_.read(course_.root().parent_path() / "page.html"), HasSubstr("<svg"));
}

TEST_F(ExperimentCommand, TheJsonIsTheTable) {
  const auto outcome = run({"strides", "--json", "--size", "256"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("size"), 256);
  EXPECT_EQ(json.at("rows")[1].at("rate"), 8 * 256 / 512.0);
}

TEST_F(ExperimentCommand, SaysWhatIsWrongBeforeItRunsAnything) {
  const auto name = run({"stride"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_THAT(name.output, HasSubstr("membound experiment strides"));
  const auto size = run({"strides", "--size", "100"});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_THAT(size.output, AllOf(HasSubstr("--size: 100"), HasSubstr("a multiple of 256"),
                                 HasSubstr("try: --size 512")));
  for (const char* no_size : {"-1", "0", "1e3", "99999999999999999999"}) {
    const auto outcome = run({"strides", "--size", no_size});
    EXPECT_EQ(outcome.exit_code, 2) << no_size;
    EXPECT_THAT(outcome.output, HasSubstr("--size"));
  }
  const auto device = run({"strides", "--device", "vgpu:h20"});
  EXPECT_EQ(device.exit_code, 2);
}

TEST_F(ExperimentCommand, TellsAtWhichPointAKernelEnded) {
  timer("echo 256; echo 'an illegal address' >&2; exit 2");
  const auto outcome = run({"strides"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("strides: no time for \"2\""),
                                    HasSubstr("an illegal address"), Not(HasSubstr("16.0"))));
}

TEST_F(ExperimentCommand, ShowsWhatWasTimedWhenItIsStopped) {
  // The program that times has the process that started it for a parent.
  timer("echo 256; kill -INT $PPID; sleep 30");
  const auto outcome = run({"strides"});
  EXPECT_EQ(outcome.exit_code, 130) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("16.0"), Not(HasSubstr("8.00"))));
}

}  // namespace
}  // namespace membound::cli
