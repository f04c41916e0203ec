// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/help.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <regex>
#include <set>
#include <string_view>

#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/platform_table.hpp"
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
  }
}

TEST(HelpPages, GiveTheVersion) {
  const FakeCourse course;
  const auto outcome = course.run({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, testing::MatchesRegex("membound [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace membound::cli
