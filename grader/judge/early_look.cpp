// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/early_look.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/base/process.hpp"
#include "grader/judge/second_look.hpp"

namespace membound::judge {
namespace {

constexpr int kNiceness = 10;  ///< a tenth of what the run gets where both want a processor
constexpr auto kTick = std::chrono::milliseconds(50);

bool has_chosen_tests(const RunRequest& run) {
  return std::ranges::any_of(run.more_arguments, [](const std::string& argument) {
    return argument.starts_with("--gtest_filter");
  });
}

/// On a thread of its own, whose priority the program inherits.
base::Result<RunOutcome> run_behind(const RunRequest& look) {
  // Where this is refused it competes; nothing else hangs on it.
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness));
  return run_stages(look);
}

}  // namespace

std::unique_ptr<EarlyLook> EarlyLook::begin(const CheckRequest& request, const RunRequest& run) {
  const bool helps = run.stages.size() == 1 && base::processors() > 1;
  const bool is_the_same = !run.split && !run.bed->looks_at_once() && !has_chosen_tests(run) &&
                           request.device.kind->has_checkers();
  if (!helps || !is_the_same || !request.looks.at_right_results ||
      base::switched_off("judge.second-look"))
    return nullptr;
  return std::make_unique<EarlyLook>(look_before_results(run));
}

EarlyLook::EarlyLook(RunRequest look) : look_(std::move(look)) {
  look_.stop = &ended_;
  look_.on_tick = nullptr;
  outcome_ = std::async(std::launch::async, [this] { return run_behind(look_); });
}

EarlyLook::~EarlyLook() {
  ended_ = true;
  if (outcome_.valid()) outcome_.wait();
}

base::Result<RunOutcome> EarlyLook::take(const RunRequest& waiting) {
  while (outcome_.wait_for(kTick) != std::future_status::ready) {
    if (waiting.stop != nullptr && *waiting.stop) ended_ = true;
    if (waiting.on_tick) waiting.on_tick(look_.stages.front());
  }
  return outcome_.get();
}

}  // namespace membound::judge
