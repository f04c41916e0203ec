// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/house.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "grader/authoring/written_parts.hpp"
#include "grader/base/files.hpp"
#include "grader/vgpu/counters/counters.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kList =
    "# a comment\n"
    "top: middle/ base | prints | deciding\n"
    "middle/one: base | one thing | the other\n"
    "base: | errors | CUDA\n";

std::vector<std::string> sentences(const std::vector<Drift>& drifts) {
  std::vector<std::string> all;
  for (const Drift& drift : drifts) all.push_back(to_string(drift));
  return all;
}

/// A small house with nothing wrong; tests add what is.
class SmallHouse : public testing::Test {
 protected:
  SmallHouse() {
    write("CMakeLists.txt",
          "add_subdirectory(grader/base)\nadd_subdirectory( grader/middle/one )\n"
          "add_subdirectory(grader/top)\n");
    write("grader/base/result.hpp", "namespace membound::base {\n}\n");
    write("grader/base/CMakeLists.txt", "add_module(base)\n");
    write("grader/middle/one/work.cpp",
          "#include \"grader/base/result.hpp\"\nnamespace membound::one {\n}\n");
    write("grader/middle/one/CMakeLists.txt", "add_module(one LINKS membound::base)\n");
    write("grader/top/print.cpp", "#include \"grader/middle/one/work.hpp\"\n");
    write("grader/top/CMakeLists.txt", "add_module(top LINKS membound::one membound::base)\n");
  }
  void write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(base::write_file(folder_.path() / file, text));
  }
  std::vector<std::string> drifts(const std::string& list = kList) {
    const auto rooms = read_rooms(list, "rooms.txt");
    EXPECT_TRUE(rooms) << base::to_string(rooms.error());
    return sentences(check_house(*rooms, folder_.path()));
  }

  base::ScratchFolder folder_{"house"};
};

TEST_F(SmallHouse, IsCleanWhereEveryIncludeAndLinkIsAnArrow) { EXPECT_THAT(drifts(), IsEmpty()); }

TEST_F(SmallHouse, AnIncludeThatPointsUpIsNamedWithItsLine) {
  write("grader/base/worse.cpp", "// one line\n#include \"grader/top/print.hpp\"\n");
  EXPECT_THAT(drifts(), ElementsAre(AllOf(HasSubstr("grader/base/worse.cpp:2"),
                                          HasSubstr("base includes top"))));
}

TEST_F(SmallHouse, ALinkThatIsNoArrowIsNamed) {
  write("grader/base/CMakeLists.txt", "add_module(base\n  LINKS membound::one)\n");
  EXPECT_THAT(drifts(), ElementsAre(AllOf(HasSubstr("grader/base/CMakeLists.txt:2"),
                                          HasSubstr("base links middle/one"))));
}

TEST_F(SmallHouse, AFileOutsideAllRoomsIsNamed) {
  write("grader/attic/old.hpp", "");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("no room holds this file")));
}

TEST_F(SmallHouse, AFolderThatNothingBuildsIsNamed) {
  write("grader/top/bench/CMakeLists.txt", "add_executable(bench bench_main.cpp)\n");
  EXPECT_THAT(drifts(), ElementsAre(AllOf(HasSubstr("grader/top/bench/CMakeLists.txt"),
                                          HasSubstr("nothing adds this folder"))));
}

TEST_F(SmallHouse, ANameThatStandsTwiceIsNamed) {
  write("grader/top/work.cpp", "");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("the name stands in")));
}

