// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Oracles as authors write them, compiled and loaded: what follows from one, and what is said of
/// one that crashes, runs too far or contradicts itself.
#include <gmock/gmock.h>

#include <cstring>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/course/contract.hpp"
#include "grader/harness/cases/timed_case.hpp"

namespace membound::harness {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// The library that this source becomes.
std::filesystem::path compiled(const base::ScratchFolder& folder, const std::string& source) {
  const auto file = folder.path() / "oracle.cpp", library = folder.path() / "oracle.so";
  EXPECT_TRUE(base::write_file(file, "#include \"oracle.hpp\"\n" + source));
  const auto run =
      base::run_process({.arguments = {"c++", "-std=c++20", "-O1", "-fPIC", "-shared",
                                       "-I" MEMBOUND_SOURCE_DIR "/grader/harness/student",
                                       file.string(), "-o", library.string()},
                         .timeout_seconds = 60});
  EXPECT_TRUE(run);
  EXPECT_EQ(run->exit_code, 0) << run->output;
  return library;
}

std::shared_ptr<const LabOracle> oracle_of(const base::ScratchFolder& folder,
                                           const std::string& source) {
  auto oracle = LabOracle::load(compiled(folder, source));
  EXPECT_TRUE(oracle) << base::to_string(oracle.error());
  return *oracle;
}

constexpr const char* kSaxpy = R"cpp(
  static void saxpy(float* out, const float* x, const float* y, float a, int n) {
    for (int i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
  }
  MEMBOUND_ORACLE(saxpy, .scalars = {2.5}, .element_by_element = true, .relative = 1e-6);
)cpp";

TEST(LabOracle, ParametersTellTheSignatureAndTheArrays) {
  const base::ScratchFolder folder("oracle");
  const auto oracle = oracle_of(folder, kSaxpy);
  EXPECT_EQ(oracle->signature().parameters, "(float*, float const*, float const*, float, int)");
  EXPECT_EQ(oracle->size_count(), 1u);
  const std::int64_t sizes[] = {7};
  ASSERT_EQ(oracle->inputs(sizes).size(), 2u);
  EXPECT_EQ(oracle->inputs(sizes)[1].count, 7u);
  EXPECT_EQ(oracle->output(sizes).type, ElementType::kFloat);
  EXPECT_THAT(oracle->input_names(), ElementsAre("in1", "in2"));
  EXPECT_THAT(oracle->arguments(sizes, std::vector<void*>(2), nullptr).types(),
              ElementsAre("float*", "float const*", "float const*", "float", "int"));
}

TEST(LabOracle, TheFunctionGivesTheRightOutput) {
  const base::ScratchFolder folder("oracle");
  const auto oracle = oracle_of(folder, kSaxpy);
  const std::int64_t sizes[] = {3};
  const std::vector<HostArray> inputs = {bytes_of(std::vector<float>{1, 2, 3}),
                                         bytes_of(std::vector<float>{10, 20, 30})};
  EXPECT_THAT(values_of<float>(oracle->expected(sizes, inputs)), ElementsAre(12.5F, 25, 37.5F));
}

TEST(LabOracle, ATimedCaseCountsEachArrayOnceAndKnowsEveryPlace) {
  const base::ScratchFolder folder("oracle");
  const auto oracle = oracle_of(folder, kSaxpy);
  const std::int64_t sizes[] = {100};
  const std::string names[] = {"n"};
  const TimedCase timed = timed_case_of(oracle, sizes, names);
  EXPECT_EQ(timed.label, "n = 100");
  EXPECT_EQ(timed.useful_bytes, 1200);
  ASSERT_TRUE(timed.expected_by_place);
  const std::uint64_t seeds[] = {5, 6};
  const DrawnInputs drawn_inputs(timed.inputs, seeds);
  HostArray some;
  timed.expected_by_place(drawn_inputs, 40, 10, some);
  const std::vector<HostArray> whole = {drawn(timed.inputs[0], 5), drawn(timed.inputs[1], 6)};
  const HostArray all = timed.expected(whole);
  ASSERT_EQ(some.size(), 40u);
  EXPECT_EQ(std::memcmp(some.data(), all.data() + 160, 40), 0);
}

TEST(LabOracle, ArraysMayHaveLengthsOfTheirOwn) {
  const base::ScratchFolder folder("oracle");
  const auto oracle = oracle_of(folder, R"cpp(
    static void count(unsigned* bins, const unsigned* values, long long n) {
      for (long long i = 0; i < n; ++i) ++bins[values[i]];
    }
    MEMBOUND_ORACLE(
        count,
        .elements =
            [](const std::int64_t* size, std::int64_t* of) {
              of[0] = 16;
              of[1] = size[0];
            },
        .integers = {0, 15}, .output_starts_at_zero = true, .names = {"bins", "values"});
  )cpp");
  const std::int64_t sizes[] = {1000};
  EXPECT_EQ(oracle->signature().parameters, "(unsigned int*, unsigned int const*, long long)");
  EXPECT_EQ(oracle->output(sizes).count, 16u);
  EXPECT_EQ(oracle->output(sizes).initial, Initial::kZero);
  EXPECT_EQ(oracle->inputs(sizes)[0].integers->high, 15);
  EXPECT_EQ(oracle->output_name(), "bins");
  EXPECT_FALSE(timed_case_of(oracle, sizes, {}).can_be_sampled());
}

/// What is said where the oracle of this body is called for one element.
void expect_end(const std::string& body, const std::string& what) {
  const base::ScratchFolder folder("oracle");
  const auto oracle = oracle_of(folder,
                                "#include <stdexcept>\nstatic void f(int* out, const int* "
                                "in, int n) {\n" +
                                    body + "\n}\nMEMBOUND_ORACLE(f);\n");
  const std::int64_t sizes[] = {1};
  const std::vector<HostArray> inputs = {bytes_of(std::vector<int>{0})};
  EXPECT_EXIT(static_cast<void>(oracle->expected(sizes, inputs)),
              testing::ExitedWithCode(course::test_exit::kOurFault),
              "oracle.cpp:6: the oracle `f` " + what + " for the sizes 1");
}

TEST(LabOracleDeathTest, ACrashIsTheOraclesAndNamesItsLine) {
  expect_end("out[0] = *reinterpret_cast<const volatile int*>(8L + n - 1);",
             "touched memory that is not there");
  expect_end("volatile int zero = in[0]; out[0] = n / zero;", "divided by zero");
  expect_end("__builtin_abort();", "was aborted");
  expect_end("throw std::runtime_error(\"not yet\");", "threw an exception \\(not yet\\)");
  expect_end("for (int i = 0; i <= n; ++i) out[i] = in[0];", "wrote outside of its output");
}

TEST(LabOracleDeathTest, OneThatDoesNotEndIsEnded) {
  const base::ScratchFolder folder("oracle");
  const auto oracle = LabOracle::load(compiled(folder, R"cpp(
                                        static void f(int* out, const int* in, int n) {
                                          for (volatile int i = 0; i < n; i = 0) out[0] = in[0];
                                        }
                                        MEMBOUND_ORACLE(f);
                                      )cpp"),
                                      1);
  ASSERT_TRUE(oracle) << base::to_string(oracle.error());
  const std::int64_t sizes[] = {1};
  const std::vector<HostArray> inputs = {bytes_of(std::vector<int>{0})};
  EXPECT_EXIT(static_cast<void>((*oracle)->expected(sizes, inputs)),
              testing::ExitedWithCode(course::test_exit::kOurFault),
              "oracle.cpp:6: the oracle `f` does not come to an end for the sizes 1");
}

TEST(LabOracle, WhatIsNoOracleIsRefused) {
  const base::ScratchFolder folder("oracle");
  const auto refused = [&](const std::string& source) {
    const auto oracle = LabOracle::load(compiled(folder, source));
    return oracle ? "no error" : base::to_string(oracle.error());
  };
  EXPECT_THAT(refused("int x;\n"), HasSubstr("there is no MEMBOUND_ORACLE in it"));
  EXPECT_THAT(refused("static void f(int*, const int*) {}\nMEMBOUND_ORACLE(f);\n"),
              AllOf(HasSubstr("oracle.cpp:3"), HasSubstr("no parameter is a size")));
  EXPECT_THAT(base::to_string(LabOracle::load("/nowhere.so").error()),
              HasSubstr("cannot be loaded"));
}

TEST(SizesOfATest, AreThoseOfItsNameForAnyNumberOfSizes) {
  for (const course::OracleTestRow& row : course::kOracleTests)
    for (const std::size_t count : {1u, 2u, 3u})
      for (const auto& sizes : sizes_of_test(row.name, count, 1000))
        EXPECT_EQ(sizes.size(), count) << row.name;
  EXPECT_THAT(sizes_of_test("OneElement", 3, 0), ElementsAre(ElementsAre(1, 1, 1)));
  EXPECT_THAT(sizes_of_test("EmptyArrays", 1, 0), ElementsAre(ElementsAre(0)));
}

}  // namespace
}  // namespace membound::harness
