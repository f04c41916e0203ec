// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/tests/classroom/gradebook/small_class.hpp"

namespace membound::gradebook {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string html_of(std::vector<course::Grade> grades, Names names,
                    const std::string& salt = "secret") {
  return leaderboard({"GPU 2026", std::move(grades), {}}, names, salt).html;
}

TEST(Leaderboard, ListsTheFastestFirst) {
  const std::string html = html_of({passed("ada", 0.9), passed("grace", 1.1)}, Names::kShown);
  EXPECT_LT(html.find("grace"), html.find("ada"));
}

TEST(Leaderboard, EqualsShareARank) {
  const std::string html =
      html_of({passed("a", 0.9), passed("b", 0.9001), passed("c", 0.8)}, Names::kShown);
  EXPECT_THAT(html, Not(HasSubstr("<td class=\"number\">2</td>")));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">3</td><td>c</td>"));
}

TEST(Leaderboard, WhereAllAreEqualNobodyIsFirst) {
  const std::string equal = html_of({passed("a", 1), passed("b", 1.0001)}, Names::kShown);
  EXPECT_THAT(equal, HasSubstr("there are no ranks"));
  EXPECT_THAT(equal, Not(HasSubstr("<td class=\"number\">1</td>")));
  EXPECT_THAT(html_of({passed("a", 1)}, Names::kShown), Not(HasSubstr("there are no ranks")));
  EXPECT_THAT(html_of({passed("a", 1), passed("b", 0.9)}, Names::kShown),
              HasSubstr("<td class=\"number\">1</td>"));
}

TEST(Leaderboard, HasOnlyThoseWhoPassed) {
  const std::string html = html_of({slow("ada", 0.3), suspicious("grace")}, Names::kShown);
  EXPECT_THAT(html, Not(HasSubstr("ada")));
  EXPECT_THAT(html, HasSubstr("Nobody has passed"));
}

TEST(Leaderboard, HidesNamesBehindTheSalt) {
  const std::string html = html_of({passed("ada")}, Names::kHidden);
  EXPECT_THAT(html, Not(HasSubstr("ada")));
  EXPECT_THAT(html, Not(HasSubstr("secret")));
  EXPECT_EQ(html, html_of({passed("ada")}, Names::kHidden));
  EXPECT_NE(html, html_of({passed("ada")}, Names::kHidden, "other"));
}

}  // namespace
}  // namespace membound::gradebook
