// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Properties of any term: nobody's points depend on another student's existence or name, nor on
/// the order of archives and calls, nor on kills. Each term is drawn from a seed that is printed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;

/// One text that one student handed in.
struct Handed {
  int student, lab, wave;
  std::int64_t time;  ///< by the platform's record
  int points;
};

/// A term as it was drawn.
struct DrawnTerm {
  static constexpr int kStudents = 8, kLabs = 3, kWaves = 2;
  static constexpr std::int64_t kDay = 86400, kStart = 1790000000;

  std::vector<Handed> handed;
  std::vector<std::string> names;
  std::vector<int> group_of;  ///< 0: works alone
  std::string rules;
  std::vector<std::pair<int, double>> marks;  ///< of a student's first lab

  [[nodiscard]] static DrawnTerm of(unsigned seed) {
    std::mt19937 random(seed);
    const auto draw = [&random](int below) { return static_cast<int>(random() % below); };
    DrawnTerm term;
    for (int s = 0; s < kStudents; ++s) {
      term.names.push_back("Student " + std::to_string(s));
      term.group_of.push_back(s < 4 ? 1 + s / 2 : 0);
      for (int lab = 0; lab < kLabs; ++lab)
        for (int wave = 0; wave < kWaves; ++wave)
          // The first of all is there, so that each call has something to grade.
          if ((s == kStudents - 1 && wave == 0) || draw(3) > 0)
            term.handed.push_back({s, lab, wave,
                                   kStart + (7 * lab + wave) * kDay + draw(2 * 86400) - kDay / 2,
                                   draw(11)});
    }
    term.rules = std::string("zone: Etc/UTC\nattempts: ") + (draw(2) ? "best" : "latest") +
                 "\nlate: {percent_per_day: 20, most_percent: 70, late_days: 2}\nlabs:\n";
    for (int lab = 0; lab < kLabs; ++lab)
      term.rules += "  " + lab_id(lab) + ": {due: '" + intake::utc_text(kStart + 7 * lab * kDay) +
                    "', last_date: '" + intake::utc_text(kStart + (7 * lab + 2) * kDay) + "'}\n";
    if (draw(2)) term.rules += "limits: {attempts: " + std::to_string(1 + draw(2)) + "}\n";
    term.rules += "counting: {best: {count: 2}}\nextensions:\n  - {student: s" +
                  std::to_string(draw(kStudents)) + ", due: '" +
                  intake::utc_text(kStart + 9 * kDay) + "'}\n";
    for (int i = 0; i < 2; ++i) term.marks.emplace_back(draw(kStudents), draw(11));
    return term;
  }
  static std::string lab_id(int lab) {
    return lab == 0 ? "01-quick" : "0" + std::to_string(lab + 1) + "-lab" + std::to_string(lab + 1);
  }
};

/// How the same term may come to the grader.
struct Way {
  unsigned order = 0;    ///< seed of the order of calls, and of the archives of one; 0: as drawn
  int killed_after = 0;  ///< jobs of all calls before the grader is killed, once; 0: never
  std::set<int> without = {};  ///< students who are not there
};

OneOutcome grade_by_points(const OneRequest& request) {
  const auto text = base::read_file(request.source);
  int points = 0;
  EXPECT_EQ(std::sscanf(text->c_str() + text->find("points"), "points %d", &points), 1);
  OneOutcome outcome = fake_grade(request);
  course::Result result = outcome.grade.result;
  result.stages[0].points = points;
  result.stages[0].correct = true;
  result.stages[0].verdict = points == 10 ? course::Verdict::kPassed : course::Verdict::kSlow;
  outcome.grade.take(std::move(result), *request.lab);
  return outcome;
}