TEST_F(SmallHouse, AnotherRoomsNamespaceIsNamed) {
  write("grader/base/text.cpp", "namespace membound::one {\n}\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("namespace membound::one")));
}

TEST_F(SmallHouse, AnArrowOfTheListMayNotPointUp) {
  EXPECT_THAT(drifts("base: top | errors | CUDA\ntop: base | prints | x\nmiddle/one: | y | z\n"),
              testing::Contains(HasSubstr("top uses base")));
}

TEST(Rooms, ABadLineIsNamed) {
  EXPECT_THAT(base::to_string(read_rooms("base | errors | CUDA\n", "rooms.txt").error()),
              HasSubstr("rooms.txt:1: no colon"));
  EXPECT_THAT(base::to_string(read_rooms("base: | errors\n", "rooms.txt").error()),
              HasSubstr("fewer than three parts"));
  EXPECT_THAT(base::to_string(read_rooms("a: | b | c\na: | b | c\n", "rooms.txt").error()),
              HasSubstr("a second time"));
}

TEST(House, KeepsToItsRooms) {
  const fs::path root = MEMBOUND_SOURCE_DIR;
  const auto text = base::read_file(root / "grader/rooms.txt");
  ASSERT_TRUE(text);
  const auto rooms = read_rooms(*text, "grader/rooms.txt");
  ASSERT_TRUE(rooms) << base::to_string(rooms.error());
  EXPECT_THAT(sentences(check_house(*rooms, root)), IsEmpty());
  EXPECT_THAT(sentences(check_architecture_page(*rooms, root, false)), IsEmpty());
}

TEST(House, PagesShowTheTablesTheyAreWrittenFrom) {
  for (const auto& parts : {checker_parts(), verdict_parts(), rule_parts(), role_parts()})
    for (const WrittenPart& part : parts)
      EXPECT_THAT(sentences(check_written_part(part, MEMBOUND_SOURCE_DIR, false)), IsEmpty());
}

TEST(House, HandoutsShareOneTableOfLatencies) {
  const std::filesystem::path root = MEMBOUND_SOURCE_DIR;
  const auto parts = latency_parts(root);
  ASSERT_TRUE(parts) << to_string(parts.error());
  EXPECT_EQ(parts->size(), 1u);  // lab 09: the others name it
  std::set<std::string> pages, figures;
  for (const WrittenPart& part : *parts) {
    pages.insert(part.page);
    EXPECT_THAT(sentences(check_written_part(part, root, false)), IsEmpty());
    const std::regex kRow(R"(\| DRAM \| \d+ GB \| (\d+ cycles), \d+ ns \| (\d,\d+ cycles) \|)");
    std::smatch row;
    ASSERT_TRUE(std::regex_search(part.text, row, kRow)) << part.text;
    figures.insert({row[1], row[2]});
  }
  for (const auto& entry : std::filesystem::directory_iterator(root / "handouts")) {
    const auto page = base::read_file(entry.path() / "handout.md");
    if (!page) continue;
    const std::string name = "handouts/" + entry.path().filename().string() + "/handout.md";
    for (const std::string& figure : figures)
      EXPECT_TRUE(page->find(figure) == std::string::npos || pages.contains(name))
          << name << " has " << figure << " without the table";
  }
}

TEST(House, RulesNameCountersAndHeadingsThatThereAre) {
  for (const vgpu::counters::RuleInfo& rule : vgpu::counters::kRules) {
    EXPECT_NE(vgpu::counters::find_counter(rule.counter), nullptr) << rule.name;
    const auto handout = base::read_file(std::filesystem::path(MEMBOUND_SOURCE_DIR) / "handouts" /
                                         rule.handout / "handout.md");
    ASSERT_TRUE(handout.ok()) << rule.name;
    EXPECT_THAT(*handout, HasSubstr("# " + std::string(rule.section))) << rule.name;
  }
}

TEST_F(SmallHouse, APartThatIsNotItsTablesIsWritten) {
  write("docs/page.md",
        "a\n<!-- things: written by `membound dev check --fix` -->\n- old\n"
        "<!-- end of things -->\nb\n");
  const WrittenPart part{"docs/page.md", "things", "- new\n", "things.def"};
  EXPECT_THAT(sentences(check_written_part(part, folder_.path(), false)),
              ElementsAre(HasSubstr("its things are not those of things.def")));
  EXPECT_THAT(sentences(check_written_part(part, folder_.path(), true)), IsEmpty());
  EXPECT_THAT(sentences(check_written_part(part, folder_.path(), false)), IsEmpty());
  EXPECT_THAT(
      sentences(check_written_part({"docs/page.md", "others", "", "x"}, folder_.path(), true)),
      ElementsAre(HasSubstr("no place for the others")));
}

}  // namespace
}  // namespace membound::authoring
