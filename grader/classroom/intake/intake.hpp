// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From what was exported to a list of submissions: who, which lab, which attempt, which file. A
/// bad item is a submission with a reason why it is refused; the others go on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/archive.hpp"
#include "grader/classroom/intake/layout.hpp"
#include "grader/classroom/intake/roster.hpp"
#include "grader/classroom/intake/time_records.hpp"
#include "grader/course/lab.hpp"

namespace membound::intake {

/// A submission whose lab nothing tells.
inline constexpr const char* kUnknownLab = "unknown";

/// Which of several attempts of one student counts.
enum class AttemptPolicy { kLatest, kBest };

struct IntakeRequest {
  std::vector<std::filesystem::path> sources;
  std::vector<course::Lab> labs;    ///< all of the course
  std::optional<std::string> lab;   ///< the only one that is graded; nothing: whichever is found
  Roster roster;                    ///< may be empty
  std::vector<PeopleTable> people;  ///< what platforms' tables know of the same students
  Zone zone;                        ///< of the roster's times
  bool group_folders = false;       ///< a folder "a_b" is a group of two
  std::string student;              ///< not empty: all sources together are this student's alone
  std::optional<Layout> layout;     ///< nothing: detected
  std::optional<AttemptPolicy> attempts;  ///< nothing: as the course's rules say, else the latest
  std::vector<TimeRecord> times;          ///< the platform's; they go before every other time
  std::filesystem::path out;              ///< the store is made in it
  ArchiveLimits limits;                   ///< of one student's archive
};

/// One file to grade, or to refuse.
struct Submission {
  std::string student;                ///< the roster's id, else as the layout names them
  std::string name, email;            ///< may be empty
  std::string platform, platform_id;  ///< "canvas" or "moodle", and its number for the student
  std::string section, group;         ///< may be empty
  std::string unmatched;              ///< why nobody of the roster is known to be the author
  std::vector<std::string> may_be;    ///< ids of the roster that may be it
  std::string lab;                    ///< kUnknownLab where nothing tells
  std::string source;                 ///< absolute path of the folder or archive that it came in
  std::string origin;                 ///< for people: where it was found, with harmless characters
  std::string sha256;                 ///< in the store; where refused, that of what was found or ""
  std::int64_t time = 0;              ///< when it was handed in; 0: not known
  bool time_is_record = false;  ///< the platform says so; else a file does, which anybody can date
  bool marked_late = false;     ///< by the learning system
  int attempt = 1;              ///< of this student and lab, from 1
  std::vector<std::string> words;      ///< what else names the student: login, folder
  std::optional<std::string> refused;  ///< why it is not graded
  std::string note;                    ///< what a person should know; may be empty
};

/// Somebody who has a folder, or work for other labs, and nothing for this one.
struct Absent {
  std::string student, name, email, source, origin;
  std::optional<std::string> lab;  ///< nothing: for no lab at all
  std::string note;                ///< what was found instead
};

/// Everything that was handed in.
struct Intake {
  std::vector<Submission> submissions;  ///< by student, lab and attempt
  std::vector<Absent> absent;           ///< may name who handed something in elsewhere
  std::vector<std::string> notes;       ///< about the whole
  Roster roster;                        ///< the request's, joined with its tables
};

/// Reads all sources. An error means that a source or the store cannot be read or written at all.
[[nodiscard]] base::Result<Intake> take_in(const IntakeRequest& request);

}  // namespace membound::intake
