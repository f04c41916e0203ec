// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/time_records.hpp"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/submitted_names.hpp"

namespace membound::intake {
namespace {

using nlohmann::json;

base::Error no_time(const std::string& where, const std::string& text) {
  return {base::ErrorKind::kInput, where, "\"" + shown(text, 60) + "\" is no time",
          "2026-11-30T23:59+01:00, 2026-11-30 23:59:59 UTC or Monday, 30 November 2026, 11:59 PM",
          "export the table in English, or write the times in the first form"};
}

/// A number or a text as text: ids are either.
std::string cell(const json& from, const char* key) {
  const auto found = from.find(key);
  if (found == from.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? std::to_string(found->get<std::int64_t>()) : "";
}

/// Canvas's list of submissions: user_id, submitted_at, attempt, and the user where it was asked
/// for. An earlier attempt stands in submission_history.
base::Status add_canvas(const json& one, const json& user, const std::string& lab,
                        const std::string& where, std::vector<TimeRecord>& records) {
  TimeRecord record;
  record.platform = "canvas";
  record.lab = lab;
  for (const char* key : {"id", "sis_user_id", "login_id", "name"})
    if (auto word = cell(user, key); !word.empty()) record.words.push_back(std::move(word));
  record.number = cell(one, "user_id");
  if (record.number.empty()) record.number = cell(user, "id");
  if (auto word = cell(one, "user_id"); !word.empty())
    record.words.insert(record.words.begin(), word);
  const std::string text = cell(one, "submitted_at"), attempt = cell(one, "attempt");
  if (text.empty() || record.words.empty()) return base::Done{};
  const auto time = parse_time(text);
  if (!time) return no_time(where, text);
  record.time = *time;
  std::from_chars(attempt.data(), attempt.data() + attempt.size(), record.attempt);
  records.push_back(std::move(record));
  return base::Done{};
}

base::Result<std::vector<TimeRecord>> canvas_records(std::string_view text,
                                                     const std::string& file_name,
                                                     const std::optional<std::string>& lab) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_array()) {
    return base::Error{base::ErrorKind::kInput, file_name, "is no JSON list",
                       "Canvas's submissions of one assignment",
                       "GET /api/v1/courses/…/assignments/…/submissions?include[]=user"};
  }
  std::vector<TimeRecord> records;
  for (const json& one : all) {
    if (!one.is_object()) continue;
    const json user = one.value("user", json::object());
    const json history = one.value("submission_history", json::array());
    for (const json& earlier : history) {
      if (!earlier.is_object()) continue;
      const auto added = add_canvas(earlier, user, lab.value_or(""), file_name, records);
      if (!added) return added.error();
    }
    if (!history.empty()) continue;  // it holds this one too
    const auto added = add_canvas(one, user, lab.value_or(""), file_name, records);
    if (!added) return added.error();
  }
  return records;
}

/// For the last attempt: the record of this lab before one of any, the last number, the last file.
bool goes_before(const TimeRecord& a, const TimeRecord& b) {
  const auto rank = [](const TimeRecord& one) {
    return std::pair(!one.lab.empty(),
                     one.attempt == 0 ? std::numeric_limits<int>::max() : one.attempt);
  };
  return rank(a) >= rank(b);
}

std::vector<std::string> words_of_row(const RosterRow& row) {
  std::vector<std::string> words = {row.id};
  words.insert(words.end(), row.aliases.begin(), row.aliases.end());
  for (const std::string& more : {row.email, row.name})
    if (!more.empty()) words.push_back(more);
  return words;
}

/// The records of one row; `where` is for messages.
base::Status add_row(const RosterRow& row, const std::optional<std::string>& lab,
                     const std::vector<course::Lab>& labs, const std::string& where,
                     const Zone& zone, std::vector<TimeRecord>& records) {
  for (const SubmittedCell& submitted : row.submitted) {
    TimeRecord record;
    record.words = words_of_row(row);
    if (!row.numbers.empty()) std::tie(record.platform, record.number) = row.numbers.front();
    const std::string& named = submitted.lab.empty() ? row.lab : submitted.lab;
    if (!named.empty() && (!lab || !submitted.lab.empty())) {
      const auto meant = lab_meant(named, labs, where);
      if (!meant) return meant.error();
      record.lab = *meant;
    } else {
      record.lab = lab.value_or("");
    }
    const auto time = parse_time(submitted.text, zone);
    if (!time) return no_time(where + ", " + shown(row.id, 60), submitted.text);
    record.time = *time;
    std::from_chars(row.attempt.data(), row.attempt.data() + row.attempt.size(), record.attempt);
    records.push_back(std::move(record));
  }
  return base::Done{};
}

}  // namespace

base::Result<std::vector<TimeRecord>> read_time_records(std::string_view text,
                                                        const std::string& file_name,
                                                        const std::optional<std::string>& lab,
                                                        const std::vector<course::Lab>& labs,
                                                        const Zone& zone) {
  const auto first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string_view::npos && text[first] == '[')
    return canvas_records(text.substr(first), file_name, lab);
  const auto people = read_people(text, file_name);
  if (!people) return people.error();
  std::vector<TimeRecord> records;
  for (const RosterRow& row : *people) {
    const auto added = add_row(row, lab, labs, file_name, zone, records);
    if (!added) return added.error();
  }
  if (!records.empty() || people->empty()) return records;
  return base::Error{base::ErrorKind::kInput, file_name, "no time of a submission in it",
                     "a column submitted_at, Submission Time, Last modified (submission) or "
                     "submission_timestamp",
                     "name the table that the platform gave out"};
}

base::Result<std::vector<TimeRecord>> roster_records(const Roster& roster,
                                                     const std::optional<std::string>& lab,
                                                     const std::vector<course::Lab>& labs,
                                                     const Zone& zone) {
  std::vector<TimeRecord> records;
  for (const RosterRow& row : roster.rows()) {
    const auto added = add_row(row, lab, labs, "the roster", zone, records);
    if (!added) return added.error();
  }
  return records;
}

TimeIndex::TimeIndex(const std::vector<TimeRecord>& records) {
  for (const TimeRecord& record : records) {
    std::set<std::string> own;
    for (const std::string& word : record.words) own.insert(folded(word));
    for (const std::string& word : own)
      if (!word.empty()) by_word_[word].push_back(&record);
  }
}

std::optional<std::int64_t> TimeIndex::time_of(const std::vector<std::string>& words,
                                               const std::string& lab, int attempt,
                                               bool last) const {
  for (const std::string& word : words) {
    const auto found = by_word_.find(folded(word));
    if (found == by_word_.end()) continue;
    std::set<std::string> people;
    const TimeRecord* best = nullptr;
    for (const TimeRecord* record : found->second) {
      if (!record->lab.empty() && record->lab != lab) continue;
      people.insert(record->words.front());
      // A platform may export the last of three attempts alone, which is our first.
      if (!last && record->attempt != attempt) continue;
      if (best == nullptr || goes_before(*record, *best)) best = record;
    }
    if (people.size() == 1 && best != nullptr) return best->time;
  }
  return std::nullopt;
}

}  // namespace membound::intake
