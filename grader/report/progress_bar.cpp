// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using namespace std::chrono_literals;

constexpr auto kShownAfter = 300ms;  ///< shorter steps show nothing: a flash is worse than silence
constexpr auto kPeriod = 100ms;
constexpr int kBarCells = 16;
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(std::string what, int steps, const Style& style, bool visible)
    : what_(std::move(what)), steps_(steps), style_(style) {
  if (visible && isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { draw_until_done(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::now(const std::string& doing, int steps_done) {
  const std::lock_guard lock(mutex_);
  doing_ = doing;
  steps_done_ = std::max(steps_done_, steps_done);
}

std::string Progress::line() const {
  std::string text = what_;
  if (steps_ > 0) {
    const int filled = kBarCells * steps_done_ / steps_;
    text += " [";
    for (int i = 0; i < kBarCells; ++i) text += i < filled ? '#' : '.';
    text += "] " + std::to_string(steps_done_) + "/" + std::to_string(steps_);
  }
  if (!doing_.empty()) text += " " + doing_;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  text += ", " + std::to_string(seconds.count()) + " s";
  return columns(text) < static_cast<std::size_t>(style_.width)
             ? text
             : padded(text, static_cast<std::size_t>(style_.width) - 1);
}

void Progress::draw_until_done() {
  std::unique_lock lock(mutex_);
  const auto finished = [this] { return done_; };
  if (changed_.wait_for(lock, kShownAfter, finished)) return;
  do {
    std::fprintf(stderr, "%s%s", kEraseLine, style_.paint(line(), Tone::kFaint).c_str());
  } while (!changed_.wait_for(lock, kPeriod, finished));
  std::fputs(kEraseLine, stderr);
}

}  // namespace membound::report
