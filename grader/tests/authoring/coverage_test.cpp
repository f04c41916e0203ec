// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// handouts/coverage.csv lists what the documents that the course follows hold: every system,
// experiment, figure, picture and listing. Each row has a place in the course, or one sentence that
// says why it has none. Beside what a page quotes stands ours, or the sentence says why nothing of
// ours does; a figure is in the same unit, and is what the run that `source` names has said.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "grader/authoring/measured_figures.hpp"
#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kCoverageHeader = {"document", "section", "what", "page",
                                                  "heading",  "printed", "ours", "unit",
                                                  "source",   "why_not"};

struct CoverageRow {
  int line = 0;
  std::string what, page, heading, printed, ours, unit, source, why_not;
};

using Problems = std::vector<std::string>;

/// With one space between words: a sentence may be broken anywhere.
std::string in_one_line(const std::string& text) {
  std::istringstream stream(text);
  std::string all;
  for (std::string word; stream >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

/// What stands below a heading, up to the next one as high; the whole page for "". A heading is
/// named whole or up to its colon: "Stage 2" is "### Stage 2: a grid of any size".
std::optional<std::string> section_of(const std::string& page, const std::string& heading) {
  if (heading.empty()) return page;
  std::string section;
  std::size_t depth = 0;  // of the heading that was found
  bool in_code = false;
  for (const std::string_view line : base::lines_of(page)) {
    if (line.starts_with("```")) in_code = !in_code;
    const std::size_t level = in_code ? 0 : std::min(line.find_first_not_of('#'), line.size());
    if (level > 0 && depth > 0 && level <= depth) return section;
    const std::string title(base::trimmed(line.substr(level)));
    if (level > 0 && depth == 0 && (title == heading || title.starts_with(heading + ":")))
      depth = level;
    if (depth > 0) section += std::string(line) + "\n";
  }
  if (depth == 0) return std::nullopt;
  return section;
}

/// A row of a lab that the course does not have yet, or has as a draft, waits for it.
bool is_to_come(const CoverageRow& row, const fs::path& root) {
  const fs::path page = row.page;
  if (!row.page.starts_with("handouts/") || page.filename() != "handout.md") return false;
  const auto lab = base::read_file(root / "labs" / page.parent_path().filename() / "lab.json");
  return !lab || lab->find("\"draft\": true") != std::string::npos;
}

/// 55.2 µs are 0.0552 ms.
std::optional<double> in_unit(double value, const std::string& from, const std::string& to) {
  if (from == to) return value;
  if (from == "µs" && to == "ms") return value / 1e3;
  if (from == "µs" && to == "s") return value / 1e6;
  return std::nullopt;
}

std::vector<double> numbers_in(const std::string& text) {
  static const std::regex kNumber(R"([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)");
  std::vector<double> numbers;
  for (std::sregex_iterator found(text.begin(), text.end(), kNumber), end; found != end; ++found) {
    std::string number = found->str();
    std::erase(number, ',');
    numbers.push_back(std::stod(number));
  }
  return numbers;
}

std::vector<std::string> split(const std::string& text, const std::string& between) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(between, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string::npos) return parts;
    at = end + between.size();
  }
}

using MeasuredByGpu = std::map<std::string, MeasuredFigures>;

/// Whether the numbers of `ours` are what the figures of `source` ("GPU|RUN|FIGURE; …") say.
Problems check_source(const CoverageRow& row, const MeasuredByGpu& all) {
  const std::vector<std::string> sources = split(row.source, "; ");
  const std::vector<double> numbers = numbers_in(row.ours);
  if (sources.size() != numbers.size())
    return {std::to_string(numbers.size()) + " numbers in \"" + row.ours + "\" and " +
            std::to_string(sources.size()) + " sources"};
  Problems problems;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::vector<std::string> parts = split(sources[i], "|");
    const auto gpu = all.find(parts.front());
    const auto is_meant = [&](const MeasuredFigure& figure) {
      return parts.size() == 3 && figure.run == parts[1] && figure.figure == parts[2];
    };
    const auto found = gpu == all.end() ? MeasuredFigures::const_iterator()
                                        : std::ranges::find_if(gpu->second, is_meant);
    if (gpu == all.end() || found == gpu->second.end()) {
      problems.push_back(sources[i] + " is in no handouts/measured_GPU.csv");
      continue;
    }
    const auto value = in_unit(found->value, found->unit, row.unit);
    if (!value)
      problems.push_back("printed in " + row.unit + ", and " + sources[i] + " is in " +
                         found->unit);
    else if (std::abs(numbers[i] - *value) > kNear * *value)
      problems.push_back(std::to_string(numbers[i]) + " where " + sources[i] + " is " +
                         std::to_string(*value));
  }
  return problems;
}

