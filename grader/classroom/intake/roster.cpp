// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/roster.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <set>
#include <unordered_map>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/submitted_names.hpp"

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
    const std::string cell =
        column.index < cells.size() ? std::string(base::trimmed(cells[column.index])) : "";
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

std::string joined_words(std::string_view name) {
  std::string all;
  for (const std::string& word : words_of(name)) all += word + " ";
  return all;
}

}  // namespace

/// A class of thousands is looked up once for each of its submissions.
struct Roster::Index {
  /// Rows by what they may be called.
  class Names {
   public:
    void add(const std::string& name, std::size_t row) {
      if (!name.empty()) rows_[name].insert(row);
    }
    [[nodiscard]] std::set<std::size_t> rows(const std::string& name) const {
      const auto found = rows_.find(name);
      return found == rows_.end() ? std::set<std::size_t>() : found->second;
    }

   private:
    std::unordered_map<std::string, std::set<std::size_t>> rows_;
  };

  Names ids, others;   // as they are written
  Names folded_words;  // id, email and aliases
  Names sorted_names, squeezed_names;

  explicit Index(const std::vector<RosterRow>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) add(rows[i], i);
  }

  [[nodiscard]] std::set<std::size_t> alike(std::string_view word) const {
    std::set<std::size_t> found;
    const std::string plain = folded(word);
    if (plain.empty()) return found;
    found.merge(folded_words.rows(plain));
    found.merge(sorted_names.rows(joined_words(word)));
    found.merge(squeezed_names.rows(squeezed(word)));
    return found;
  }

 private:
  void add(const RosterRow& row, std::size_t i) {
    ids.add(row.id, i);
    folded_words.add(folded(row.id), i);
    others.add(row.email, i);
    folded_words.add(folded(row.email), i);
    for (const std::string& alias : row.aliases) {
      others.add(alias, i);
      folded_words.add(folded(alias), i);
    }
    if (row.name.empty()) return;
    sorted_names.add(joined_words(row.name), i);
    // Canvas writes last name and first name in one word.
    const std::string name = folded(row.name);
    squeezed_names.add(squeezed(name), i);
    if (const auto space = name.find_last_of(' '); space != std::string::npos)
      squeezed_names.add(squeezed(name.substr(space) + name.substr(0, space)), i);
  }
};

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
  roster.index_ = std::make_shared<const Index>(roster.rows_);
  return roster;
}

const RosterRow* Roster::find(std::string_view word) const {
  if (index_ == nullptr) return nullptr;
  const std::string exact = normal(word);
  std::set<std::size_t> found = index_->ids.rows(exact);
  if (found.empty()) found = index_->others.rows(exact);
  return found.size() == 1 ? &rows_[*found.begin()] : nullptr;
}

const RosterRow* Roster::find_alike(std::string_view word) const {
  if (index_ == nullptr) return nullptr;
  const std::set<std::size_t> found = index_->alike(word);
  return found.size() == 1 ? &rows_[*found.begin()] : nullptr;
}

}  // namespace membound::intake
