// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/lexer.hpp"

#include <gmock/gmock.h>

#include "grader/tests/device_code/ptx/ptx_testing.hpp"

namespace membound::ptx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Diagnostics, ShowTheLineWithACaretUnderTheColumn) {
  EXPECT_EQ(error_of(kernel_text("  mov.u32 %r1, 3;")),
            "test.ptx:6:11: the PTX has an error\n"
            "test.ptx:6:11: '%r1' is not declared; expected a register of an enclosing .reg, or a "
            "special register of PTX\n"
            "    mov.u32 %r1, 3;\n"
            "            ^\n"
            "  expected: a register of an enclosing .reg, or a special register of PTX\n"
            "  try: declare it with .reg in this function");
}

TEST(Diagnostics, AllErrorsOfABodyAreReportedAtOnce) {
  const Parsed result = parse_collecting(
      kernel_text("add.u32 %a, 1, 2;\nret;\nbra nowhere;\nmov.u32 [, 1;\nret;"), "test.ptx");
  EXPECT_THAT(result.diagnostics, SizeIs(3));
  EXPECT_EQ(result.module.functions.front().instructions.size(), 3u) << "ret, bra and ret";
}

TEST(Diagnostics, AnErrorInOneFunctionDoesNotHideTheNext) {
  const Parsed result = parse_collecting(
      std::string(kHead) +
          ".entry a( { ret; }\n.entry b() { ret; }\n.global .u32 = 5;\n.entry c() { ret; }",
      "test.ptx");
  EXPECT_THAT(result.diagnostics, SizeIs(2));
  EXPECT_NE(result.module.find_function("b"), nullptr);
  EXPECT_NE(result.module.find_function("c"), nullptr);
}

TEST(Diagnostics, StopAtALimit) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "mov.u32 %x, 1;\n";
  EXPECT_THAT(parse_collecting(kernel_text(body), "t").diagnostics, SizeIs(kMaxDiagnostics));
}

TEST(Diagnostics, LongLinesAreCutAroundTheCaret) {
  std::string line = "mov.u32 ";
  line += std::string(500, ' ') + "%missing, 1;";
  const std::string message = error_of(kernel_text(line));
  EXPECT_THAT(message, HasSubstr("%missing, 1;"));
  EXPECT_LT(message.size(), 700u);
}

TEST(Diagnostics, ControlCharactersNeverReachTheTerminal) {
  EXPECT_EQ(error_of(kernel_text("mov \x1b[2J;")).find('\x1b'), std::string::npos);
}

struct BadText {
  const char* declarations;
  const char* message;
};

class BadModules : public ::testing::TestWithParam<BadText> {};

TEST_P(BadModules, AreExplained) {
  EXPECT_THAT(error_of(std::string(kHead) + GetParam().declarations),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    EachRule, BadModules,
    ::testing::Values(
        BadText{".entry k() { ret;", "the text ends inside the body of 'k'"},
        BadText{".entry k() { a: a: ret; }", "'a' is declared a second time"},
        BadText{".global .u32 a; .global .u32 a;", "'a' is declared a second time"},
        BadText{".entry k() {} .entry k() {}", "'k' is declared a second time"},
        BadText{".entry k() { .reg .b32 %r<2>; .reg .b32 %r<3>; }", "declared a second time"},
        BadText{".entry k() { @a ret; }", "'a' is not declared"},
        BadText{".entry k() { .shared .b32 s; @s ret; }", "expected a register of type .pred"},
        BadText{".entry k() { .nonsense 3; }", "directive '.nonsense'"},
        BadText{".nonsense 3;", "directive '.nonsense'"},
        BadText{".entry k() .nonsense 3 { }", "directive '.nonsense'"},
        BadText{".global .u32 a[2] = {1, 2, 3};", "more initial values than 'a' has elements"},
        BadText{".global .u64 a = missing;", "'missing' is not declared"},
        BadText{".global .b16 a[1] = {0f00000000};", "cannot initialise a value of type .b16"},
        BadText{".global .u32 a = 1 / 0;", "division by zero"},
        BadText{".global .align 3 .u32 a;", "a power of two"},
        BadText{".global .u32 a[9999999999999];", "is too large"},
        BadText{".global .u32 a[1000000][1000000];", "is too large"},
        BadText{".global .b8 x; .global .b8 a[1] = {0xF0(x)};", "picks no single byte"},
        BadText{".entry k() { .reg .b32 %r<99999999>; }", "number of registers is too large"},
        BadText{".global a;", "expected a type before the name"},
        BadText{".entry k(.global .u32 a) {}", "expected a parameter in .param or .reg"},
        BadText{".file 1 name", "expected the name of a file"},
        BadText{".entry k() { .loc 1 2; }", "expected a file, line or column number"},
        BadText{".alias a, b;", "'b' is not declared"},
        BadText{"entry k() {}", "expected a directive"},
        BadText{".entry k() { mov.u32 09; }", "expected an operand"}));

TEST(Diagnostics, AnUnfinishedListOfTargetsLeavesNothingToResolve) {
  EXPECT_THAT(error_of(kernel_text("t: .branchtargets a, 3;\na: ret;")), HasSubstr("a label"));
}

TEST(Diagnostics, ATextThatIsNoPtxSaysHowToMakeSome) {
  EXPECT_THAT(error_of("int main() {}"),
              AllOf(HasSubstr("does not begin as PTX"), HasSubstr("nvcc -ptx")));
  EXPECT_THAT(error_of(""), HasSubstr("does not begin as PTX"));
}

TEST(Diagnostics, DeepNestingIsAnErrorAndNoCrash) {
  const std::string deep(100000, '{');
  EXPECT_THAT(error_of(kernel_text(deep)), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(kernel_text("mov " + deep)), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(kernel_text("mov " + std::string(100000, '('))), HasSubstr("too deeply"));
  EXPECT_THAT(error_of(kernel_text("mov " + std::string(100000, '-'))), HasSubstr("too deeply"));
}

TEST(Diagnostics, WithCaretStandsAnyPosition) {
  EXPECT_EQ(with_caret("one\ntwo", "f", {2, 2}, "m"), "f:2:2: m\n  two\n   ^");
  EXPECT_EQ(with_caret("one", "f", {7, 1}, "m"), "f:7:1: m");
  EXPECT_EQ(with_caret("one", "f", {1, 99}, "m"), "f:1:99: m");
  EXPECT_EQ(with_caret("", "f", {0, 0}, "m"), "f:0:0: m");
}

}  // namespace
}  // namespace membound::ptx