class RandomTerms : public testing::TestWithParam<unsigned> {
 protected:
  RandomTerms() : term_(DrawnTerm::of(GetParam())) {
    // Thousands of synced writes: in memory where there is such a file system.
    const fs::path memory = "/dev/shm";
    const bool has_memory = access(memory.c_str(), W_OK) == 0;
    std::string pattern =
        ((has_memory ? memory : fs::temp_directory_path()) / "membound-terms-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    make_fake_class(folder_, 0);
    course_ = fake_course(folder_);
    for (int lab = 1; lab < DrawnTerm::kLabs; ++lab)
      add_fake_lab(folder_, DrawnTerm::lab_id(lab), course_);
    setenv("SOURCE_DATE_EPOCH", "1795241893", 1);
  }
  ~RandomTerms() override { fs::remove_all(folder_); }

  /// What an instructor has after the term came that way: course.csv and grades.csv.
  std::string tables(const Way& way) {
    request_ = fake_batch(folder_, course_, folder_ / ("out" + std::to_string(++runs_)));
    killed_after_ = way.killed_after;
    std::string roster = "id,name,group\n";
    for (int s = 0; s < DrawnTerm::kStudents; ++s)
      if (!way.without.contains(s))
        roster += "s" + std::to_string(s) + "," + term_.names[static_cast<std::size_t>(s)] + "," +
                  group(s) + "\n";
    request_.intake.roster = *intake::Roster::from_text(roster, "roster.csv");
    auto rules = intake::read_course_rules(term_.rules, "course.yml", course_.labs);
    EXPECT_TRUE(rules) << base::to_string(rules.error());
    request_.rules = *rules;
    std::vector<std::pair<int, int>> calls;
    for (int wave = 0; wave < DrawnTerm::kWaves; ++wave)
      for (int lab = 0; lab < DrawnTerm::kLabs; ++lab) calls.emplace_back(lab, wave);
    std::mt19937 random(way.order);
    if (way.order != 0) std::shuffle(calls.begin(), calls.end(), random);
    for (const auto& [lab, wave] : calls) call(lab, wave, way, random);
    for (const auto& [student, points] : term_.marks)
      if (!way.without.contains(student)) {
        EXPECT_TRUE(mark_by_hand(
            {request_.out, "", {{"s" + std::to_string(student), "01-quick", 0, points, ""}}}));
      }
    EXPECT_EQ(ledger::verify(request_.out)->problems, std::vector<std::string>());
    return *base::read_file(request_.out / "course.csv") +
           *base::read_file(request_.out / "grades.csv");
  }

  /// The lines of a table that are not these students'.
  static std::string without(const std::string& tables, const std::set<int>& students) {
    std::string kept;
    for (const std::string_view line : base::lines_of(tables)) {
      const bool is_theirs = std::any_of(students.begin(), students.end(), [&](int student) {
        return line.starts_with("s" + std::to_string(student) + ",");
      });
      if (!is_theirs) kept += std::string(line) + "\n";
    }
    return kept;
  }

  [[nodiscard]] std::string group(int student) const {
    const int group = term_.group_of[static_cast<std::size_t>(student)];
    return group == 0 ? "" : "team" + std::to_string(group);
  }

  DrawnTerm term_;

 private:
  /// One call: what came of a lab in a wave, half of it in a second archive.
  void call(int lab, int wave, const Way& way, std::mt19937& random) {
    request_.intake.lab = DrawnTerm::lab_id(lab);
    request_.intake.times.clear();
    std::set<fs::path> sources;
    for (const Handed& one : term_.handed) {
      if (one.lab != lab || one.wave != wave || way.without.contains(one.student)) continue;
      const std::string who = "s" + std::to_string(one.student);
      const fs::path archive = folder_ / ("in" + std::to_string(runs_)) /
                               (DrawnTerm::lab_id(lab) + "-" + std::to_string(wave) + "-" +
                                std::to_string(one.student % 2));
      write_text(archive / who / "kernel.cu",
                 "__global__ void " + DrawnTerm::lab_id(lab).substr(3) + "(int*);\n// points " +
                     std::to_string(one.points) + " of " + who + " " + std::to_string(wave) + "\n");
      sources.insert(archive);
      request_.intake.times.push_back({{who}, DrawnTerm::lab_id(lab), 0, one.time});
    }
    request_.intake.sources.assign(sources.begin(), sources.end());
    if (way.order != 0)
      std::shuffle(request_.intake.sources.begin(), request_.intake.sources.end(), random);
    if (killed_after_ > 0) die();
    request_.grade_one = grade_by_points;
    const auto summary = run_batch(request_);
    ASSERT_TRUE(summary) << base::to_string(summary.error());
    ASSERT_TRUE(summary->grades.open.empty());
  }

  /// The call in a process that is killed after so many jobs, if it has as many.
  void die() {
    const pid_t child = fork();
    if (child == 0) {
      int jobs = 0;
      request_.grade_one = [&](const OneRequest& one) {
        if (++jobs == killed_after_) raise(SIGKILL);
        return grade_by_points(one);
      };
      _exit(run_batch(request_) ? 0 : 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    if (WIFSIGNALED(status)) killed_after_ = 0;
  }

  fs::path folder_;
  course::Course course_;
  BatchRequest request_;
  int runs_ = 0, killed_after_ = 0;
};

TEST_P(RandomTerms, DoNotDependOnTheOrderOfCallsAndArchives) {
  const std::string before = tables({});
  for (const unsigned order : {1U, 2U, 3U})
    EXPECT_EQ(tables({.order = order + GetParam()}), before) << term_.rules;
}

TEST_P(RandomTerms, DoNotDependOnKills) {
  const std::string before = tables({});
  EXPECT_EQ(tables({.killed_after = 2}), before) << term_.rules;
  EXPECT_EQ(tables({.order = GetParam() + 1, .killed_after = 4}), before) << term_.rules;
}

TEST_P(RandomTerms, NobodysPointsDependOnAnotherStudent) {
  const std::string before = tables({});
  // Of a group nobody is taken: what a member handed in is the others' work, too.
  for (const std::set<int>& gone : {std::set{4}, std::set{5, 6}})
    EXPECT_EQ(without(tables({.without = gone}), gone), without(before, gone)) << term_.rules;
}

TEST_P(RandomTerms, NobodysPointsDependOnAnothersName) {
  const std::string before = tables({});
  const std::set<int> renamed = {0, 4};
  term_.names[0] = term_.names[1];
  term_.names[4] = term_.names[5];
  EXPECT_EQ(without(tables({}), renamed), without(before, renamed)) << term_.rules;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTerms, testing::Range(20261128U, 20261132U));

}  // namespace
}  // namespace membound::queue
