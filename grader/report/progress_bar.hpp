// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One line on standard error that tells what is being done, how far it is and for how long:
/// only on a terminal, only after the first 0.3 s, and gone when the step ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "grader/report/text.hpp"

namespace membound::report {

/// Shows steps of a longer work. Safe to call from several threads.
class Progress {
 public:
  /// `steps` is how many there are in all, 0 if unknown.
  Progress(std::string what, int steps, const Style& style, bool visible);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Says what is done now, and how many steps are behind us: never fewer than were before, though
  /// work goes back to a step, as when a failed stage is run again.
  void now(const std::string& doing, int steps_done);

  /// "checking [####............] 1/4 03-transpose, stage 2, 3 s".
  [[nodiscard]] std::string line() const;

 private:
  void draw_until_done();

  const std::string what_;
  const int steps_;
  const Style style_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string doing_;
  int steps_done_ = 0;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace membound::report
