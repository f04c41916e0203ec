// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/command_line.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <string_view>

#include "grader/cli/staff/dev_tables.hpp"
#include "grader/tests/cli/fake_course.hpp"

namespace membound::cli {
namespace {

class Help : public testing::Test {
 protected:
  Help() {
    add_student_commands(line_);
// The options of selftest stand in a group, which is not listed.
#define STAFF_COMMAND(id, name) \
  if (std::string_view(name) != "selftest") line_.add(add_##id);
#include "grader/cli/staff_commands.def"
    collect(line_.app());
  }
  void collect(const CLI::App& app) {
    all_.push_back(&app);
    for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; }))
      collect(*inner);
  }
  CommandLine line_;
  std::vector<const CLI::App*> all_;
};

TEST_F(Help, NamesEveryOptionAndNoOther) {
  for (const CLI::App* app : all_) {
    std::set<std::string> known;
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_group().empty()) continue;  // for Membound's own calls
      for (const std::string& name : option->get_lnames()) known.insert("--" + name);
    }
    // Options stand at the head of a list entry.
    const std::string page(help_text(help_page_name(*app)));
    std::set<std::string> told;
    static const std::regex kEntry("(^|\n)- ([^:]*):");
    static const std::regex kOption("--[a-z-]+");
    for (std::sregex_iterator entry(page.begin(), page.end(), kEntry), end; entry != end; ++entry) {
      const std::string head = (*entry)[2];
      for (std::sregex_iterator word(head.begin(), head.end(), kOption), last; word != last; ++word)
        told.insert(word->str());
    }
    EXPECT_EQ(told, known) << help_page_name(*app);
  }
}

TEST(HelpOfExport, ListsEveryPlatform) {
  EXPECT_THAT(authoring::check_written_part(platform_table(), MEMBOUND_SOURCE_DIR, false),
              testing::IsEmpty())
      << "membound dev check --fix";
}

TEST_F(Help, NamesEveryCommand) {
  const std::string page(help_text("membound"));
  for (const CLI::App* app : all_)
    if (app->get_parent() == &line_.app() && app->get_name() != "dev") {
      EXPECT_THAT(page, testing::HasSubstr("| " + app->get_name() + " |"));
    }
}

TEST_F(Help, PagesArePrintedAtMost80ColumnsWide) {
  const FakeCourse course;
  for (const CLI::App* app : all_) {
    std::vector<std::string> words{"--help"};
    for (const CLI::App* each = app; each->get_parent() != nullptr; each = each->get_parent())
      words.insert(words.begin(), each->get_name());
    const auto outcome = course.run(words);
    EXPECT_EQ(outcome.exit_code, 0);
    const std::string title = words.size() == 1 ? "membound" : words[words.size() - 2];
    EXPECT_THAT(outcome.output, testing::HasSubstr(title + "\n"));
    EXPECT_LE(widest_line(outcome.output), 80u) << outcome.output;
    EXPECT_THAT(outcome.output, testing::Not(testing::HasSubstr("<!--")));
  }
}

/// A course may be handed out with some of its labs only.
TEST_F(Help, OfStudentsNamesNoLab) {
  std::set<std::string> staff;
#define STAFF_COMMAND(id, name) staff.insert(name);
#include "grader/cli/staff_commands.def"
  const std::regex stage("[`( ][0-9]{1,2}/[0-9]|membound [a-z]+ [0-9]");
  for (const CLI::App* app : all_) {
    const CLI::App* command = app;
    while (command->get_parent() != nullptr && command->get_parent() != &line_.app())
      command = command->get_parent();
    if (staff.contains(command->get_name())) continue;
    const std::string page(help_text(help_page_name(*app)));
    EXPECT_FALSE(std::regex_search(page, stage)) << app->get_name();
    for (const auto& lab : std::filesystem::directory_iterator(MEMBOUND_SOURCE_DIR "/labs")) {
      const std::string name = lab.path().filename().string();
      if (!std::filesystem::is_directory(lab.path())) continue;
      EXPECT_THAT(page, testing::Not(testing::HasSubstr(name))) << app->get_name();
      EXPECT_FALSE(std::regex_search(page, std::regex("(^|[ `/])" + name.substr(3) + "(/|`)")))
          << name << " in the page of " << app->get_name();
    }
  }
}

TEST_F(Help, ACommandBehindHelpIsAskedForItsPage) {
  const FakeCourse course;
  EXPECT_EQ(course.run({"help"}).output, course.run({"--help"}).output);
  EXPECT_EQ(course.run({"help", "check"}).output, course.run({"check", "--help"}).output);
  EXPECT_EQ(course.run({"help", "dev", "check"}).output,
            course.run({"dev", "check", "--help"}).output);
  const auto typo = course.run({"help", "chekc"});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.output, testing::HasSubstr("did you mean \"check\"?"));
}

/// Ways to give each option wrongly: nothing behind it, what is no such number, twice, and
/// something behind a flag.
std::vector<std::vector<std::string>> wrong_uses(const CLI::App& command) {
  std::vector<std::vector<std::string>> uses;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (name == "--help" || name == "--version") continue;
    if (option->get_expected_max() == 0) {
      uses.push_back({name + "=x"});
      continue;
    }
    uses.push_back({name});
    if (option->get_expected_max() == 1) uses.push_back({name, "1", name, "1"});
    if (option->get_type_name() != "TEXT") uses.push_back({name, "1x"});
  }
  return uses;
}

TEST_F(Help, WrongUseIsToldInOurWordsWithWhatWasExpected) {
  const std::vector<std::string> library = {"required", "UINT", "FLOAT",     "convert",
                                            "not in ",  "ERR",  "subcommand"};
  std::size_t tried = 0;
  for (const CLI::App* app : all_) {
    std::vector<std::string> path;
    for (const CLI::App* each = app; each->get_parent() != nullptr; each = each->get_parent())
      path.insert(path.begin(), each->get_name());
    auto uses = wrong_uses(*app);
    const std::vector<const CLI::Option*> options = app->get_options();
    const bool needs_words =
        std::any_of(options.begin(), options.end(),
                    [](const CLI::Option* option) { return option->get_required(); });
    if (needs_words || app->get_require_subcommand_min() > 0) uses.push_back({});
    for (const auto& use : uses) {
      std::vector<const char*> words = {"membound"};
      for (const std::string& word : path) words.push_back(word.c_str());
      for (const std::string& word : use) words.push_back(word.c_str());
      testing::internal::CaptureStderr();
      const int code = line_.run(static_cast<int>(words.size()), words.data());
      const std::string told = testing::internal::GetCapturedStderr();
      const std::string call = testing::PrintToString(words);
      EXPECT_EQ(code, 2) << call;
      EXPECT_THAT(told, testing::AllOf(testing::StartsWith("membound: "),
                                       testing::HasSubstr("\n  expected: "),
                                       testing::HasSubstr("\n  try: ")))
          << call;
      for (const std::string& word : library)
        EXPECT_THAT(told, testing::Not(testing::HasSubstr(word))) << call;
      ++tried;
    }
  }
  EXPECT_GT(tried, 150u);
}

TEST(HelpPages, GiveTheVersion) {
  const FakeCourse course;
  const auto outcome = course.run({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, testing::MatchesRegex("membound [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace membound::cli
