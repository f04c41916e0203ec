// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/watchdog.hpp"

#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/base/older_systems.hpp"
#include "grader/base/result.hpp"

namespace membound::harness {

Watchdog::Watchdog(Expiry on_expiry)
    : on_expiry_(std::move(on_expiry)), thread_([this] { loop(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Watchdog::Watch Watchdog::watch(double seconds, std::string what) {
  bool is_awaited = false;
  {
    const std::lock_guard lock(mutex_);
    MEMBOUND_CHECK(!deadline_);
    if (base::switched_off("harness.deadline")) return Watch(*this);
    const auto duration =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    deadline_ = Deadline{Clock::now() + duration, std::move(what), seconds};
    is_awaited = wakes_at_ <= deadline_->end;
  }
  if (!is_awaited) changed_.notify_one();
  return Watch(*this);
}

void Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::loop() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (!deadline_) {
      wakes_at_ = Clock::time_point::max();
      base::wait(changed_, lock);
    } else if (Clock::now() < deadline_->end) {
      wakes_at_ = deadline_->end;
      changed_.wait_until(lock, wakes_at_);  // which nobody else changes
    } else {
      const Deadline late = *deadline_;
      deadline_.reset();
      lock.unlock();
      on_expiry_(late.what, late.seconds);
      lock.lock();
    }
  }
}

}  // namespace membound::harness
