// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/roster.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/classroom/intake/student_names.hpp"

namespace membound::intake {
namespace {

enum class Column { kId, kAlias, kName, kFirst, kLast, kEmail, kSubmitted, kLab, kAttempt };

/// What headers are called, folded and with letters and digits only. Where several columns can be
/// the id, the one that stands first in this table is.
constexpr std::array<std::pair<std::string_view, Column>, 38> kHeaders = {{
    {"id", Column::kId},
    {"studentid", Column::kId},
    {"sid", Column::kId},
    {"userid", Column::kId},
    {"idnumber", Column::kId},
    {"studentnumber", Column::kId},
    {"matriculationnumber", Column::kId},
    {"sisuserid", Column::kId},
    {"username", Column::kId},
    {"login", Column::kId},
    {"sisloginid", Column::kId},
    {"loginid", Column::kId},
    {"githubusername", Column::kId},
    {"identifier", Column::kId},
    {"githubid", Column::kAlias},
    {"integrationid", Column::kAlias},
    {"participant", Column::kAlias},
    {"alias", Column::kAlias},
    {"name", Column::kName},
    {"fullname", Column::kName},
    {"student", Column::kName},
    {"studentname", Column::kName},
    {"firstname", Column::kFirst},
    {"givenname", Column::kFirst},
    {"lastname", Column::kLast},
    {"surname", Column::kLast},
    {"familyname", Column::kLast},
    {"email", Column::kEmail},
    {"emailaddress", Column::kEmail},
    {"mail", Column::kEmail},
    {"submittedat", Column::kSubmitted},
    {"submissiontime", Column::kSubmitted},
    {"submissiontimestamp", Column::kSubmitted},
    {"lastmodifiedsubmission", Column::kSubmitted},
    {"rosteridentifier", Column::kAlias},
    {"lab", Column::kLab},
    {"assignmentname", Column::kLab},
    {"attempt", Column::kAttempt},
}};

/// Letters and digits of the folded text; bytes beyond ASCII count as letters.
std::string squeezed(std::string_view text) {
  std::string all;
  for (const char c : folded(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) all += c;
  }
  return all;
}

std::string trimmed(const std::string& cell) {
  const auto first = cell.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return cell.substr(first, cell.find_last_not_of(" \t\r\n") - first + 1);
}

/// A column of the file: where it stands and what it is; `rank` is its place in kHeaders.
struct FoundColumn {
  std::size_t index;
  std::size_t rank;
  Column kind;
  std::string lab;  ///< of "submitted_at 03-transpose"
};

/// What stands behind "submitted_at".
std::optional<std::string> lab_in(const std::string& header) {
  static const std::regex pattern("^\\s*submitted[ _-]?at[ :_(\\[-]+([^)\\]]+)[)\\]]?\\s*$",
                                  std::regex::icase);
  std::smatch match;
  if (!std::regex_match(header, match, pattern)) return std::nullopt;
  return match[1].str();
}

std::vector<FoundColumn> columns_of(const std::vector<std::string>& header) {
  std::vector<FoundColumn> columns;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string word = squeezed(header[i]);
    for (std::size_t rank = 0; rank < kHeaders.size(); ++rank)
      if (kHeaders[rank].first == word) columns.push_back({i, rank, kHeaders[rank].second, {}});
    if (auto lab = lab_in(header[i]))
      columns.push_back({i, kHeaders.size(), Column::kSubmitted, *std::move(lab)});
  }
  std::stable_sort(columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return columns;
}

RosterRow row_of(const std::vector<std::string>& cells, const std::vector<FoundColumn>& columns) {
  RosterRow row;
  std::string first, last;
  for (const FoundColumn& column : columns) {
    const std::string cell = column.index < cells.size() ? trimmed(cells[column.index]) : "";
    if (cell.empty()) continue;
    switch (column.kind) {
      case Column::kId:
        if (row.id.empty())
          row.id = normal(cell);
        else
          row.aliases.push_back(normal(cell));
        // Moodle's "Participant 123" is the 123 of its folders.
        if (cell.starts_with("Participant ")) row.aliases.push_back(cell.substr(12));
        break;
      case Column::kAlias:
        row.aliases.push_back(normal(cell));
        break;
      case Column::kName:
        if (row.name.empty()) row.name = normal(cell);
        break;
      case Column::kFirst:
        first = normal(cell);
        break;
      case Column::kLast:
        last = normal(cell);
        break;
      case Column::kEmail:
        if (row.email.empty()) row.email = normal(cell);
        break;
      case Column::kSubmitted:
        // Platforms write "-" where nothing was handed in.
        if (cell != "-") row.submitted.push_back({column.lab, cell});
        break;
      case Column::kLab:
        row.lab = cell;
        break;
      case Column::kAttempt:
        row.attempt = cell;
        break;
    }
  }
  if (row.name.empty()) row.name = first + (first.empty() || last.empty() ? "" : " ") + last;
  if (row.id.empty()) row.id = row.email;
  return row;
}

/// The words of a name, sorted: "Doe, Jane" and "jane doe" give the same.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : folded(name) + " ") {
    if (c == ' ' || c == ',' || c == '.' || c == '_' || c == '-') {
      if (!word.empty()) words.push_back(std::exchange(word, ""));
    } else {
      word += c;
    }
  }
  std::sort(words.begin(), words.end());
  return words;
}

