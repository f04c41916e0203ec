// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compilers' messages at the student's line and column, and the one cause before its consequences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "grader/device_code/compilers/compiler.hpp"
#include "grader/device_code/compilers/student_source.hpp"

namespace membound::compilers {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kInclude = "#include \"kernel.cuh\"\n";

TEST(CompilerMessages, ColumnIsThatOfTheSourceThoughNvccPrintsMacrosExpanded) {
  const auto told = explain_messages(
      "labs/k.cu(2): error: a __global__ function must have a void return type\n"
      "  __attribute__((global)) float f(float* out) {\n"
      "                                ^\n\n1 error detected in the compilation of \"k.cu\".\n",
      "k.cu", kInclude + "__global__ float f(float* out) {\n}\n");
  EXPECT_THAT(told.text, StartsWith("labs/k.cu:2:18: error: a __global__ function must"));
  EXPECT_THAT(told.text, HasSubstr("     2 | __global__ float f(float* out) {\n"
                                   "       |                  ^\n"));
  EXPECT_THAT(told.hint, HasSubstr("write __global__ void"));
}

TEST(CompilerMessages, MissingSemicolonIsAtTheEndOfItsOwnLine) {
  const auto told = explain_messages("k.cu(4): error: expected a \";\"\n  int b;\n  ^\n", "k.cu",
                                     kInclude + "  int a = 1  // one\n\n  int b;\n");
  EXPECT_THAT(told.text, StartsWith("k.cu:2:12: error: expected a \";\"\n"));
}

TEST(CompilerMessages, MissingBraceIsTheOnlyThingSaid) {
  const auto told = explain_messages(
      "k.cu(6): error: expected a \";\"\n  LAUNCH_SHAPE(f, int n) {\n  ^\n"
      "k.cu(7): error: expected a declaration\n  x\n  ^\n",
      "k.cu",
      kInclude + "__global__ void f() {\n  if (1) {\n    g();\n}\nLAUNCH_SHAPE(f, int n) {\n}\n");
  EXPECT_THAT(told.text, StartsWith("k.cu:3:10: error: this '{' is never closed\n"));
  EXPECT_THAT(told.text, Not(HasSubstr("expected")));
  EXPECT_THAT(told.hint, HasSubstr("before line 5"));
}

TEST(CompilerMessages, NamesTheWordThatIsMeantAndTheLineOfAHeaderIsTheStudents) {
  EXPECT_THAT(explain_messages("k.cu(3): error: identifier \"sun\" is undefined\n", "k.cu",
                               kInclude + "int sum;\nint x = sun;\n")
                  .hint,
              HasSubstr("Is `sum` meant?"));
  const auto told = explain_messages(
      "/usr/include/a.h:9:1: error: no type named 'x'\nk.cu:2:5: note: in instantiation of f\n",
      "k.cu", kInclude + "    f();\n");
  EXPECT_THAT(told.text, StartsWith("k.cu:2:5: error: no type named 'x' (in a.h)\n"));
}

TEST(CompilerMessages, AMistakenLaunchIsToldOfBothCompilers) {
  const auto hint = [](const std::string& text) {
    return explain_messages("k.cu:2:3: error: " + text + "\n", "k.cu", kInclude + "  f(a);\n").hint;
  };
  for (const char* text : {"a __global__ function call must be configured",
                           "call to global function 'f' not configured"})
    EXPECT_THAT(hint(text), HasSubstr("launched, not called")) << text;
  for (const char* text :
       {"a host function call cannot be configured", "kernel call to non-global function 'f'"})
    EXPECT_THAT(hint(text), HasSubstr("write __global__ void before the name")) << text;
  for (const char* text : {"expression must have integral or unscoped enum type", "expected '>>>'"})
    EXPECT_THAT(explain_messages("k.cu:2:3: error: " + std::string(text) + "\n", "k.cu",
                                 kInclude + "  f<<<1, 2>>(a);\n")
                    .hint,
                HasSubstr("three brackets on each side"))
        << text;
}

TEST(CompilerMessages, AMaximumOfAListIsToldOfBothCompilersWithoutContradiction) {
  for (const char* text : {"no matching function for call to 'max'",
                           "no instance of overloaded function \"std::max\" matches the argument "
                           "list"}) {
    const auto told =
        explain_messages("k.cu:3:3: error: " + std::string(text) + "\n", "k.cu",
                         kInclude + "__global__ void f() {\n  std::max({1, 2});\n}\n");
    EXPECT_THAT(told.hint, StartsWith("In a kernel std::max takes two values")) << text;
  }
}

TEST(CompilerMessages, ABarrierHasTheNameThatTheStudentWrote) {
  EXPECT_THAT(
      explain_messages("k.cu:2:3: error: no matching function for call to 'membound_syncthreads'\n",
                       "k.cu", kInclude + "  __syncthreads();\n")
          .text,
      HasSubstr("call to '__syncthreads'\n"));
}

TEST(CompilerMessages, WhatIsNoMessageStaysAsItIs) {
  EXPECT_EQ(explain_messages("nvcc fatal: no such option\n", "k.cu", kInclude).text,
            "nvcc fatal: no such option\n");
}

TEST(StudentSource, FindsALostBraceByTheIndentationAndNoneWhereAllAreClosed) {
  const auto lost = [](const std::string& text) { return StudentSource(text).lost_brace(); };
  EXPECT_FALSE(lost("void f() {\n  if (1) {\n  }\n}\n"));
  EXPECT_FALSE(lost("void f() { /* { */ }  // }\nconst char* a = \"{\";\n"));
  const auto extra = lost("void f() {\n  g();\n  }\n}\n");
  ASSERT_TRUE(extra);
  EXPECT_FALSE(extra->never_closed);
  EXPECT_EQ(extra->line, 3);
}

TEST(StudentSource, AMacroIsNoLoopOfWhatComesAfterIt) {
  const StudentSource source(
      "#define CHECK(call) \\\n  do {              \\\n    if (call) stop(); \\\n  } while "
      "(false)\n"
      "int main() {\n  CHECK(1);\n}\n");
  EXPECT_TRUE(source.branches().empty());
  EXPECT_TRUE(source.around(6).empty());
  ASSERT_EQ(source.functions().size(), 1U);
  EXPECT_EQ(source.functions()[0].name, "main");
}

TEST(StudentSource, AWhileAfterADoGovernsWhatStandsBeforeIt) {
  const StudentSource source(
      "void f() {\n  do {\n    if (a)\n      b();\n  } while (c);\n  d();\n}\n");
  const auto around = source.around(4);
  ASSERT_EQ(around.size(), 2U);
  EXPECT_EQ(around[0]->condition, "a");
  EXPECT_EQ(around[1]->condition, "c");
  EXPECT_FALSE(around[1]->is_empty);
  EXPECT_TRUE(source.around(6).empty());
}

TEST(StudentSource, KnowsWhatGuardsALine) {
  const StudentSource source(
      "__global__ void f(int n) {\n  if (i >= n) return;\n  for (int k = 0; k < 4; ++k)\n"
      "    if (k < n) {\n      a[k] = 0;\n    }\n  if (i < n);\n  b[i] = 0;\n}\n");
  const auto around = source.around(5);
  ASSERT_EQ(around.size(), 2U);
  EXPECT_EQ(around[0]->condition, "k < n");
  EXPECT_EQ(around[1]->keyword, "for");
  EXPECT_TRUE(source.around(8).empty());
  EXPECT_TRUE(source.branches().back().is_empty);
  EXPECT_TRUE(source.branches().front().returns);
  ASSERT_NE(source.function_at(5), nullptr);
  EXPECT_TRUE(source.function_at(5)->is_kernel);
}

}  // namespace
}  // namespace membound::compilers
