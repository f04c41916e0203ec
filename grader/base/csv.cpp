// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/csv.hpp"
#include "grader/base/strings.hpp"

#include <csv.h>

#include <algorithm>
#include <cctype>
#include <memory>

namespace membound::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string folded(std::string_view text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::string folded;
  for (const unsigned char c : text) folded += static_cast<char>(std::tolower(c));
  return folded;
}

/// The one that the first line holds most of outside of quotes.
char find_delimiter(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t'}) {
    std::ptrdiff_t count = 0;
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      count += !quoted && c == candidate ? 1 : 0;
    }
    if (count > most) most = count, best = candidate;
  }
  return best;
}

struct Rows {
  std::vector<std::vector<std::string>> complete;
  std::vector<std::string> current;
};

void on_field(void* text, std::size_t size, void* rows) {
  static_cast<Rows*>(rows)->current.emplace_back(static_cast<const char*>(text), size);
}

void on_row(int, void* rows_pointer) {
  auto& rows = *static_cast<Rows*>(rows_pointer);
  const bool empty = std::all_of(rows.current.begin(), rows.current.end(),
                                 [](const std::string& field) { return field.empty(); });
  if (!empty) rows.complete.push_back(std::move(rows.current));
  rows.current.clear();
}

base::Error broken(const std::string& file, std::string found, std::string expected) {
  return {base::ErrorKind::kInput, file, std::move(found), std::move(expected),
          "save it again as CSV (UTF-8) from the program it comes from"};
}

/// Spaces are part of a field: a name may end in one, and what comes back must match.
int no_space(unsigned char) { return 0; }

base::Result<Rows> parse(std::string_view text, char delimiter, const std::string& file_name) {
  csv_parser parser;
  MEMBOUND_CHECK(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) == 0);
  const std::unique_ptr<csv_parser, void (*)(csv_parser*)> owner(&parser, csv_free);
  csv_set_delim(&parser, static_cast<unsigned char>(delimiter));
  csv_set_space_func(&parser, no_space);
  Rows rows;
  const std::size_t read = csv_parse(&parser, text.data(), text.size(), on_field, on_row, &rows);
  if (read == text.size() && csv_fini(&parser, on_field, on_row, &rows) == 0) return rows;
  return broken(file_name,
                "a quote in the wrong place after row " + std::to_string(rows.complete.size()),
                "fields with quotes written as \"…\", a quote inside as \"\"");
}

bool needs_quotes(std::string_view field, char delimiter) {
  return field.find_first_of("\"\r\n") != std::string_view::npos ||
         field.find(delimiter) != std::string_view::npos ||
         (!field.empty() && (field.front() == ' ' || field.back() == ' '));
}

bool is_formula(std::string_view field) {
  return !field.empty() &&
         std::string_view("=+-@\t\r").find(field.front()) != std::string_view::npos;
}

void write_row(const std::vector<std::string>& row, char delimiter, CsvReader reader,
               std::string& out) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += delimiter;
    const std::string field =
        reader == CsvReader::kSpreadsheet && is_formula(row[i]) ? "'" + row[i] : row[i];
    if (!needs_quotes(field, delimiter)) {
      out += field;
      continue;
    }
    std::string quoted(2 * field.size() + 2, '\0');  // the most that csv_write fills
    quoted.resize(csv_write(quoted.data(), quoted.size(), field.data(), field.size()));
    out += quoted;
  }
  out += "\r\n";
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view title) const {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (folded(header[i]) == folded(title)) return i;
  return std::nullopt;
}

base::Result<CsvTable> read_csv(std::string_view text, const std::string& file_name) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find('\0') != std::string_view::npos)
    return broken(file_name, "a zero byte (a spreadsheet's own format, or UTF-16?)", "CSV text");
  CsvTable table;
  table.delimiter = find_delimiter(text);
  auto rows = parse(text, table.delimiter, file_name);
  if (!rows) return rows.error();
  if (rows->complete.empty()) return broken(file_name, "no line with text", "a header line");
  table.header = std::move(rows->complete.front());
  rows->complete.erase(rows->complete.begin());
  table.rows = std::move(rows->complete);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() > table.header.size())
      return broken(
          file_name,
          "row " + std::to_string(i + 1) + " has " + base::counted(table.rows[i].size(), "field"),
          base::counted(table.header.size(), "field") + ", as the header has");
    table.rows[i].resize(table.header.size());
  }
  return table;
}

std::string write_csv(const CsvTable& table, CsvReader reader) {
  std::string out;
  write_row(table.header, table.delimiter, reader, out);
  for (const auto& row : table.rows) write_row(row, table.delimiter, reader, out);
  return out;
}

}  // namespace membound::base
