// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// handouts/documents.csv lists what the documents that the course follows printed, and our figure
// for the same. Both must stand on the page that the row names. document_rows.csv lists what there
// must be a row for: what those documents print, for the labs 00, 02, 05, 08, 09 and 12.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"

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

base::Result<base::CsvTable> read_table(const std::string& path) {
  const auto text = base::read_file(fs::path(MEMBOUND_SOURCE_DIR) / path);
  if (!text) return text.error();
  return base::read_csv(*text, path);
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
  const auto table = read_table("handouts/documents.csv");
  ASSERT_TRUE(table) << base::to_string(table.error());
  ASSERT_THAT(table->header,
              testing::ElementsAre("lab", "document", "what", "printed", "ours", "page"));
  for (const auto& cells : table->rows) {
    const Row row{cells[0], cells[2], cells[3], cells[4], cells[5]};
    const auto page = base::read_file(root / row.page);
    ASSERT_TRUE(page) << row.page;
    EXPECT_THAT(missing(row, *page), testing::IsEmpty());
  }
}

/// What identifies a figure of a document: lab, document, row.
using Figure = std::array<std::string, 3>;

/// Those of `required` that no row of `listed` is about.
std::vector<Figure> without_row(const std::vector<Figure>& required,
                                const std::vector<Figure>& listed) {
  std::vector<Figure> none;
  for (const Figure& figure : required)
    if (std::find(listed.begin(), listed.end(), figure) == listed.end()) none.push_back(figure);
  return none;
}

TEST(DocumentFigures, HaveARowForAllThatTheDocumentsPrint) {
  const auto required = read_table("grader/tests/authoring/document_rows.csv");
  ASSERT_TRUE(required) << base::to_string(required.error());
  ASSERT_THAT(required->header, testing::ElementsAre("lab", "document", "where", "row"));
  const auto table = read_table("handouts/documents.csv");
  ASSERT_TRUE(table) << base::to_string(table.error());
  std::vector<Figure> figures, listed;
  std::set<std::string> labs;
  for (const auto& cells : required->rows) {
    figures.push_back({cells[0], cells[1], cells[3]});
    labs.insert(cells[0]);
  }
  for (const auto& cells : table->rows) listed.push_back({cells[0], cells[1], cells[2]});
  EXPECT_THAT(without_row(figures, listed), testing::IsEmpty());
  EXPECT_THAT(without_row(listed, figures), testing::IsEmpty()) << "to be added to the list, too";
  EXPECT_EQ(labs.size(), 6u) << "labs with figures of documents";
}

TEST(DocumentFigures, ARowThatIsMissingIsNamed) {
  const Figure shared{"02", "Kenzel", "share"}, other{"02", "Reguly", "share"};
  EXPECT_THAT(without_row({shared, other}, {other}), testing::ElementsAre(shared));
}

TEST(DocumentFigures, AFigureThatIsNotThereIsNamed) {
  const Row row{"02-coalescing", "lanes in order", "255.9", "2,545", "handout.md"};
  EXPECT_THAT(missing(row, "255.9 then, 2,545\nnow"), testing::IsEmpty());
  EXPECT_THAT(missing(row, "255.9 then, 2,546 now"),
              testing::ElementsAre(testing::HasSubstr("\"2,545\" (ours)")));
}

}  // namespace
}  // namespace membound::authoring
