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

enum class Column {
  kId,
  kAlias,
  kCanvas,
  kName,
  kFirst,
  kLast,
  kEmail,
  kSubmitted,
  kLab,
  kAttempt,
  kSection,
  kGroup
};

/// What headers are called, folded and with letters and digits only. Where several columns can be
/// the id, the one that stands first in this table is.
constexpr std::array<std::pair<std::string_view, Column>, 44> kHeaders = {{
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
    {"canvasid", Column::kCanvas},
    {"canvasuserid", Column::kCanvas},
    {"section", Column::kSection},
    {"sections", Column::kSection},
    {"group", Column::kGroup},
    {"groupname", Column::kGroup},
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

/// "submitted_at 03-transpose", "group 03-transpose".
std::optional<FoundColumn> column_of_lab(const std::string& header, std::size_t index) {
  static const std::regex pattern("^\\s*(submitted[ _-]?at|group)[ :_(\\[-]+([^)\\]]+)[)\\]]?\\s*$",
                                  std::regex::icase);
  std::smatch match;
  if (!std::regex_match(header, match, pattern) || squeezed(header) == "groupname")
    return std::nullopt;
  const bool is_group = match[1].length() == 5;
  return FoundColumn{index, kHeaders.size(), is_group ? Column::kGroup : Column::kSubmitted,
                     match[2].str()};
}

std::vector<FoundColumn> columns_of(const std::vector<std::string>& header) {
  std::vector<FoundColumn> columns;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string word = squeezed(header[i]);
    for (std::size_t rank = 0; rank < kHeaders.size(); ++rank)
      if (kHeaders[rank].first == word) columns.push_back({i, rank, kHeaders[rank].second, {}});
    if (auto column = column_of_lab(header[i], i)) columns.push_back(*std::move(column));
  }
  // In Canvas's gradebook "ID" is Canvas's own number.
  const auto has = [&](std::string_view word) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const auto& one) { return squeezed(header[one.index]) == word; });
  };
  if (has("id") && (has("sisuserid") || has("sisloginid") || has("integrationid")))
    for (std::size_t i = 0; i < header.size(); ++i)
      if (squeezed(header[i]) == "id") columns.push_back({i, kHeaders.size(), Column::kCanvas, {}});
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
          row.id = shown(cell);
        else
          row.aliases.push_back(shown(cell));
        // Moodle's "Participant 123" is the 123 of its folders.
        if (cell.starts_with("Participant ")) {
          row.aliases.push_back(shown(cell.substr(12)));
          row.numbers.emplace_back("moodle", row.aliases.back());
        }
        break;
      case Column::kAlias:
        row.aliases.push_back(shown(cell));
        break;
      case Column::kCanvas:
        row.numbers.emplace_back("canvas", shown(cell));
        break;
      case Column::kName:
        if (row.name.empty()) row.name = shown(cell);
        break;
      case Column::kFirst:
        first = shown(cell);
        break;
      case Column::kLast:
        last = shown(cell);
        break;
      case Column::kEmail:
        if (row.email.empty()) row.email = shown(cell);
        break;
      case Column::kSection:
        row.section = shown(cell);
        break;
      case Column::kGroup:
        row.groups.push_back({column.lab, shown(cell)});
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
  Names numbers;  // "canvas 4711"

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
    for (const auto& [platform, number] : row.numbers) numbers.add(platform + " " + number, i);
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
  std::set<std::string> ids;
  for (const RosterRow& row : *people) {
    if (!ids.insert(folded(row.id)).second) {
      return base::Error{base::ErrorKind::kInput, file_name,
                         "two students have the id \"" + shown(row.id) + "\"",
                         "one row for each id, in any case of letters", "remove one of them"};
    }
  }
  return of(*std::move(people));
}

Roster Roster::of(std::vector<RosterRow> rows) {
  Roster roster;
  roster.rows_ = std::move(rows);
  roster.index_ = std::make_shared<const Index>(roster.rows_);
  return roster;
}

const RosterRow* Roster::find(std::string_view word) const {
  if (index_ == nullptr) return nullptr;
  const std::string exact = shown(word);
  std::set<std::size_t> found = index_->ids.rows(exact);
  if (found.empty()) found = index_->others.rows(exact);
  return found.size() == 1 ? &rows_[*found.begin()] : nullptr;
}

std::vector<const RosterRow*> Roster::all_alike(std::string_view word) const {
  std::vector<const RosterRow*> all;
  if (index_ != nullptr)
    for (const std::size_t row : index_->alike(word)) all.push_back(&rows_[row]);
  return all;
}

const RosterRow* Roster::find_alike(std::string_view word) const {
  const auto found = all_alike(word);
  return found.size() == 1 ? found.front() : nullptr;
}

const RosterRow* Roster::find_number(const std::string& platform, const std::string& number) const {
  if (index_ == nullptr || number.empty()) return nullptr;
  const auto found = index_->numbers.rows(platform + " " + number);
  return found.size() == 1 ? &rows_[*found.begin()] : nullptr;
}

const Groups::Group* Groups::of(const std::string& student) const {
  const auto found = by_student_.find(student);
  return found == by_student_.end() ? nullptr : &groups_.at(found->second);
}

const Groups::Group* Groups::named(const std::string& name) const {
  const auto found = groups_.find(folded(name));
  return found == groups_.end() ? nullptr : &found->second;
}

Groups Roster::groups_in(const std::string& lab, const std::vector<course::Lab>& labs) const {
  std::map<std::string, bool> is_meant;  // by the column's words, of which there are few
  const auto is_of_lab = [&](const std::string& words) {
    const auto [known, is_new] = is_meant.try_emplace(words, false);
    if (is_new) {
      const auto meant = lab_meant(words, labs, "the roster");
      known->second = meant && *meant == lab;
    }
    return known->second;
  };
  Groups all;
  for (const RosterRow& row : rows_) {
    const std::string *own = nullptr, *everywhere = nullptr;
    for (const SubmittedCell& cell : row.groups) {
      if (cell.lab.empty())
        everywhere = &cell.text;
      else if (is_of_lab(cell.lab))
        own = &cell.text;
    }
    if (own == nullptr) own = everywhere;
    if (own == nullptr) continue;
    const std::string key = folded(*own);
    if (key.empty()) continue;
    Groups::Group& group = all.groups_[key];
    if (group.members.empty()) group.name = *own;
    group.members.push_back(&row);
    all.by_student_[row.id] = key;
  }
  return all;
}

bool Roster::has_group(const std::string& group) const {
  const std::string wanted = folded(group);
  return !wanted.empty() && std::any_of(rows_.begin(), rows_.end(), [&](const RosterRow& row) {
    return std::any_of(row.groups.begin(), row.groups.end(),
                       [&](const SubmittedCell& cell) { return folded(cell.text) == wanted; });
  });
}

std::string name_key(std::string_view name) { return joined_words(name); }

bool name_occurs(std::string_view name, std::string_view other) {
  const std::string text = squeezed(other);
  for (const std::string& word : words_of(name))
    if (word.size() > 1 && text.find(squeezed(word)) != std::string::npos) return true;
  return false;
}

}  // namespace membound::intake
