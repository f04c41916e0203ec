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
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::intake {
namespace {

/// Where an item was found.
struct Origin {
  std::string name, path;  ///< of the source: for people, and absolute
  Layout layout = Layout::kPlain;
};

/// "kernel.cu" before others, then what lies less deep.
std::tuple<bool, std::size_t> preference(const ItemFile& file) {
  return {!is_file_called(file.inner.back(), course::kKernelFile), file.inner.size()};
}

/// The same work as a member's of the author's group.
Submission of(const RosterRow& member, const Submission& work) {
  Submission own = work;
  own.student = member.id;
  own.name = shown(member.name);
  own.email = shown(member.email);
  own.section = member.section;
  own.words = {member.id};
  own.unmatched.clear();
  own.may_be.clear();
  if (member.id == work.student) return own;
  own.platform.clear();
  own.platform_id.clear();
  if (!member.numbers.empty()) std::tie(own.platform, own.platform_id) = member.numbers.front();
  return own;
}

/// Turns the items of one source into submissions.
class Sorting {
 public:
  Sorting(const IntakeRequest& request, Intake& intake)
      : request_(request), intake_(intake), store_(request.out) {}

  void add(const Item& item, const Owner& owner, const Origin& from) {
    item_ = &item;
    group_folder_ = owner.group_folder;
    Submission base;
    base.source = from.path;
    if (item.key_is_id && (from.layout == Layout::kCanvas || from.layout == Layout::kMoodle)) {
      base.platform = to_string(from.layout);
      base.platform_id = item.key;
    }
    base.student = owner.student;
    base.name = shown(owner.name);
    base.email = shown(owner.email);
    base.section = owner.section;
    base.group = owner.group;
    base.unmatched = owner.unmatched;
    base.may_be = owner.may_be;
    base.origin = shown(from.name + "/" + item.origin);
    base.time = item.time;
    base.time_is_record = item.time_is_record;
    base.marked_late = item.marked_late;
    base.attempt = item.order;
    base.words = item.words;
    base.words.push_back(item.key);
    if (owner.refused) {
      base.words.clear();  // they would name the one whom it looks like
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
    const auto& named = file.lab;
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
    for (const std::string& part : file.inner) base::add_word(path, shown(part), "/");
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
    push(std::move(submission));
  }

  /// A folder that a group names is each member's, in the lab that the work is for.
  void push(Submission submission) {
    if (group_folder_.empty()) {
      intake_.submissions.push_back(std::move(submission));
      return;
    }
    const Groups groups = intake_.roster.groups_in(submission.lab, request_.labs);
    if (const Groups::Group* group = groups.named(group_folder_)) {
      submission.group = group->name;
      for (const RosterRow* member : group->members)
        intake_.submissions.push_back(of(*member, submission));
      return;
    }
    submission.unmatched = "not matched with the roster: nobody is in the group in this lab";
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
    if (const auto why = add_beside(lab, **best, submission, files)) {
      refuse(submission, lab, *why);
      return;
    }
    // A lab's time is that of its own files, whatever else lies beside them.
    if (!submission.time_is_record) {
      submission.time = 0;
      for (const ItemFile* file : files)
        submission.time = std::max(submission.time, file->entry->time);
    }
    push(std::move(submission));
  }

  /// Joins what the lab wants beside `kernel`, where it is there, and keeps that as the submission;
  /// adds it to `files`. Returns why it is refused, if it is.
  std::optional<std::string> add_beside(const std::string& lab, const ItemFile& kernel,
                                        Submission& submission,
                                        std::vector<const ItemFile*>& files) {
    const auto one = std::find_if(request_.labs.begin(), request_.labs.end(),
                                  [&](const course::Lab& each) { return each.id == lab; });
    std::map<std::string, std::string> beside;
    if (one == request_.labs.end()) return std::nullopt;
    for (const std::string& name : one->files_beside()) {
      const ItemFile* const file = beside_of(name, lab, kernel);
      if (file == nullptr) continue;
      if (file->entry->problem)
        return "\"" + path_of(*file) + "\" is refused: " + *file->entry->problem;
      for (const ItemFile* twin : candidates_beside(name, lab))
        if (twin->inner.size() == file->inner.size() && twin->entry->text != file->entry->text &&
            in_folder_of(*twin, kernel) == in_folder_of(*file, kernel))
          return "two files could be its " + name + ": \"" + path_of(*file) + "\" and \"" +
                 path_of(*twin) + "\"; hand in one";
      beside[name] = file->entry->text;
      files.push_back(file);
    }
    if (beside.empty()) return std::nullopt;
    const auto text = store_.get(submission.sha256);
    const auto kept = text ? store_.put(course::joined_submission(*text, beside)) : text;
    if (!kept) return "it cannot be kept: " + base::to_string(kept.error());
    submission.sha256 = *kept;
    return std::nullopt;
  }

  /// What the item holds of that name for the lab, or for none by name.
  [[nodiscard]] std::vector<const ItemFile*> candidates_beside(const std::string& name,
                                                               const std::string& lab) const {
    std::vector<const ItemFile*> found;
    for (const ItemFile& file : item_->files)
      if (file.entry->is_beside && is_file_called(file.inner.back(), name) &&
          file.lab.value_or(lab) == lab)
        found.push_back(&file);
    return found;
  }

  static bool in_folder_of(const ItemFile& file, const ItemFile& kernel) {
    return file.inner.size() == kernel.inner.size() &&
           std::equal(file.inner.begin(), file.inner.end() - 1, kernel.inner.begin());
  }

  /// The file of that name in the folder of `kernel`, else the least deep one; null if none.
  [[nodiscard]] const ItemFile* beside_of(const std::string& name, const std::string& lab,
                                          const ItemFile& kernel) const {
    const auto found = candidates_beside(name, lab);
    const auto best =
        std::min_element(found.begin(), found.end(), [&](const auto* a, const auto* b) {
          return std::tuple(!in_folder_of(*a, kernel), a->inner.size()) <
                 std::tuple(!in_folder_of(*b, kernel), b->inner.size());
        });
    return best == found.end() ? nullptr : *best;
  }

  void nothing_usable(const Submission& base, const Item& item) {
    std::string found;
    for (const ItemFile& file : item.files) {
      if (found.size() > 80) break;
      if (!is_litter(file.inner.back()) && !file.entry->is_empty_folder)
        base::add_word(found, shown(file.inner.back(), 60));
    }
    if (found.empty()) {
      std::optional<std::string> lab = request_.lab;
      for (const ItemFile& file : item.files)
        if (!lab) lab = file.lab;
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
  const Store store_;
  const Item* item_ = nullptr;
  std::string group_folder_;
};

/// Adds what `item`, which is `owner`'s, holds: a submission or a refusal for each lab, or an
/// absence.
void add_submissions(const Item& item, const Owner& owner, const Origin& from,
                     const IntakeRequest& request, Intake& intake) {
  Sorting(request, intake).add(item, owner, from);
}

namespace fs = std::filesystem;

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
  const Roster& roster = intake.roster;
  auto records = roster_records(request.roster, request.lab, request.labs, request.zone);
  if (!records) return records.error();
  for (TimeRecord record : request.times) {
    const Match match = match_of({record.platform, record.number, record.words}, roster);
    if (match.row != nullptr) {
      record.words = {match.row->id};
    } else if (!roster.empty() && !record.number.empty()) {
      // It may be the id of somebody else.
      std::erase(record.words, record.number);
    }
    if (!record.number.empty()) record.words.push_back(record.platform + " " + record.number);
    records->push_back(std::move(record));
  }
  std::set<std::string> labs;
  for (const Submission& one : intake.submissions)
    if (one.lab != kUnknownLab) labs.insert(one.lab);
  const bool some_say_no_lab = std::any_of(records->begin(), records->end(),
                                           [](const auto& record) { return record.lab.empty(); });
  if (some_say_no_lab && labs.size() > 1) {
    return base::Error{base::ErrorKind::kInput, "submitted_at",
                       "a time for each student, and " + base::counted(labs.size(), "lab"),
                       "a time for each student and lab",
                       "call the columns \"submitted_at LAB\", or choose one lab with --lab"};
  }
  const TimeIndex index(*records);
  auto& all = intake.submissions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool last =
        i + 1 == all.size() || all[i + 1].student != all[i].student || all[i + 1].lab != all[i].lab;
    std::vector<std::string> words = {all[i].student, all[i].email};
    if (!all[i].platform_id.empty()) words.push_back(all[i].platform + " " + all[i].platform_id);
    words.insert(words.end(), all[i].words.begin(), all[i].words.end());
    words.push_back(all[i].name);
    if (const auto time = index.time_of(words, all[i].lab, all[i].attempt, last)) {
      all[i].time = *time;
      all[i].time_is_record = true;
    }
  }
  return base::Done{};
}

/// The works of a group by time. Equal texts are one, which came when the first of them did; the
/// last alone where that counts.
std::vector<Submission> different_works(std::vector<Submission> works, AttemptPolicy policy) {
  std::stable_sort(works.begin(), works.end(), [](const Submission& a, const Submission& b) {
    return std::tie(a.time, a.attempt, a.sha256, a.student) <
           std::tie(b.time, b.attempt, b.sha256, b.student);
  });
  std::vector<Submission> different;
  for (Submission& work : works)
    if (std::none_of(different.begin(), different.end(), [&work](const Submission& one) {
          return one.sha256 == work.sha256 && one.refused == work.refused;
        }))
      different.push_back(std::move(work));
  if (policy == AttemptPolicy::kLatest) different.erase(different.begin(), different.end() - 1);
  return different;
}

/// What the members of a roster's group handed in for a lab, as each member's.
void share_in_groups(const IntakeRequest& request, AttemptPolicy policy, Intake& intake) {
  std::map<std::string, Groups> labs;
  std::map<const Groups::Group*, std::vector<Submission>> works;
  std::vector<Submission> rest;
  for (Submission& one : intake.submissions) {
    const auto [groups, is_new] = labs.try_emplace(one.lab);
    if (is_new) groups->second = intake.roster.groups_in(one.lab, request.labs);
    const Groups::Group* const group = groups->second.of(one.student);
    if (!one.unmatched.empty() || group == nullptr || group->members.size() < 2)
      rest.push_back(std::move(one));
    else
      works[group].push_back(std::move(one));
  }
  for (auto& [group, of_group] : works) {
    const std::vector<Submission> different = different_works(std::move(of_group), policy);
    for (const RosterRow* member : group->members)
      for (std::size_t i = 0; i < different.size(); ++i) {
        Submission own = of(*member, different[i]);
        own.group = group->name;
        own.attempt = static_cast<int>(i) + 1;
        if (member->id != different[i].student && different[i].group.empty())
          own.note = "handed in by " + different[i].student + " for the group " + group->name;
        rest.push_back(std::move(own));
      }
  }
  intake.submissions = std::move(rest);
  std::stable_sort(intake.submissions.begin(), intake.submissions.end(),
                   [](const Submission& a, const Submission& b) {
                     return std::tie(a.student, a.lab, a.attempt) <
                            std::tie(b.student, b.lab, b.attempt);
                   });
}

/// A group's column must name a lab.
base::Status check_groups(const Roster& roster, const std::vector<course::Lab>& labs) {
  std::set<std::string> seen;
  for (const RosterRow& row : roster.rows())
    for (const SubmittedCell& cell : row.groups)
      if (!cell.lab.empty() && seen.insert(cell.lab).second)
        if (const auto meant = lab_meant(cell.lab, labs, "the roster's column group " + cell.lab);
            !meant)
          return meant.error();
  return base::Done{};
}

}  // namespace

base::Result<Intake> take_in(const IntakeRequest& request) {
  Intake intake;
  intake.roster = joined(request.roster, request.people, intake.notes);
  const auto grouped = check_groups(intake.roster, request.labs);
  if (!grouped) return grouped.error();
  const Store store(request.out);
  const ArchiveLimits limits = limits_of(request);
  // Sources are read first and looked at together: one student may appear in several.
  std::vector<Entries> entries;
  for (const fs::path& source : request.sources) {
    const auto is_class = [&](const std::string& archive, const Entries& members) {
      if (!request.student.empty()) return false;
      const bool found = holds_class(archive, members, request.labs, [&](const std::string& name) {
        return intake.roster.names_student(name);
      });
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
    const std::string name = request.sources[i].filename().empty()
                                 ? request.sources[i].parent_path().filename().string()
                                 : request.sources[i].filename().string();
    auto found = items_of(entries[i], request.layout, request.student, request.labs);
    intake.notes.push_back(shown(name) + ": " + base::counted(found.items.size(), "item") +
                           ", layout " + std::string(to_string(found.layout)));
    for (Item& item : found.items) {
      items.push_back(std::move(item));
      std::error_code ignored;
      from.push_back(
          {name, fs::weakly_canonical(request.sources[i], ignored).string(), found.layout});
    }
  }
  std::vector<Layout> layouts;
  for (const Origin& one : from) layouts.push_back(one.layout);
  const auto owners = owners_of(items, layouts, intake.roster, request.group_folders);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (const Owner& owner : owners[i]) add_submissions(items[i], owner, from[i], request, intake);
  const AttemptPolicy policy = request.attempts.value_or(AttemptPolicy::kLatest);
  number_attempts(intake, policy);
  const auto timed = take_times(request, intake);
  if (!timed) return timed.error();
  share_in_groups(request, policy, intake);
  return intake;
}

}  // namespace membound::intake
