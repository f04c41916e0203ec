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
  std::string with = {};   ///< "the published answer", "an earlier term"; empty: with one another
};

/// What a person wrote beside a line of a student's text.
struct LineComment {
  std::string student, lab;
  int line = 0;
  std::string source;  ///< the line itself
  std::string text;
  bool is_old = false;  ///< the line is of a text that no longer counts
};

/// Somebody asked for a verdict to be looked at again.
struct Request {
  std::string student, lab, reason, decision;
};

/// What stays of a lab of somebody who was removed from the course.
struct ForgottenGrade {
  std::string lab;
  std::optional<double> score;
};

/// A class: a grade for each student and lab, and what was found between them.
struct Class {
  std::string title = "Class";
  std::vector<course::Grade> grades;
  std::vector<Likeness> likenesses;
  std::map<std::string, double> worth =
      {};                                  ///< points of labs that count otherwise than they add up
  course::Counting counting = {};          ///< how labs become totals
  std::vector<LineComment> comments = {};  ///< by student, lab and line
  std::vector<Request> requests = {};      ///< that were answered last
  std::vector<ForgottenGrade> forgotten = {};
  std::map<std::string, std::string> sections = {};  ///< by student; empty: the class has none
  /// A line of a submission by its digest, empty where there is none; may be empty itself.
  std::function<std::string(const std::string& submission_sha256, int line)> source_line = {};
  /// The write-up in a text that was handed in; empty without one.
  std::function<std::string(const std::string& submission_sha256)> write_up = {};
};

/// One file to write, below the folder of the report.
struct Page {
  std::filesystem::path name;
  std::string html;
};

/// "index.html": what needs a person and why, who has nothing, what went wrong most often, how each
/// lab is distributed, the slowest and the dearest texts, and everybody's points in every lab.
[[nodiscard]] Page class_page(const Class& all);

/// Whom a pseudonym stands for.
struct Pseudonym {
  std::string shown;  ///< "Student 3f9a01"
  std::string name, email;
};

/// Takes names, addresses, ids and paths out of the class; the ids become pseudonyms, which the
/// salt makes the same in each report. Who is who, by id. What students wrote themselves stays.
std::map<std::string, Pseudonym> make_anonymous(Class& all, const std::string& salt);

/// The sections of the class by name.
[[nodiscard]] std::vector<std::string> sections_of(const Class& all);

/// The section's own class page, from the class page; its other pages lie beside it.
[[nodiscard]] std::string page_of_section(const std::string& section);

/// The part of the class that is one section's; likenesses with others name these, too.
[[nodiscard]] Class of_section(const Class& all, const std::string& section);

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