/// Whether `word` is this student in another spelling.
bool alike(const RosterRow& row, std::string_view word) {
  const std::string plain = folded(word);
  if (plain.empty()) return false;
  if (folded(row.id) == plain || folded(row.email) == plain) return true;
  for (const std::string& alias : row.aliases)
    if (folded(alias) == plain) return true;
  if (row.name.empty()) return false;
  if (words_of(row.name) == words_of(word)) return true;
  // Canvas writes last name and first name in one word.
  std::string forward, backward;
  const std::string name = folded(row.name);
  const auto space = name.find_last_of(' ');
  forward = squeezed(name);
  if (space != std::string::npos) backward = squeezed(name.substr(space) + name.substr(0, space));
  const std::string squeezed_word = squeezed(word);
  return !squeezed_word.empty() && (squeezed_word == forward || squeezed_word == backward);
}

}  // namespace

base::Result<std::vector<RosterRow>> read_people(std::string_view text,
                                                 const std::string& file_name) {
  const auto table = base::read_csv(text, file_name);
  if (!table) return table.error();
  const base::Error no_header{base::ErrorKind::kInput, file_name,
                              "the first line names no column with students' ids",
                              "a header with id (or Student ID, SIS User ID, username, …), and if "
                              "you like name and email",
                              "write \"id,name,email\" above the first student"};
  const auto columns = columns_of(table->header);
  if (std::none_of(columns.begin(), columns.end(), [](const FoundColumn& column) {
        return column.kind == Column::kId || column.kind == Column::kEmail;
      }))
    return no_header;
  std::vector<RosterRow> rows;
  for (const auto& cells : table->rows)
    if (RosterRow row = row_of(cells, columns); !row.id.empty()) rows.push_back(std::move(row));
  return rows;
}

base::Result<Roster> Roster::from_text(std::string_view text, const std::string& file_name) {
  auto people = read_people(text, file_name);
  if (!people) return people.error();
  Roster roster;
  std::set<std::string> ids;
  for (RosterRow& row : *people) {
    if (!ids.insert(folded(row.id)).second) {
      return base::Error{base::ErrorKind::kInput, file_name,
                         "two students have the id \"" + shown(row.id) + "\"",
                         "one row for each id, in any case of letters", "remove one of them"};
    }
    roster.rows_.push_back(std::move(row));
  }
  return roster;
}

const RosterRow* Roster::find(std::string_view word) const {
  const std::string exact = normal(word);
  const RosterRow* found = nullptr;
  for (const RosterRow& row : rows_)
    if (row.id == exact) return &row;
  for (const RosterRow& row : rows_) {
    const bool fits = row.email == exact ||
                      std::find(row.aliases.begin(), row.aliases.end(), exact) != row.aliases.end();
    if (fits && found != nullptr) return nullptr;
    if (fits) found = &row;
  }
  return found;
}

const RosterRow* Roster::find_alike(std::string_view word) const {
  const RosterRow* found = nullptr;
  for (const RosterRow& row : rows_) {
    if (!alike(row, word)) continue;
    if (found != nullptr) return nullptr;
    found = &row;
  }
  return found;
}

}  // namespace membound::intake
