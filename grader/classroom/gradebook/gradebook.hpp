// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The class as pages of HTML: one for the instructor, one for each lab and student, a leaderboard.
/// Each is one file that needs no network, in light and dark. The same grades give the same bytes.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "grader/classroom/similarity/similarity.hpp"
#include "grader/course/grade.hpp"

namespace membound::gradebook {

/// Submissions to one lab that are alike.
struct Likeness {
  std::string lab;
  std::vector<std::string> students;
  double least_alike = 1;  ///< see similarity::Cluster
};

/// A class: a grade for each student and lab, and what was found between them.
struct Class {
  std::string title = "Class";
  std::vector<course::Grade> grades;
  std::vector<Likeness> likenesses;
  std::map<std::string, double> worth =
      {};  ///< points of labs that count otherwise than they add up
};

/// One file to write, below the folder of the report.
struct Page {
  std::filesystem::path name;
  std::string html;
};

/// "index.html": what a person must decide, and everybody's points in every lab.
[[nodiscard]] Page class_page(const Class& all);

/// "labs/<id>.html" for each lab: how it went, and everybody's verdict.
[[nodiscard]] std::vector<Page> lab_pages(const Class& all);

/// `take` gets "students/<id>.html" of each student, in the order of the grades, one at a time: a
/// large class's pages together are larger than its grades.
void for_each_student_page(const Class& all, const std::function<void(Page)>& take);

/// Whose names a leaderboard shows.
enum class Names {
  kHidden,  ///< "Warp 7": from the salt, so that nobody but the instructor can tell who it is
  kShown
};

/// "leaderboard.html": who of a lab comes nearest to the reference's speed or beats it. Only passed
/// submissions. `salt` makes the hidden names and is not on the page.
[[nodiscard]] Page leaderboard(const Class& all, Names names, const std::string& salt);

}  // namespace membound::gradebook
