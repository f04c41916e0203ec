// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// kernel_constants.hpp of a contract, as the judge makes it and as the build does: the same text,
/// for every lab and for contracts that nobody has written yet.
#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/judge/workplace.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = MEMBOUND_SOURCE_DIR;

std::string header(const std::string& constants) {
  return "#pragma once\nnamespace membound::kernel_constants {" + constants + "\n}\n";
}

/// A contract and what is taken of it.
struct Contract {
  const char* name;
  std::string text, constants;
};

std::string long_table() {
  std::string table = "\ninline constexpr int kTable[] = {";
  for (int i = 0; i < 50'000; ++i) table += "1, ";
  return table + "};";
}

// "#pragma once" is the first line of each.
const Contract kContracts[] = {
    {"none", "\nvoid run();\n", ""},
    {"one_line", "\ninline constexpr int kThreads = 256;  ///< of a block\n",
     "\ninline constexpr int kThreads = 256;"},
    {"several_lines", "\ninline constexpr int kPrimes[] = {\n  2, 3,\n};\n",
     "\ninline constexpr int kPrimes[] = {\n  2, 3,\n};"},
    {"of_another", "\ninline constexpr int a = 1;\ninline constexpr int b = 2 * a;\n",
     "\ninline constexpr int a = 1;\ninline constexpr int b = 2 * a;"},
    {"no_inline", "\nconstexpr int kOther = 1;\nstatic constexpr int kThird = 1;\n", ""},
    {"indented", "\nnamespace x {\n  inline constexpr int kInner = 1;\n}\n", ""},
    {"in_a_comment", "\n// inline constexpr int kOld = 1;\n", ""},
    {"function", "\ninline constexpr int twice(int a = 1) { return 2 * a; }\n", ""},
    {"function_then_constant",
     "\ninline constexpr int f()\n{ return 1; }\ninline constexpr int k = 2;\n",
     "\ninline constexpr int k = 2;"},
    {"of_a_call", "\ninline constexpr int kTile = f(g(1), 2);\n",
     "\ninline constexpr int kTile = f(g(1), 2);"},
    {"braces_without_a_sign", "\ninline constexpr int kSeven{7};\n", ""},
    {"automatic", "\ninline constexpr auto kMask = 0xffff'ffffuLL;\n",
     "\ninline constexpr auto kMask = 0xffff'ffffuLL;"},
    {"hex_float", "\ninline constexpr double kHalf = 0x1.8p-1;\n",
     "\ninline constexpr double kHalf = 0x1.8p-1;"},
    {"template", "\ninline constexpr std::array<int, 2> kPair = {1, 2};\n",
     "\ninline constexpr std::array<int, 2> kPair = {1, 2};"},
    {"comment_in_the_value", "\ninline constexpr int kA = 1 /* ${ENV} @made@ */ + 2;\n",
     "\ninline constexpr int kA = 1 /* ${ENV} @made@ */ + 2;"},
    {"semicolon_in_the_value", "\ninline constexpr char kEnd = ';';\n",
     "\ninline constexpr char kEnd = ';"},
    {"open_bracket", "\ninline constexpr char a = '[';\ninline constexpr char b = ']';\n",
     "\ninline constexpr char a = '[';\ninline constexpr char b = ']';"},
    {"backslashes", "\ninline constexpr char a = '\\\\';\ninline constexpr char b = '\\n';\n",
     "\ninline constexpr char a = '\\\\';\ninline constexpr char b = '\\n';"},
    {"quotes", "\ninline constexpr char kText[] = \"a\\\"b \xC2\xB5\";\n",
     "\ninline constexpr char kText[] = \"a\\\"b \xC2\xB5\";"},
    {"ends_of_lines_of_windows",
     "\r\ninline constexpr int a = 1;\r\ninline constexpr int b =\r\n 2;",
     "\ninline constexpr int a = 1;\ninline constexpr int b =\n 2;"},
    {"the_same_twice",
     "\n#if X\ninline constexpr int k = 1;\n#else\ninline constexpr int k = 1;\n#endif",
     "\ninline constexpr int k = 1;\ninline constexpr int k = 1;"},
    {"without_an_end", "\ninline constexpr int a = 1;\ninline constexpr int b = 2\n",
     "\ninline constexpr int a = 1;"},
    {"a_list_of_cmake", "\ninline constexpr int a = 1;;\n;\ninline constexpr int b = 2;\n",
     "\ninline constexpr int a = 1;\ninline constexpr int b = 2;"},
    {"a_long_table", long_table() + "\n", long_table()},
};

TEST(KernelConstants, AreThoseOfTheBeginningsOfLinesWithASign) {
  for (const Contract& contract : kContracts)
    EXPECT_EQ(kernel_constants("#pragma once" + contract.text), header(contract.constants))
        << contract.name;
}

TEST(KernelConstants, AreThoseThatTheBuildTakes) {
  TemporaryFolder folder;
  std::string script = "cmake_minimum_required(VERSION 3.25)\ninclude(\"" +
                       (kSource / "grader/cmake/KernelConstants.cmake").string() + "\")\n";
  for (const Contract& contract : kContracts) {
    const fs::path text = folder.path() / (std::string(contract.name) + ".cuh");
    ASSERT_TRUE(base::write_file(text, "#pragma once" + contract.text));
    script += "write_kernel_constants(\"" + text.string() + "\" \"" + text.string() + ".hpp\")\n";
  }
  ASSERT_TRUE(base::write_file(folder.path() / "all.cmake", script));
  const auto ran =
      base::run_process({.arguments = {"cmake", "-P", (folder.path() / "all.cmake").string()},
                         .timeout_seconds = 60});
  ASSERT_TRUE(ran && ran->exit_code == 0) << (ran ? ran->output : "no cmake");
  for (const Contract& contract : kContracts) {
    const auto made = base::read_file(folder.path() / (std::string(contract.name) + ".cuh.hpp"));
    ASSERT_TRUE(made) << contract.name;
    EXPECT_EQ(*made, header(contract.constants)) << contract.name;
  }
}

TEST(KernelConstants, OfEveryLabAreThoseThatTheBuildGaveToTestPrograms) {
  int labs = 0;
  for (const auto& lab : fs::directory_iterator(kSource / "labs")) {
    const auto contract = base::read_file(lab.path() / "kernel.cuh");
    if (!contract) continue;
    const auto built = base::read_file(fs::path(MEMBOUND_BUILD_DIR) / "constants" / "labs" /
                                       lab.path().filename() / "kernel_constants.hpp");
    ASSERT_TRUE(built) << base::to_string(built.error());
    EXPECT_EQ(kernel_constants(*contract), *built) << lab.path();
    ++labs;
  }
  EXPECT_GT(labs, 10);
}

}  // namespace
}  // namespace membound::judge
