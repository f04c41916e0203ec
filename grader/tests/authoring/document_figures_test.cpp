// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// handouts/documents.csv lists what the documents that the course follows printed, and our figure
// for the same. Both must stand on the page that the row names.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "grader/base/csv.hpp"
#include "grader/base/text_files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

/// With one space between words: a sentence may be broken anywhere.
std::string words(const std::string& text) {
  std::istringstream stream(text);
  std::string all;
  for (std::string word; stream >> word;) all += word + " ";
  if (!all.empty()) all.pop_back();
  return all;
}

struct Row {
  std::string lab, what, printed, ours, page;
};

/// The rows that `page_text` does not bear out, as sentences.
std::vector<std::string> missing(const Row& row, const std::string& page_text) {
  std::vector<std::string> all;
  const std::string page = words(page_text);
  for (const auto& [column, figure] : {std::pair("printed", row.printed), {"ours", row.ours}})
    if (figure.empty() || page.find(words(figure)) == std::string::npos)
      all.push_back(row.page + ": " + row.what + ": \"" + figure + "\" (" + column +
                    ") does not stand there");
  return all;
}

TEST(DocumentFigures, StandOnTheirPagesWithOursBesideThem) {
  const fs::path root = MEMBOUND_SOURCE_DIR;
  const auto text = base::read_file(root / "handouts/documents.csv");
  ASSERT_TRUE(text);
  const auto table = base::read_csv(*text, "handouts/documents.csv");
  ASSERT_TRUE(table) << base::to_string(table.error());
  ASSERT_THAT(table->header,
              testing::ElementsAre("lab", "document", "what", "printed", "ours", "page"));
  std::map<std::string, int> rows_of;
  for (const auto& cells : table->rows) {
    const Row row{cells[0], cells[2], cells[3], cells[4], cells[5]};
    ++rows_of[row.lab];
    const auto page = base::read_file(root / row.page);
    ASSERT_TRUE(page) << row.page;
    EXPECT_THAT(missing(row, *page), testing::IsEmpty());
  }
  // What the documents printed does not change: a row that goes is a figure that is shown no more.
  const std::map<std::string, int> printed = {{"00-hello-gpu", 4},       {"02-coalescing", 21},
                                              {"05-bank-conflicts", 12}, {"08-local-memory", 3},
                                              {"09-latency-hiding", 7},  {"12-streams", 2}};
  for (const auto& [lab, count] : printed) EXPECT_GE(rows_of[lab], count) << "a row of " << lab;
}

TEST(DocumentFigures, AFigureThatIsNotThereIsNamed) {
  const Row row{"02-coalescing", "lanes in order", "255.9", "2,545", "handout.md"};
  EXPECT_THAT(missing(row, "255.9 then, 2,545\nnow"), testing::IsEmpty());
  EXPECT_THAT(missing(row, "255.9 then, 2,546 now"),
              testing::ElementsAre(testing::HasSubstr("\"2,545\" (ours)")));
}

}  // namespace
}  // namespace membound::authoring
