// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/task_watch.hpp"

#include <algorithm>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/queue/heartbeat.hpp"
#include "grader/classroom/queue/slurm_executor.hpp"

namespace membound::queue {
namespace {

constexpr int kLooksUntilLost = 2;  // results may arrive between an end and our look

}  // namespace

TaskWatch::TaskWatch(std::string job, int number, std::filesystem::path beats)
    : job_(std::move(job)), number_(number), beats_(std::move(beats)) {}

std::string TaskWatch::look(const slurm::Snapshot& snapshot, const SlurmSettings& settings) {
  const auto now = Clock::now();
  const auto found =
      std::find_if(snapshot.tasks.begin(), snapshot.tasks.end(),
                   [this](const slurm::Task& task) { return task.number == number_; });
  const bool ran = task_.running();
  if (found != snapshot.tasks.end())
    task_ = *found;
  else
    task_.state.clear();  // Slurm forgets tasks some minutes after their end, or when it is killed
  if (!task_.node.empty()) node_ = task_.node;
  // Its time counts from its start, and from each sign of life.
  if (task_.running() && !ran) sign_of_life_ = now;
  bool ended = !task_.alive();
  if (const auto beat = read_beat(beats_); beat && beat->text != beat_) {
    beat_ = beat->text;
    if (node_.empty()) node_ = beat->node;
    sign_of_life_ = now;
    last_word_ = beat->reason;
  } else if (beat && beat->ended && !(task_.state == "PENDING")) {
    ended = true;
  }
  if (ended) {
    over_ = ++looks_after_end_ >= kLooksUntilLost;
    return "";
  }
  looks_after_end_ = 0;
  if (task_.held_after_failure()) {
    over_ = true;
    return name() + " could not be started (" + task_.reason + ")";
  }
  const double silent = std::chrono::duration<double>(now - sign_of_life_).count();
  const double allowed =
      began() ? settings.heartbeat_timeout_seconds : settings.start_timeout_seconds;
  if (!task_.running() || silent < allowed) return "";
  over_ = true;
  return name() + " is " + task_.state + " in Slurm's eyes and has given no sign of life for " +
         std::to_string(static_cast<int>(silent)) + " s";
}

std::string TaskWatch::waits_for() const {
  return task_.state == "PENDING" && task_.reason != "None" ? task_.reason : "";
}

std::string TaskWatch::name() const {
  return "task " + std::to_string(number_) + " of job " + job_ +
         (node_.empty() ? "" : " on " + node_);
}

std::string TaskWatch::failure(const std::filesystem::path& folder,
                               const std::string& array_name) const {
  if (!last_word_.empty()) return last_word_;
  if (!task_.failed() || began()) return "";
  std::string last;
  if (const auto log = base::read_file(slurm::log_file(folder, array_name, number_))) {
    std::istringstream lines(*log);
    for (std::string line; std::getline(lines, line);)
      if (line.find_first_not_of(" \t") != std::string::npos) last = line;
  }
  return task_.state + (last.empty() ? ", and it printed nothing" : ": " + base::printable(last));
}

}  // namespace membound::queue
