// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "grader/base/digest.hpp"
#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/classroom/gradebook/page_words.hpp"
#include "grader/classroom/gradebook/templates.hpp"

namespace membound::gradebook {
namespace {

using nlohmann::json;

/// Without the salt, a digest of each id of a class would give the names away.
std::string hidden_name(const std::string& student, const std::string& salt) {
  return "Warp " + base::hmac_sha256(salt, student).substr(0, 6);
}

json rows_of(const LabGrades& lab, Names names, const std::string& salt) {
  std::vector<const course::Grade*> passed;
  for (const course::Grade* grade : lab.grades)
    if (grade->verdict == course::GradeVerdict::kPass && grade->ratio) passed.push_back(grade);
  std::stable_sort(
      passed.begin(), passed.end(),
      [](const course::Grade* a, const course::Grade* b) { return *a->ratio > *b->ratio; });
  json rows = json::array();
  std::size_t rank = 0;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const std::string ratio = ratio_text(passed[i]->ratio);
    if (i == 0 || ratio != ratio_text(passed[i - 1]->ratio)) rank = i + 1;  // equals share a rank
    rows.push_back({{"rank", std::to_string(rank)},
                    {"who", names == Names::kShown ? shown_student(*passed[i])
                                                   : hidden_name(passed[i]->student, salt)},
                    {"ratio", ratio}});
  }
  return rows;
}

/// Where everybody has the same ratio nobody is first.
bool all_are_equal(const json& rows) { return rows.size() > 1 && rows.back()["rank"] == "1"; }

}  // namespace

Page leaderboard(const Class& all, Names names, const std::string& salt) {
  json labs = json::array();
  for (const LabGrades& lab : by_lab(all.grades))
    if (json rows = rows_of(lab, names, salt); !rows.empty())
      labs.push_back({{"title", lab.title},
                      {"are_equal", all_are_equal(rows)},
                      {"differ", !all_are_equal(rows)},
                      {"rows", std::move(rows)}});
  return {"leaderboard.html",
          filled("leaderboard", {{"title", all.title + ": leaderboard"}, {"labs", labs}})};
}

}  // namespace membound::gradebook