/// What is wrong with a row, as sentences.
Problems problems_of(const CoverageRow& row, const fs::path& root, const MeasuredByGpu& all) {
  if (row.page.empty() && row.why_not.empty()) return {"a page, or a sentence why there is none"};
  const bool needs_why = row.page.empty() || (!row.printed.empty() && row.ours.empty());
  if (needs_why == row.why_not.empty())
    return {"what is printed with ours beside it, or a sentence why not: one of the two"};
  if (row.page.empty() || is_to_come(row, root)) return {};
  const auto page = base::read_file(root / row.page);
  if (!page) return {row.page + " is not there"};
  const auto section = section_of(*page, row.heading);
  if (!section) return {row.page + " has no heading \"" + row.heading + "\""};
  const std::string text = in_one_line(*section);
  Problems problems;
  for (const auto& [column, words] : {std::pair("printed", row.printed), {"ours", row.ours}})
    if (text.find(in_one_line(words)) == std::string::npos)
      problems.push_back(row.page + ", \"" + row.heading + "\": \"" + words + "\" (" + column +
                         ") does not stand there");
  if (row.unit.empty() != row.source.empty())
    problems.emplace_back("a unit and a source, or neither");
  if (row.unit.empty() || row.source.empty()) return problems;
  if (row.printed.empty() || row.ours.empty())
    problems.emplace_back("a figure has what was printed, and ours");
  for (std::string& problem : check_source(row, all)) problems.push_back(std::move(problem));
  return problems;
}

class Coverage : public testing::Test {
 protected:
  void SetUp() override {
    const auto text = base::read_file(root_ / "handouts/coverage.csv");
    ASSERT_TRUE(text) << base::to_string(text.error());
    const auto table = base::read_csv(*text, "handouts/coverage.csv");
    ASSERT_TRUE(table) << base::to_string(table.error());
    ASSERT_EQ(table->header, kCoverageHeader);
    int line = 1;
    for (const auto& cells : table->rows)
      rows_.push_back(
          {++line, cells[2], cells[3], cells[4], cells[5], cells[6], cells[7], cells[8], cells[9]});
  }

  const fs::path root_ = MEMBOUND_SOURCE_DIR;
  std::vector<CoverageRow> rows_;
};

TEST_F(Coverage, EveryRowHasItsPlaceOrAReasonAndItsFigureBesideIt) {
  const auto all = read_all_measured(root_);
  ASSERT_TRUE(all) << base::to_string(all.error());
  for (const CoverageRow& row : rows_)
    EXPECT_THAT(problems_of(row, root_, *all), IsEmpty())
        << "handouts/coverage.csv:" << row.line << ": " << row.what;
}

TEST_F(Coverage, IsOfAllFourDocuments) {
  // So many things were found in them when they were read, each a row or a part of one.
  constexpr std::size_t kThings = 344;
  EXPECT_GE(rows_.size(), kThings);
}

class ACoverageRow : public testing::Test {
 protected:
  ACoverageRow() {
    EXPECT_TRUE(base::write_file(folder_.path() / "labs/02-fake/lab.json", "{}"));
    EXPECT_TRUE(base::write_file(folder_.path() / "handouts/02-fake/handout.md",
                                 "# Fake\n## Stage 1: a copy\n255.9 then,\n2,433 now\n"
                                 "### Part\n7\n## Stage 2: more\n8\n"));
  }
  Problems problems() { return problems_of(row_, folder_.path(), all_); }

  base::ScratchFolder folder_{"coverage"};
  MeasuredByGpu all_ = {
      {"h200", {{"02-fake", "experiment x", "one.gbs", "", 2433, "GB/s", "", "", ""}}}};
  CoverageRow row_ = {2,       "a copy", "handouts/02-fake/handout.md", "Stage 1", "255.9",
                      "2,433", "GB/s",   "h200|experiment x|one.gbs",   ""};
};

TEST_F(ACoverageRow, StandsBelowItsHeading) {
  EXPECT_THAT(problems(), IsEmpty());
  row_.heading = "Stage 2";
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("\"255.9\" (printed) does not stand"),
                                               HasSubstr("\"2,433\" (ours) does not stand")));
  row_.heading = "Stage 3";
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("no heading \"Stage 3\"")));
}

TEST_F(ACoverageRow, HasOursInTheUnitOfWhatWasPrinted) {
  row_.unit = "ms";
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("printed in ms, and")));
}

TEST_F(ACoverageRow, HasOursAsItsRunSaidIt) {
  all_["h200"].front().value = 2600;
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("2433.000000 where h200|")));
  all_.clear();
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("in no handouts/measured_GPU.csv")));
}

TEST_F(ACoverageRow, HasAPlaceOrAReason) {
  row_.why_not = "It is about history.";
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("one of the two")));
  row_.page = "";
  EXPECT_THAT(problems(), IsEmpty());
  row_.why_not = "";
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("a sentence why there is none")));
}

TEST_F(ACoverageRow, HasOursBesideWhatIsPrintedOrAReason) {
  row_.ours = row_.unit = row_.source = "";
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("one of the two")));
  row_.why_not = "Nobody measured it.";
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(ACoverageRow, WaitsForALabThatIsNotThere) {
  row_.page = "handouts/07-fake/handout.md";
  EXPECT_THAT(problems(), IsEmpty());
  const fs::path lab = folder_.path() / "labs/07-fake/lab.json";
  EXPECT_TRUE(base::write_file(lab, "{\"draft\": true}"));
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_TRUE(base::write_file(lab, "{}"));
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("is not there")));
}

}  // namespace
}  // namespace membound::authoring
