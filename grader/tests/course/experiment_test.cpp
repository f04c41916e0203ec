// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/experiment.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "grader/base/files.hpp"

namespace membound::course {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kStrides = R"json([
  {
    "name": "strides", "title": "A copy", "section": "Strides",
    "file": "strides.cu", "kernel": "strides", "axis": "words apart", "unit": "GB/s",
    "sizes": {"gpu": 1024, "vgpu": 512, "multiple_of": 256, "power_of_two": true},
    "amount": {"each": 8, "power": 1},
    "document": {"unit": "GB/s", "source": "a book"},
    "points": [{"x": 1, "label": "in order", "printed": 255.9}, {"x": 2, "spread": 2}]
  }
])json";

class Experiments : public testing::Test {
 protected:
  base::Result<std::vector<Experiment>> read(const std::string& text) {
    fs::create_directories(root_ / "handouts/02-fake");
    EXPECT_TRUE(base::write_file(root_ / "handouts/02-fake/experiments.json", text));
    return read_experiments(root_);
  }
  std::string error_with(const std::string& old_text, const std::string& new_text) {
    std::string text = kStrides;
    const auto at = text.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    const auto all = read(text.replace(at, old_text.size(), new_text));
    return all ? "no error" : base::to_string(all.error());
  }

  const base::ScratchFolder scratch_{"experiments-test"};
  const fs::path& root_ = scratch_.path();
};

TEST_F(Experiments, ACourseWithoutThemHasNone) {
  const auto all = read_experiments(root_);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->empty());
}

TEST_F(Experiments, HoldWhatTheFileSays) {
  const auto all = read(kStrides);
  ASSERT_TRUE(all) << base::to_string(all.error());
  ASSERT_EQ(all->size(), 1u);
  const Experiment& one = all->front();
  EXPECT_EQ(one.lab, "02-fake");
  EXPECT_EQ(one.file, root_ / "handouts/02-fake/strides.cu");
  EXPECT_EQ(one.points[0].label, "in order");
  EXPECT_EQ(one.points[0].printed, 255.9);
  EXPECT_EQ(one.points[1].label, "2") << "x, where there is no label";
  EXPECT_FALSE(one.points[1].printed);
  EXPECT_EQ(one.array_bytes(512, one.points[1]), 4 * 512 * 2);
  EXPECT_EQ(one.amount(512), 8 * 512);
}

TEST_F(Experiments, MayBeAProgram) {
  const auto all = read(R"json([{"name": "queues", "title": "Queues", "section": "Experiment",
    "file": "experiment.cu",
    "arguments": {"gpu": "67108864 2000", "vgpu": "1024", "vgpu_multiprocessors": 8}}])json");
  ASSERT_TRUE(all) << base::to_string(all.error());
  const auto& program = all->front().program;
  ASSERT_TRUE(program);
  EXPECT_THAT(program->gpu, testing::ElementsAre("67108864", "2000"));
  EXPECT_THAT(program->vgpu, testing::ElementsAre("1024"));
  EXPECT_EQ(program->vgpu_multiprocessors, 8);
  EXPECT_FALSE(read(kStrides)->front().program);
  EXPECT_THAT(error_with("\"axis\"", "\"arguments\": {}, \"axis\""),
              HasSubstr("one of name, title, section, file, arguments"))
      << "a kernel's row or a program's, no mixture";
}

TEST_F(Experiments, KnowWhichSizesTheKernelTakes) {
  const auto all = read(kStrides);
  ASSERT_TRUE(all);
  const Experiment& one = all->front();
  EXPECT_TRUE(one.takes_size(256));
  EXPECT_TRUE(one.takes_size(std::int64_t{1} << 30));
  EXPECT_FALSE(one.takes_size(100));
  EXPECT_FALSE(one.takes_size(768)) << "a multiple, but no power of two";
  EXPECT_FALSE(one.takes_size(0));
  EXPECT_FALSE(one.takes_size(-256));
  EXPECT_FALSE(one.takes_size(std::int64_t{1} << 31)) << "kernels take n as an int";
  EXPECT_EQ(one.size_rule(), "a multiple of 256 and a power of two, at most 2147483647");
}

TEST_F(Experiments, BadInputIsToldWithItsLine) {
  EXPECT_THAT(error_with("\"axis\"", "\"axes\""),
              AllOf(HasSubstr("experiments.json:4"), HasSubstr("axis")));
  EXPECT_THAT(error_with("\"GB/s\",\n    \"sizes\"", "\"GB\",\n    \"sizes\""),
              AllOf(HasSubstr("experiments.json:4"), HasSubstr("GB/s or Gops/s")));
  EXPECT_THAT(error_with("512", "768"), AllOf(HasSubstr("experiments.json:5"), HasSubstr("768"),
                                              HasSubstr("a multiple of 256 and a power of two")));
  EXPECT_THAT(error_with("\"power\": 1", "\"power\": 4"), HasSubstr("experiments.json:6"));
  EXPECT_THAT(error_with("\"spread\": 2", "\"spread\": 0"), HasSubstr("experiments.json:8"));
  EXPECT_THAT(error_with(", {\"x\": 2, \"spread\": 2}", ""), HasSubstr("at least 2"));
  EXPECT_THAT(error_with("    \"document\": {\"unit\": \"GB/s\", \"source\": \"a book\"},\n", ""),
              AllOf(HasSubstr("printed"), HasSubstr("document")));
  EXPECT_THAT(error_with("}\n]", "}"), HasSubstr("experiments.json")) << "cut off";
}

TEST_F(Experiments, NoTwoHaveOneName) {
  const std::string one = std::string(kStrides).substr(1, std::string(kStrides).rfind(']') - 1);
  const auto all = read("[" + one + "," + one + "]");
  ASSERT_FALSE(all);
  EXPECT_THAT(base::to_string(all.error()), HasSubstr("a name that no experiment of 02-fake has"));
}

TEST_F(Experiments, AWrongNameIsToldWithTheNearest) {
  const auto all = read(kStrides);
  ASSERT_TRUE(all);
  EXPECT_TRUE(find_experiment(*all, "strides"));
  const auto meant = find_experiment(*all, "stride");
  ASSERT_FALSE(meant);
  EXPECT_THAT(base::to_string(meant.error()),
              AllOf(HasSubstr("one of strides"), HasSubstr("membound experiment strides")));
}

}  // namespace
}  // namespace membound::course
