// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whose file is it, and for which lab? The forms in which learning systems export what was handed
/// in.
///
///   plain        alice/kernel.cu  alice/03-transpose/kernel.cu  alice.cu  alice.zip
///   canvas       doejane_12345_67890_kernel.cu   doejane_LATE_12345_67891_kernel-1.cu
///   moodle       Jane Doe_123_assignsubmission_file_/kernel.cu   (or all in the file's name)
///   gradescope   submission_123/kernel.cu beside submission_metadata.yml
///   github       ASSIGNMENT-USER/kernel.cu, clones with a .git
/// Each may lie in one more folder.
/// Who stands behind the folders of a Gradescope export its submission_metadata.yml says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/course/lab.hpp"

namespace membound::intake {

enum class Layout { kPlain, kCanvas, kMoodle, kGradescope, kGithub };

[[nodiscard]] std::string_view to_string(Layout layout);
[[nodiscard]] std::optional<Layout> layout_from_string(std::string_view text);

/// One file of one student.
struct ItemFile {
  const Entry* entry = nullptr;
  std::vector<std::string> inner;       ///< its path without what names the student
  std::optional<std::string> lab = {};  ///< that the innermost part which names one means
};

/// What one student handed in at one time.
struct Item {
  std::string key;      ///< the student as this layout names them: an id, or a folder's name
  std::string raw_key;  ///< byte by byte as found
  std::vector<std::string> words;  ///< what else may name the student: email, login
  std::string name, email;
  std::string group;            ///< of the platform's record, whose members have an item each
  std::string origin;           ///< for people: "class.zip/alice"
  int order = 0;                ///< as the layout numbers attempts; 0: it does not
  std::int64_t time = 0;        ///< when it was handed in; 0: not known
  bool time_is_record = false;  ///< the platform says so; else a file does, which anybody can date
  bool marked_late = false;     ///< by the learning system
  bool key_is_id = false;       ///< the key is an identity, not a name somebody chose
  std::vector<ItemFile> files;
};

/// Whether an archive that lies alone in a folder holds a class, and not one student's work: it has
/// a learning system's layout, or names what `is_student` knows; else, where the archive's own name
/// is no student, at least two names on top hold sources, and none of them is a lab's, an attempt's
/// or one that people give folders of their own ("src", "lab3", "kernel.cu").
[[nodiscard]] bool holds_class(const std::string& archive, const Entries& members,
                               const std::vector<course::Lab>& labs,
                               const std::function<bool(const std::string&)>& is_student);

/// The id of the lab that a name means: "03-transpose", "transpose", "lab03-transpose-final".
[[nodiscard]] std::optional<std::string> lab_named(const std::string& name,
                                                   const std::vector<course::Lab>& labs);

/// The same, and what a command takes: "3", "trans". An error that lists the labs where it means
/// none or several. `where` is for the message.
[[nodiscard]] base::Result<std::string> lab_meant(const std::string& name,
                                                  const std::vector<course::Lab>& labs,
                                                  const std::string& where);

/// What one source holds.
struct SourceItems {
  Layout layout = Layout::kPlain;
  std::vector<Item> items;  ///< by student and attempt, in the order of their names
};

/// By `layout`, or by the one that most names fit. Where `student` is named, everything is what
/// that student handed in at one time, and no item where there is nothing.
[[nodiscard]] SourceItems items_of(const Entries& entries, std::optional<Layout> layout,
                                   const std::string& student,
                                   const std::vector<course::Lab>& labs);

}  // namespace membound::intake
