// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/intake.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/submitted_names.hpp"

namespace membound::intake {
namespace {

/// The owner of one item.
struct Owner {
  std::string student, name, email;
  std::optional<std::string> refused;  ///< two different names that mean one student
  std::string note;                    ///< "not in the roster"
};

/// A row of the roster and how surely it was meant.
struct Match {
  const RosterRow* row = nullptr;
  bool exact = false;
};

/// Parts of a folder's name between '_', '-', '.' and spaces: "alice_03-transpose" holds "alice".
std::vector<std::string> tokens(const std::string& key) {
  std::vector<std::string> all;
  std::string token;
  for (const char c : key + "_") {
    if (c == '_' || c == '-' || c == '.' || c == ' ') {
      if (!token.empty()) all.push_back(token);
      token.clear();
    } else {
      token += c;
    }
  }
  return all;
}

Match match_of(const Item& item, const Roster& roster) {
  // Byte by byte: a twin in another normal form is not the id.
  const RosterRow* const exact = roster.find(item.key);
  if (exact != nullptr && (item.key_is_id || item.raw_key == item.key)) return {exact, true};
  for (const std::string& word : item.words)
    if (const RosterRow* row = word.empty() ? nullptr : roster.find(word)) return {row, true};
  if (const RosterRow* row = roster.find_alike(item.key)) return {row, false};
  for (const std::string& word : item.words)
    if (const RosterRow* row = word.empty() ? nullptr : roster.find_alike(word))
      return {row, item.key_is_id};
  if (item.key_is_id) return {};
  const RosterRow* found = nullptr;
  for (const std::string& token : tokens(item.key)) {
    const RosterRow* const row = roster.find(token);
    if (row != nullptr && found != nullptr && row != found) return {};
    if (row != nullptr) found = row;
  }
  return {found, false};
}

Owner owner_of(const Item& item, const Match& match, bool has_roster) {
  Owner owner;
  if (match.row != nullptr) {
    owner.student = match.row->id;
    owner.name = match.row->name.empty() ? item.name : match.row->name;
    owner.email = match.row->email.empty() ? item.email : match.row->email;
    return owner;
  }
  owner.student = shown(item.key);
  owner.name = item.name;
  owner.email = item.email;
  if (has_roster) owner.note = "not in the roster";
  return owner;
}

/// One owner for each item, in their order. With a roster its id is the identity; a name that is
/// exactly an id, login or email goes before one that only looks like it. Without a roster names
/// that differ only in case or in forms of letters are refused, all of them.
std::vector<Owner> owners_of(const std::vector<Item>& items, const Roster& roster) {
  std::vector<Match> matches;
  std::vector<Owner> owners;
  // The names under which each student appears, surely meant ones apart.
  std::map<std::string, std::set<std::string>> sure, all;
  for (const Item& item : items) {
    matches.push_back(match_of(item, roster));
    owners.push_back(owner_of(item, matches.back(), !roster.empty()));
    const std::string who = folded(owners.back().student);
    all[who].insert(item.raw_key);
    if (matches.back().exact) sure[who].insert(item.raw_key);
  }
  std::map<std::string, int> twins;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string who = folded(owners[i].student);
    if (all[who].size() < 2 || matches[i].exact) continue;
    owners[i].refused = "\"" + shown(items[i].key) +
                        "\" and another name both mean the student \"" + shown(owners[i].student) +
                        "\"; a roster with exact ids tells them apart";
    // A row of its own, so that it never counts as an attempt of the one it looks like.
    const int number = ++twins[who];
    owners[i].student = shown(items[i].key) + " (look-alike " + std::to_string(number) + ")";
    owners[i].name.clear();
    owners[i].email.clear();
  }
  return owners;
}

/// Where an item was found.
struct Origin {
  std::string name, path;  ///< of the source: for people, and absolute
  Layout layout = Layout::kPlain;
};

/// The innermost part that names a lab.
std::optional<std::string> lab_of_path(const std::vector<std::string>& inner,
                                       const std::vector<course::Lab>& labs) {
  for (auto part = inner.rbegin(); part != inner.rend(); ++part)
    if (const auto lab = lab_named(*part, labs)) return lab;
  return std::nullopt;
}

/// "kernel.cu" before others, then what lies less deep.
std::tuple<bool, std::size_t> preference(const ItemFile& file) {
  std::string name = folded(file.inner.back());
  // Canvas writes "kernel-2.cu" for the second kernel.cu.
  if (name.starts_with("kernel-") &&
      name.find_first_not_of("0123456789", 7) == name.size() - std::string(".cu").size())
    name = "kernel.cu";
  return {name != "kernel.cu", file.inner.size()};
}

/// Turns the items of one source into submissions.
class Sorting {
 public:
  Sorting(const IntakeRequest& request, Intake& intake) : request_(request), intake_(intake) {}

