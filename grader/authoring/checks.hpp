// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The single checks that check_lab() is made of. Each takes a lab and the course's root and adds
/// what it finds; none stops at the first drift.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "grader/authoring/drift.hpp"
#include "grader/course/lab.hpp"

namespace membound::authoring {

using Drifts = std::vector<Drift>;

/// Where the three folders of a lab are.
struct LabFolders {
  std::filesystem::path root, lab, solution, handout;
  LabFolders(const course::Lab& lab, const std::filesystem::path& root);
  /// `file` as a message shows it: relative to the root.
  [[nodiscard]] std::string shown(const std::filesystem::path& file) const;
};

/// Every lab has the same files, no more and no fewer. A host-code lab may do without a reference.
void check_files(const course::Lab& lab, const LabFolders& folders, Drifts& drifts);

/// The skeleton has TODOs, each with the number of lines it takes, for every stage; solving it only
/// adds lines: all its other lines stand in the solution in the same order.
void check_skeleton(const course::Lab& lab, const LabFolders& folders, Drifts& drifts);

/// The names of a lab's tests: its own (LAB_TEST in test.cpp, or the rows of a host-code lab's
/// kTests) and the harness's, or those that a host-code lab's demands become.
[[nodiscard]] std::set<std::string> test_names(const course::Lab& lab, const LabFolders& folders);

/// Every hint tag in test.cpp has three tiers in lab.json, and every tag of lab.json is used by a
/// test or belongs to the harness's own.
void check_hints(const course::Lab& lab, const LabFolders& folders, Drifts& drifts);

/// Bars on counters name counters that no model had a hand in, and hints that are there.
void check_counter_bars(const course::Lab& lab, const LabFolders& folders, Drifts& drifts);

/// At least three wrong answers a stage; each is named `<stage>-<words>.cu` and opens with its
/// stage, the test it must fail, which exists, and why.
void check_wrong_answers(const course::Lab& lab, const LabFolders& folders, Drifts& drifts);

/// Each experiment is in a section of the handout, which says how it is run.
void check_experiments(const LabFolders& folders, Drifts& drifts);

/// Links and figures resolve, figures are well-formed SVG and all are shown, snippets are equal to
/// what they quote.
void check_handout(const LabFolders& folders, Drifts& drifts);

}  // namespace membound::authoring
