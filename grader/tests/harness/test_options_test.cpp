// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/session.hpp"

#include <gmock/gmock.h>

namespace membound::harness {
namespace {

TEST(Options, ASizeIsNumbersWithAnXBetween) {
  EXPECT_THAT(*parse_size("2048x1024x4"), testing::ElementsAre(2048, 1024, 4));
  EXPECT_THAT(*parse_size("0"), testing::ElementsAre(0));
}

TEST(Options, ABrokenSizeIsAUsageError) {
  for (const char* text : {"x", "12x", "12y13", "-1", "1e6", "99999999999999999999"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().kind, base::ErrorKind::kUsage);
    EXPECT_THAT(size.error().found, testing::HasSubstr(text));
  }
}

TEST(Options, StagesStartAtOne) {
  EXPECT_THAT(*parse_stages("1,3"), testing::ElementsAre(1, 3));
  EXPECT_FALSE(parse_stages("0"));
}

TEST(Options, WithoutALabTheUsageIsPrintedAndTheExitCodeIsTwo) {
  const char* argv[] = {"test"};
  const ParsedOptions parsed = parse_options(1, argv);
  EXPECT_FALSE(parsed.options);
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_THAT(parsed.text, testing::HasSubstr("--lab"));
}

TEST(Options, AFullCommandLineIsUnderstood) {
  // Any existing file will do; argv[0]'s own is always there.
  const std::string file = "/proc/self/exe";
  const char* argv[] = {"test",
                        "--lab",
                        file.c_str(),
                        "--submission",
                        file.c_str(),
                        "--reference",
                        file.c_str(),
                        "--harness-kernels",
                        file.c_str(),
                        "--stages",
                        "2,4",
                        "--seed",
                        "77",
                        "--quick",
                        "--size",
                        "33x65",
                        "--launch-seconds",
                        "2.5"};
  const ParsedOptions parsed = parse_options(static_cast<int>(std::size(argv)), argv);
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->seed, 77U);
  EXPECT_TRUE(parsed.options->quick);
  EXPECT_EQ(parsed.options->launch_seconds, 2.5);
  EXPECT_THAT(parsed.options->stages, testing::ElementsAre(2, 4));
  EXPECT_THAT(parsed.options->size, testing::ElementsAre(33, 65));
}

}  // namespace
}  // namespace membound::harness
