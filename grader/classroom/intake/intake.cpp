// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/intake.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/item_submissions.hpp"
#include "grader/classroom/intake/store.hpp"
#include "grader/classroom/intake/student_names.hpp"
#include "grader/classroom/intake/students.hpp"

namespace membound::intake {
namespace {

namespace fs = std::filesystem;

/// Everything as what one student handed in at one time; nothing where there is nothing.
std::vector<Item> item_of(const Entries& entries, const std::string& student) {
  Item item;
  item.key = item.raw_key = item.origin = student;
  item.key_is_id = true;
  for (const Entry& entry : entries.files) item.files.push_back({&entry, entry.path});
  if (item.files.empty()) return {};
  return {std::move(item)};
}

/// How much of one student's archive is read.
ArchiveLimits limits_of(const IntakeRequest& request) {
  if (!base::switched_off("intake.caps")) return request.limits;
  constexpr auto kAny = std::numeric_limits<std::uint64_t>::max();
  return {.bytes = kAny, .entries = kAny, .ratio = 1e18, .file_bytes = kAny};
}

/// Numbers the attempts of each student and lab, and drops those that do not count.
void number_attempts(Intake& intake, AttemptPolicy policy) {
  auto& all = intake.submissions;
  std::stable_sort(all.begin(), all.end(), [](const Submission& a, const Submission& b) {
    return std::tie(a.student, a.lab, a.attempt, a.time) <
           std::tie(b.student, b.lab, b.attempt, b.time);
  });
  std::vector<Submission> kept;
  int number = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool first =
        i == 0 || all[i - 1].student != all[i].student || all[i - 1].lab != all[i].lab;
    number = first ? 1 : number + 1;
    const bool last =
        i + 1 == all.size() || all[i + 1].student != all[i].student || all[i + 1].lab != all[i].lab;
    if (policy == AttemptPolicy::kLatest && !last) continue;
    kept.push_back(all[i]);
    kept.back().attempt = number;
  }
  all = std::move(kept);
}

/// Puts the platform's times in the place of files' dates.
base::Status take_times(const IntakeRequest& request, Intake& intake) {
  auto records = roster_records(request.roster, request.lab, request.labs);
  if (!records) return records.error();
  for (TimeRecord record : request.times) {
    for (const std::string& word : record.words)
      if (const RosterRow* row = request.roster.find(word)) {
        record.words.insert(record.words.begin(), row->id);
        break;
      }
    records->push_back(std::move(record));
  }
  std::set<std::string> labs;
  for (const Submission& one : intake.submissions)
    if (one.lab != kUnknownLab) labs.insert(one.lab);
  const bool some_say_no_lab = std::any_of(records->begin(), records->end(),
                                           [](const auto& record) { return record.lab.empty(); });
  if (some_say_no_lab && labs.size() > 1) {
    return base::Error{base::ErrorKind::kInput, "submitted_at",
                       "a time for each student, and " + std::to_string(labs.size()) + " labs",
                       "a time for each student and lab",
                       "call the columns \"submitted_at LAB\", or choose one lab with --lab"};
  }
  const TimeIndex index(*records);
  auto& all = intake.submissions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool last =
        i + 1 == all.size() || all[i + 1].student != all[i].student || all[i + 1].lab != all[i].lab;
    std::vector<std::string> words = {all[i].student, all[i].email};
    words.insert(words.end(), all[i].words.begin(), all[i].words.end());
    words.push_back(all[i].name);
    if (const auto time = index.time_of(words, all[i].lab, all[i].attempt, last)) {
      all[i].time = *time;
      all[i].time_is_record = true;
    }
  }
  return base::Done{};
}

}  // namespace

base::Result<Intake> take_in(const IntakeRequest& request) {
  Intake intake;
  const Store store(request.out);
  const ArchiveLimits limits = limits_of(request);
  // Sources are read first and looked at together: one student may appear in several.
  std::vector<Entries> entries;
  for (const fs::path& source : request.sources) {
    const auto is_class = [&](const std::string& archive, const Entries& members) {
      if (!request.student.empty()) return false;
      const bool found = holds_class(archive, members, request.labs, request.roster);
      if (!found)
        intake.notes.push_back(shown(archive) +
                               " is taken for one student's; give the archive itself, not its "
                               "folder, where it holds a class");
      return found;
    };
    auto read = read_entries(source, request.labs, store, limits, is_class);
    if (!read) return read.error();
    entries.push_back(std::move(*read));
  }
  std::vector<Item> items;
  std::vector<Origin> from;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Layout layout = request.layout.value_or(detect(entries[i]));
    const std::string name = request.sources[i].filename().empty()
                                 ? request.sources[i].parent_path().filename().string()
                                 : request.sources[i].filename().string();
    auto found = request.student.empty() ? items_of(entries[i], layout, request.labs)
                                         : item_of(entries[i], request.student);
    intake.notes.push_back(shown(name) + ": " + std::to_string(found.size()) + " items, layout " +
                           std::string(to_string(layout)));
    for (Item& item : found) {
      items.push_back(std::move(item));
      std::error_code ignored;
      from.push_back({name, fs::weakly_canonical(request.sources[i], ignored).string(), layout});
    }
  }
  const auto owners = owners_of(items, request.roster);
  for (std::size_t i = 0; i < items.size(); ++i)
    add_submissions(items[i], owners[i], from[i], request, intake);
  number_attempts(intake, request.attempts.value_or(AttemptPolicy::kLatest));
  const auto timed = take_times(request, intake);
  if (!timed) return timed.error();
  return intake;
}

}  // namespace membound::intake
