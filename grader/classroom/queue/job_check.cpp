// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/job_check.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "grader/base/process.hpp"
#include "grader/judge/device_choice.hpp"

namespace membound::queue {

base::Result<judge::CheckRequest> check_of(const OneRequest& request) {
  const Settings& settings = *request.settings;
  judge::CheckRequest check;
  check.place = settings.place;
  check.lab = request.lab;
  for (const course::Stage& stage : request.lab->stages) check.stages.push_back(stage.number);
  check.submission = request.source;
  check.compiler = settings.compiler;
  check.architecture = settings.architecture;
  check.device = settings.device;
  if (request.at_once > 1 && settings.device.kind->predicts_times())
    check.device.environment["MEMBOUND_WORKERS"] =
        std::to_string(std::max(1, static_cast<int>(base::processors()) / request.at_once));
  check.more_arguments = settings.device.kind->test_arguments();
  check.seed = request.job->seed;
  check.seconds_per_stage = settings.seconds_per_stage;
  check.device_seconds = settings.device_seconds;
  check.version = settings.version;
  check.looks.at_right_results =
      settings.device.kind->has_checkers() || judge::has_vgpu(settings.place.build);
  check.stop = request.stop;
  if (!settings.trust_submissions || settings.hold_policy)
    check.graded = judge::GradedCompile{.confined = !settings.trust_submissions};
  check.on_tick = [&request](int stage) {
    if (request.on_step) request.on_step("stage " + std::to_string(stage));
  };
  if (request.job->seed_key.empty()) return check;
  auto split = judge::split_options(check);
  if (!split) return split.error();
  split->seed_key = request.job->seed_key;
  if (settings.device.kind->predicts_times()) split->sample_seed = request.planned->sample_seed;
  split->use_jail = !settings.trust_submissions;
  check.split = *std::move(split);
  return check;
}

}  // namespace membound::queue
