// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// When a platform says that something was handed in: Moodle's grading worksheet, Gradescope's
/// scores, GitHub Classroom's grades (the push), Canvas's submissions as its interface gives them
/// out (JSON), or any table with a student, a time and a lab. A student cannot write any of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/calendar.hpp"
#include "grader/classroom/intake/roster.hpp"
#include "grader/course/lab.hpp"

namespace membound::intake {

/// One of them.
struct TimeRecord {
  std::vector<std::string> words;  ///< ids, logins, email, name: the surest first
  std::string lab;                 ///< empty: the only lab that is taken in
  int attempt = 0;                 ///< 0: the one that counts last
  std::int64_t time = 0;
  std::string platform = {}, number = {};  ///< of a platform that numbers people; one of the words
};

/// Records of a file. `lab` is the only lab it can be of; nothing: a column of it says. Times
/// without an offset are `zone`'s.
[[nodiscard]] base::Result<std::vector<TimeRecord>> read_time_records(
    std::string_view text, const std::string& file_name, const std::optional<std::string>& lab,
    const std::vector<course::Lab>& labs, const Zone& zone = {});

/// What the roster's columns "submitted_at LAB" and "submitted_at" say.
[[nodiscard]] base::Result<std::vector<TimeRecord>> roster_records(
    const Roster& roster, const std::optional<std::string>& lab,
    const std::vector<course::Lab>& labs, const Zone& zone = {});

/// Finds records by student, lab and attempt.
class TimeIndex {
 public:
  /// `records` must outlive it.
  explicit TimeIndex(const std::vector<TimeRecord>& records);

  /// When whoever is known under `words`, the surest first, handed in the attempt; `last`: no later
  /// one is there. Nothing where no word is known, or a word means several people.
  [[nodiscard]] std::optional<std::int64_t> time_of(const std::vector<std::string>& words,
                                                    const std::string& lab, int attempt,
                                                    bool last) const;

 private:
  std::map<std::string, std::vector<const TimeRecord*>> by_word_;
};

}  // namespace membound::intake
