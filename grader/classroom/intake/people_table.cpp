// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/people_table.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/course/json_io.hpp"

namespace membound::intake {
namespace {

using course::read_field;
using course::write_field;
using nlohmann::json;

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
  constexpr std::size_t kLongest = 1000;  // std::regex recurses over what it matches
  std::smatch match;
  if (header.size() > kLongest || !std::regex_match(header, match, pattern) ||
      squeezed(header) == "groupname")
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

/// A number or a text as text: ids are either.
std::string text_of(const json& from, const char* key) {
  const auto found = from.find(key);
  if (found == from.end()) return "";
  if (found->is_string()) return shown(found->get<std::string>());
  return found->is_number_integer() ? std::to_string(found->get<std::int64_t>()) : "";
}

/// The people of Canvas's list of submissions; nobody where it is no such list.
std::vector<RosterRow> canvas_people(const json& list) {
  std::vector<RosterRow> rows;
  if (!list.is_array()) return rows;
  for (const json& one : list) {
    if (!one.is_object()) continue;
    const json user = one.value("user", json::object());
    const json group = one.value("group", json::object());
    RosterRow row;
    std::string number = text_of(one, "user_id");
    if (number.empty() && user.is_object()) number = text_of(user, "id");
    if (number.empty()) continue;
    row.numbers.emplace_back("canvas", number);
    if (user.is_object()) {
      row.id = text_of(user, "sis_user_id");
      if (auto login = text_of(user, "login_id"); !login.empty()) row.aliases.push_back(login);
      row.name = text_of(user, "name");
      row.email = text_of(user, "email");
    }
    // Canvas says {"id": null, "name": null} of a student without a group.
    if (group.is_object())
      if (auto name = text_of(group, "name"); !name.empty()) row.groups.push_back({"", name});
    if (row.id.empty()) row.id = number;
    rows.push_back(std::move(row));
  }
  return rows;
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

base::Result<PeopleTable> read_people_table(std::string_view text, const std::string& file_name) {
  const auto slash = file_name.find_last_of('/');
  PeopleTable table{slash == std::string::npos ? file_name : file_name.substr(slash + 1), {}};
  const auto first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string_view::npos && text[first] == '[') {
    table.rows = canvas_people(json::parse(text.substr(first), nullptr, false));
    return table;
  }
  auto people = read_people(text, file_name);
  if (!people) return people.error();
  table.rows = *std::move(people);
  // Times are other records' business.
  for (RosterRow& row : table.rows) row.submitted.clear();
  return table;
}

MEMBOUND_JSON(SubmittedCell, lab, text)
MEMBOUND_JSON(RosterRow, id, name, email, aliases, numbers, section, groups)
MEMBOUND_JSON(PeopleTable, name, rows)

}  // namespace membound::intake
