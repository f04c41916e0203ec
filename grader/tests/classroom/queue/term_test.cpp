// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A term as an instructor has it: 60 students, eight labs, three attempts each, every tenth late,
/// extensions, marks by hand, requests to grade again, a killed grader and a full disk. What the
/// grader's course table must be is computed by another program, course_from_facts.awk, from the
/// facts that this one makes up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <random>

#include "grader/base/csv.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/queue/hand_marks.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kStudents = 60, kLabs = 8, kAttempts = 3;
constexpr int kLabsInOneCall = 4;  ///< their attempts lie in one folder; the others come one by one
constexpr std::int64_t kHour = 3600, kDay = 24 * kHour;
constexpr std::int64_t kStart = 1790000000;

std::string student_name(int student) { return "s" + std::to_string(100 + student); }

std::string lab_id(int lab) {
  return lab == 0 ? "01-quick" : "0" + std::to_string(lab + 1) + "-lab" + std::to_string(lab + 1);
}

std::int64_t due_of(int lab) { return kStart + (lab + 1) * 14 * kDay; }

/// One attempt: what is in it and when it came. Points are of ten, in steps of a half.
struct Attempt {
  int student, lab, number;
  double points, points_on_appeal;
  bool is_suspicious = false;
  std::int64_t time = 0;
};

/// Grades by what the text says about itself: "// points 7.5 then 8 suspicious 0".
OneOutcome grade_by_text(const OneRequest& request, bool is_appeal) {
  std::ifstream file(request.source);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  double points = 0, second = 0;
  int suspicious = 0;
  EXPECT_EQ(std::sscanf(text.c_str() + text.find("points"), "points %lf then %lf suspicious %d",
                        &points, &second, &suspicious),
            3)
      << text;
  OneOutcome outcome = fake_grade(request);
  course::Result result = outcome.grade.result;
  result.stages[0].points = is_appeal ? second : points;
  result.stages[0].verdict = suspicious != 0 ? course::Verdict::kSuspicious
                             : points == 10  ? course::Verdict::kPassed
                                             : course::Verdict::kSlow;
  outcome.grade.take(std::move(result), *request.lab);
  return outcome;
}

