// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A thread that notices when something takes too long, while the main thread waits in CUDA.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace membound::harness {

/// One thread, at most one deadline at a time. Deadlines come and go with each launch: the thread
/// sleeps on where it wakes in time for the next one, for waking it costs as much as a small
/// launch.
class Watchdog {
 public:
  /// `on_expiry` runs in the watchdog's thread, with what was watched and for how many seconds.
  using Expiry = std::function<void(const std::string& what, double seconds)>;
  explicit Watchdog(Expiry on_expiry);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches until it goes out of scope.
  class Watch {
   public:
    ~Watch() { watchdog_.disarm(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    friend class Watchdog;
    explicit Watch(Watchdog& watchdog) : watchdog_(watchdog) {}
    Watchdog& watchdog_;
  };
  [[nodiscard]] Watch watch(double seconds, std::string what);

 private:
  using Clock = std::chrono::steady_clock;
  struct Deadline {
    Clock::time_point end;
    std::string what;
    double seconds;
  };
  void loop();
  void disarm();

  Expiry on_expiry_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Deadline> deadline_;
  Clock::time_point wakes_at_ = Clock::time_point::max();  ///< the thread, unless it is told to
  bool closing_ = false;
  std::thread thread_;  // last: starts when all above is there
};

}  // namespace membound::harness