  void add(const Item& item, const Owner& owner, const Origin& from) {
    Submission base;
    base.source = from.path;
    if (item.key_is_id && (from.layout == Layout::kCanvas || from.layout == Layout::kMoodle)) {
      base.platform = to_string(from.layout);
      base.platform_id = item.key;
    }
    base.student = owner.student;
    base.name = shown(owner.name);
    base.email = shown(owner.email);
    base.note = owner.note;
    base.origin = shown(from.name + "/" + item.origin);
    base.time = item.time;
    base.time_is_record = item.time_is_record;
    base.marked_late = item.marked_late;
    base.attempt = item.order;
    base.words = item.words;
    base.words.push_back(item.key);
    if (owner.refused) {
      refuse(base, lab_or_unknown(item), *owner.refused);
      return;
    }
    // Of an archive that was refused some members may have been read; none of them counts.
    for (const ItemFile& file : item.files) {
      if (!file.entry->problem || file.entry->is_source() || !is_archive_name(file.entry->name()))
        continue;
      refuse(base, lab_or_unknown(item),
             "\"" + path_of(file) + "\" is refused: " + *file.entry->problem);
      return;
    }
    std::map<std::string, std::vector<const ItemFile*>> by_lab;
    const ItemFile* other = nullptr;  // of a lab that is not graded now
    for (const ItemFile& file : item.files) {
      if (!file.entry->is_source()) continue;
      if (const auto lab = lab_of(file))
        by_lab[*lab].push_back(&file);
      else
        other = &file;
    }
    for (const auto& [lab, files] : by_lab) choose(base, lab, files);
    if (by_lab.empty() && other != nullptr)
      absent(base, request_.lab, "nothing submitted for it; found: " + path_of(*other));
    else if (by_lab.empty())
      nothing_usable(base, item);
  }

 private:
  /// Nothing where only another lab is graded.
  [[nodiscard]] std::optional<std::string> lab_of(const ItemFile& file) const {
    const auto named = lab_of_path(file.inner, request_.labs);
    const auto& by_kernels = file.entry->labs;
    if (request_.lab) {
      const bool others =
          named ? *named != *request_.lab
                : !by_kernels.empty() && std::find(by_kernels.begin(), by_kernels.end(),
                                                   *request_.lab) == by_kernels.end();
      return others ? std::nullopt : request_.lab;
    }
    if (named) return named;
    if (!by_kernels.empty()) return by_kernels.front();
    return kUnknownLab;
  }

  /// For messages: two files may have one name.
  static std::string path_of(const ItemFile& file) {
    std::string path;
    for (const std::string& part : file.inner) path += (path.empty() ? "" : "/") + shown(part);
    return path;
  }

  [[nodiscard]] std::string lab_or_unknown(const Item& item) const {
    for (const ItemFile& file : item.files)
      if (file.entry->is_source())
        if (const auto lab = lab_of(file)) return *lab;
    return request_.lab.value_or(kUnknownLab);
  }

  void refuse(Submission submission, const std::string& lab, const std::string& why) {
    submission.lab = lab;
    submission.refused = why;
    intake_.submissions.push_back(std::move(submission));
  }

  void choose(Submission submission, const std::string& lab, std::vector<const ItemFile*> files) {
    const bool refuses_twins = !base::switched_off("intake.twins");
    // A name twice, also as "Kernel.cu" and "kernel.cu": nobody can say which one was meant.
    std::map<std::string, std::set<std::string>> contents;
    for (const ItemFile* file : files) {
      if (file->entry->problem) {
        refuse(submission, lab, "\"" + path_of(*file) + "\" is refused: " + *file->entry->problem);
        return;
      }
      std::string path;
      for (const std::string& part : file->inner) path += folded(part) + "/";
      contents[path].insert(file->entry->sha256);
    }
    for (const auto& [path, digests] : contents) {
      if (digests.size() < 2 || !refuses_twins) continue;
      refuse(submission, lab,
             "\"" + shown(path.substr(0, path.size() - 1)) + "\" is there twice, and not the same");
      return;
    }
    const auto best = std::min_element(
        files.begin(), files.end(),
        [](const auto* a, const auto* b) { return preference(*a) < preference(*b); });
    for (const ItemFile* file : files) {
      if (refuses_twins && preference(*file) == preference(**best) &&
          file->entry->sha256 != (*best)->entry->sha256) {
        refuse(submission, lab,
               "two files could be the submission: \"" + path_of(**best) + "\" and \"" +
                   path_of(*file) + "\"; hand in one kernel.cu");
        return;
      }
    }
    if (lab == kUnknownLab) {
      refuse(submission, lab,
             "nothing tells which lab it is for: neither a folder's name nor the kernels in it");
      return;
    }
    submission.lab = lab;
    submission.sha256 = (*best)->entry->sha256;
    intake_.submissions.push_back(std::move(submission));
  }

  void nothing_usable(const Submission& base, const Item& item) {
    std::string found;
    for (const ItemFile& file : item.files) {
      if (found.size() > 80) break;
      if (!is_litter(file.inner.back()) && !file.entry->is_empty_folder)
        found += (found.empty() ? "" : ", ") + shown(file.inner.back(), 60);
    }
    if (found.empty()) {
      std::optional<std::string> lab = request_.lab;
      for (const ItemFile& file : item.files)
        if (!lab) lab = lab_of_path(file.inner, request_.labs);
      absent(base, lab, "nothing submitted: the folder is empty");
      return;
    }
    refuse(base, request_.lab.value_or(kUnknownLab), "no kernel.cu in it; found: " + found);
  }

  void absent(const Submission& base, const std::optional<std::string>& lab,
              const std::string& note) {
    intake_.absent.push_back(
        {base.student, base.name, base.email, base.source, base.origin, lab, note});
  }

  const IntakeRequest& request_;
  Intake& intake_;
};

/// Adds what `item`, which is `owner`'s, holds: a submission or a refusal for each lab, or an
/// absence.
void add_submissions(const Item& item, const Owner& owner, const Origin& from,
                     const IntakeRequest& request, Intake& intake) {
  Sorting(request, intake).add(item, owner, from);
}

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