class Term : public testing::Test {
 protected:
  Term() {
    // Thousands of synced writes: in memory where there is such a file system.
    const fs::path memory = "/dev/shm";
    const bool has_memory = access(memory.c_str(), W_OK) == 0;
    std::string pattern =
        ((has_memory ? memory : fs::temp_directory_path()) / "membound-term-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    make_fake_class(folder_, 0);
    course_ = fake_course(folder_);
    for (int lab = 1; lab < kLabs; ++lab) add_fake_lab(folder_, lab_id(lab), course_);
    request_ = fake_batch(folder_, course_, folder_ / "out");
    request_.intake.sources.clear();
    std::string roster = "id,name\n";
    for (int s = 0; s < kStudents; ++s) {
      roster += student_name(s) + ",Student " + std::to_string(s) + "\n";
      facts_ += "R," + student_name(s) + "\n";
    }
    request_.intake.roster = *intake::Roster::from_text(roster, "roster.csv");
    request_.grade_one = [this](const OneRequest& one) { return grade_by_text(one, is_appeal_); };
  }
  ~Term() override { fs::remove_all(folder_); }

  void make_up_rules() {
    std::string yml =
        "zone: Etc/UTC\nattempts: best\n"
        "late: {grace_minutes: 30, percent_per_day: 20, most_percent: 50, late_days: 2}\nlabs:\n";
    facts_ += "B,2,50\n";
    for (int lab = 0; lab < kLabs; ++lab) {
      const int worth = lab == 5 ? 25 : 10;
      yml += "  " + lab_id(lab) + ": {due: '" + intake::utc_text(due_of(lab)) + "', last_date: '" +
             intake::utc_text(due_of(lab) + 3 * kDay) + "', points: " + std::to_string(worth) +
             "}\n";
      facts_ += "D," + lab_id(lab) + "," + std::to_string(due_of(lab)) + ",1800,20," +
                std::to_string(worth) + "," + std::to_string(due_of(lab) + 3 * kDay) + "\n";
    }
    auto rules = intake::read_course_rules(yml, "course.yml", course_.labs);
    ASSERT_TRUE(rules) << base::to_string(rules.error());
    request_.rules = *rules;
    std::string table = "student,lab,due\n";
    for (int i = 0; i < 5; ++i) {
      const std::int64_t due = due_of(i) + 7 * kDay;
      table += student_name(10 * i) + "," + lab_id(i) + "," + intake::utc_text(due) + "\n";
      facts_ += "E," + student_name(10 * i) + "," + lab_id(i) + "," + std::to_string(due) + "\n";
    }
    request_.extensions = *intake::read_extensions(table, "extensions.csv", course_.labs);
  }

  void make_up_attempts() {
    for (int student = 0; student < kStudents; ++student)
      for (int lab = 0; lab < kLabs; ++lab) {
        if ((student + lab) % 17 == 3) continue;  // hands in nothing
        const bool is_late = student == 10 * lab || random_() % 10 == 0;
        for (int number = 1; number <= kAttempts; ++number) {
          Attempt one{student, lab, number, static_cast<double>(random_() % 21) / 2, 0};
          one.points_on_appeal = one.points;
          one.is_suspicious = student == 5 && lab == 2;
          if (student == 7 && lab == 4) one.points_on_appeal = 10;
          const auto hours = static_cast<std::int64_t>(random_() % 90);
          one.time = due_of(lab) + (is_late ? hours : -1 - hours) * kHour + number * 60;
          attempts_.push_back(one);
        }
      }
  }
  void note_facts() {
    for (const Attempt& one : attempts_)
      facts_ += "S," + student_name(one.student) + "," + lab_id(one.lab) + "," +
                std::to_string(one.time) + "," + std::to_string(one.points_on_appeal) + "\n";
  }

  /// Puts the attempts of a lab into a folder, with the platform's times; `number` 0: all of them.
  void hand_in(int lab, int number) {
    const fs::path in = folder_ / ("lab" + std::to_string(lab) + "-" + std::to_string(number));
    request_.intake.sources = {in};
    request_.intake.lab = lab_id(lab);
    request_.intake.times.clear();
    for (const Attempt& one : attempts_) {
      if (one.lab != lab || (number != 0 && one.number != number)) continue;
      const std::string who = student_name(one.student);
      const fs::path folder =
          number == 0 ? fs::path(who) / ("attempt-" + std::to_string(one.number)) : fs::path(who);
      write_text(in / folder / "kernel.cu",
                 "__global__ void " + lab_id(lab).substr(3) + "(int*);\n// points " +
                     std::to_string(one.points) + " then " + std::to_string(one.points_on_appeal) +
                     " suspicious " + std::to_string(one.is_suspicious ? 1 : 0) + " " + who + "#" +
                     std::to_string(one.number) + "\n");
      request_.intake.times.push_back({{who}, lab_id(lab), number == 0 ? one.number : 0, one.time});
    }
  }

  void grade() {
    const auto summary = run_batch(request_);
    ASSERT_TRUE(summary) << base::to_string(summary.error());
    ASSERT_TRUE(summary->grades.open.empty());
  }

  /// The same call in a process of its own, which is killed after some jobs or finds the disk full.
  int grade_in_vain(const std::string& failpoint) {
    const pid_t child = fork();
    if (child == 0) {
      if (!failpoint.empty()) setenv("MEMBOUND_FAILPOINT", failpoint.c_str(), 1);
      int jobs = 0;
      request_.grade_one = [this, &jobs, &failpoint](const OneRequest& one) {
        if (++jobs == 40 && failpoint.empty()) raise(SIGKILL);
        return grade_by_text(one, is_appeal_);
      };
      _exit(run_batch(request_) ? 0 : 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  void mark(int student, int lab, double points) {
    const auto marked =
        mark_by_hand({request_.out,
                      "",
                      {{student_name(student), lab_id(lab), 0, points, "looked at together"}}});
    ASSERT_TRUE(marked) << base::to_string(marked.error());
    facts_ +=
        "M," + student_name(student) + "," + lab_id(lab) + "," + std::to_string(points) + "\n";
  }

  /// Cells of a table as numbers by "student", in its order of columns.
  static std::map<std::string, std::vector<double>> numbers(const std::string& csv,
                                                            std::size_t first) {
    std::map<std::string, std::vector<double>> all;
    const auto table = base::read_csv(csv, "table");
    EXPECT_TRUE(table);
    for (const auto& row : table->rows)
      for (std::size_t i = first; i < first + kLabs + 1; ++i)
        all[row[0]].push_back(row[i].empty() ? -1 : std::stod(row[i]));
    return all;
  }

  std::string text(const fs::path& file) const {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::string computed_elsewhere() {
    const fs::path facts = folder_ / "facts.csv";
    write_text(facts, facts_);
    const std::string command = "awk -f '" MEMBOUND_SOURCE_DIR
                                "/grader/tests/classroom/queue/course_from_facts.awk' '" +
                                facts.string() + "'";
    FILE* const awk = popen(command.c_str(), "r");
    std::string out = "student";
    for (int i = 0; i <= kLabs; ++i) out += ",c" + std::to_string(i);
    out += "\n";
    for (int c = std::fgetc(awk); c != EOF; c = std::fgetc(awk)) out += static_cast<char>(c);
    EXPECT_EQ(pclose(awk), 0);
    return out;
  }

  fs::path folder_;
  course::Course course_;
  BatchRequest request_;
  std::vector<Attempt> attempts_;
  std::string facts_;
  std::mt19937 random_{20261123};
  bool is_appeal_ = false;
};

TEST_F(Term, EndsWithTheTableThatItsFactsAskFor) {
  make_up_rules();
  make_up_attempts();
  note_facts();
  for (int lab = 0; lab < kLabs; ++lab)
    for (int number = 1; number <= (lab < kLabsInOneCall ? 1 : kAttempts); ++number) {
      hand_in(lab, lab < kLabsInOneCall ? 0 : number);
      if (lab == 2) {
        EXPECT_EQ(grade_in_vain(""), -SIGKILL);
      }
      if (lab == 6 && number == 1 && base::has_failpoints()) {
        EXPECT_EQ(grade_in_vain("ledger.before_commit=full"), 3);
      }
      grade();
      request_.rules.reset();  // the first call's are remembered
      request_.extensions.reset();
    }
  mark(5, 2, 6.5);  // suspicious in each attempt: nothing else gives it points
  mark(20, 1, 3);
  mark(41, 7, 10);

  request_.intake.sources.clear();
  request_.intake.lab.reset();
  is_appeal_ = true;
  request_.requests = *read_requests("student,lab,reason\n" + student_name(7) + "," + lab_id(4) +
                                         ",it passes here\n" + student_name(8) + "," + lab_id(0) +
                                         ",please look again\n",
                                     "requests.csv", course_.labs);
  grade();
  EXPECT_THAT(text(request_.out / "regrade-decisions.csv"), HasSubstr(",changed,"));
  EXPECT_THAT(text(request_.out / "regrade-decisions.csv"), HasSubstr(",unchanged,"));

  const auto found = ledger::verify(request_.out);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problems, std::vector<std::string>());
  EXPECT_EQ(found->marks, 3);
  EXPECT_EQ(static_cast<std::size_t>(found->verdicts), attempts_.size() + 2 * kAttempts);

  const auto expected = numbers(computed_elsewhere(), 1);
  const auto ours = numbers(text(request_.out / "course.csv"), 3);
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(kStudents));
  ASSERT_EQ(ours.size(), expected.size());
  int late = 0, closed = 0, free = 0;
  for (const auto& [student, cells] : expected)
    for (std::size_t i = 0; i < cells.size(); ++i)
      EXPECT_NEAR(ours.at(student)[i], cells[i], 0.005001) << student << " column " << i;
  const auto all = read_class(request_.out);
  for (const course::Grade& one : all->grades) {
    late += one.late_by_seconds > 0 ? 1 : 0;
    free += one.late_days_free;
  }
  // Where the best counts, another attempt mostly stands for one that came too late.
  const auto plan = read_plan(request_.out);
  ASSERT_TRUE(plan && *plan);
  for (const Row& row : (*plan)->rows) closed += row.closed ? 1 : 0;
  EXPECT_GT(late, 10) << "the term has late work";
  EXPECT_GT(closed, 0) << "and work after the last date";
  EXPECT_GT(free, 10) << "and late days that were free";
}

}  // namespace
}  // namespace membound::queue
