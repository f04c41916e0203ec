// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How far a batch is: one changing line on a terminal, a plain line every ten seconds
/// elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "grader/classroom/queue/batch_executor.hpp"
#include "grader/course/grade.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {

/// What is shown, as text: for the thread below, and for tests.
struct GradeCounts {
  std::size_t total = 0;
  std::size_t done = 0;
  double seconds = 0;                      ///< since the start
  std::map<int, std::string> now;          ///< by worker: "03-transpose 1a2b3c4d, stage 3"
  std::map<course::GradeVerdict, int> by;  ///< verdicts so far
  std::string what = "graded";             ///< or "audited"
};

/// "42 s", "3 min", "5 h": rounded up.
[[nodiscard]] std::string long_time(double seconds);

/// "graded 120/300, 64 a minute, 3 min left; PASS 80, FAIL_SLOW 40; now …". What is left is guessed
/// from the pace so far.
[[nodiscard]] std::string progress_line(const GradeCounts& counts, bool with_current);

/// Shows it until it goes away.
class GradeProgress {
 public:
  GradeProgress(std::string what, std::size_t total, const report::Style& style, bool is_terminal);
  ~GradeProgress();
  GradeProgress(const GradeProgress&) = delete;
  GradeProgress& operator=(const GradeProgress&) = delete;

  void now(int worker, const queue::Job& job, const std::string& doing);
  void done(const queue::Job& job, const course::Grade& grade);

 private:
  void draw_until_done();
  [[nodiscard]] GradeCounts counts() const;

  const report::Style style_;
  const bool is_terminal_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  GradeCounts counts_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace membound::cli
