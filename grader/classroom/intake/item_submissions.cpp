// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/item_submissions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/classroom/intake/lab_names.hpp"
#include "grader/classroom/intake/student_names.hpp"

namespace membound::intake {
namespace {

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

}  // namespace

void add_submissions(const Item& item, const Owner& owner, const Origin& from,
                     const IntakeRequest& request, Intake& intake) {
  Sorting(request, intake).add(item, owner, from);
}

}  // namespace membound::intake
