// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/staff/grade_progress.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kTerminalPeriod = 200ms;
constexpr auto kPlainPeriod = 10s;
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

std::string long_time(double seconds) {
  if (seconds < 60) return std::to_string(static_cast<int>(std::ceil(seconds))) + " s";
  const int minutes = static_cast<int>(std::ceil(seconds / 60));
  if (minutes < 120) return std::to_string(minutes) + " min";
  return std::to_string((minutes + 30) / 60) + " h";
}

std::string progress_line(const GradeCounts& counts, bool with_current) {
  std::string text =
      counts.what + " " + std::to_string(counts.done) + "/" + std::to_string(counts.total);
  if (counts.done > 0 && counts.seconds > 0) {
    const double a_second = static_cast<double>(counts.done) / counts.seconds;
    text += ", " + report::number(a_second * 60) + " a minute";
    if (counts.done < counts.total)
      text +=
          ", " + long_time(static_cast<double>(counts.total - counts.done) / a_second) + " left";
  }
  std::string verdicts;
  for (const auto& [verdict, count] : counts.by)
    verdicts += (verdicts.empty() ? "; " : ", ") + std::string(course::to_string(verdict)) + " " +
                std::to_string(count);
  text += verdicts;
  if (!with_current) return text;
  std::string now;
  for (const auto& [worker, doing] : counts.now)
    if (!doing.empty()) now += (now.empty() ? "; now " : " | ") + doing;
  return text + now;
}

GradeProgress::GradeProgress(std::string what, std::size_t total, const report::Style& style,
                             bool is_terminal)
    : style_(style), is_terminal_(is_terminal) {
  counts_.what = std::move(what);
  counts_.total = total;
  thread_ = std::thread([this] { draw_until_done(); });
}

GradeProgress::~GradeProgress() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GradeProgress::now(int worker, const queue::Job& job, const std::string& doing) {
  const std::lock_guard lock(mutex_);
  counts_.now[worker] =
      doing.empty() ? "" : job.lab + " " + job.submission_sha256.substr(0, 8) + ", " + doing;
}

void GradeProgress::done(const queue::Job&, const course::Grade& grade) {
  const std::lock_guard lock(mutex_);
  ++counts_.done;
  if (grade.verdict) ++counts_.by[*grade.verdict];
}

GradeCounts GradeProgress::counts() const {
  GradeCounts counts = counts_;
  counts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return counts;
}

void GradeProgress::draw_until_done() {
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return ended_; };
  if (!is_terminal_) {
    while (!changed_.wait_for(lock, kPlainPeriod, ended))
      std::fprintf(stderr, "%s\n", progress_line(counts(), false).c_str());
    return;
  }
  while (!changed_.wait_for(lock, kTerminalPeriod, ended)) {
    const std::string line = progress_line(counts(), true);
    const auto width = static_cast<std::size_t>(style_.width) - 1;
    std::fprintf(stderr, "%s%s", kEraseLine,
                 style_
                     .paint(report::columns(line) > width ? report::padded(line, width) : line,
                            report::Tone::kFaint)
                     .c_str());
  }
  std::fputs(kEraseLine, stderr);
}

}  // namespace membound::cli
