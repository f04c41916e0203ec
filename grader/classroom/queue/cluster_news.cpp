// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/cluster_news.hpp"

#include <utility>

namespace membound::queue {
namespace {

double seconds_since(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
}

}  // namespace

void ClusterNews::tell(const std::string& text) {
  latest_ = Clock::now();
  if (settings_.report_trouble) settings_.report_trouble(text);
}

void ClusterNews::tell_once(const std::string& text) {
  if (told_.insert(text).second) tell(text);
}

bool ClusterNews::is_quiet() const { return seconds_since(latest_) >= settings_.quiet_seconds; }

void ClusterNews::tell_what_is_waited_for(const std::vector<TaskWatch>& watches, std::size_t left) {
  int running = 0, waiting = 0;
  std::string reasons;
  for (const TaskWatch& watch : watches) {
    if (watch.over()) continue;
    ++(watch.runs() ? running : waiting);
    if (!watch.waits_for().empty() && reasons.find(watch.waits_for()) == std::string::npos)
      reasons += (reasons.empty() ? " (" : ", ") + watch.waits_for();
  }
  tell("no result for " + std::to_string(static_cast<int>(settings_.quiet_seconds)) +
       " s: " + std::to_string(left) + " submissions are left, " + std::to_string(running) +
       " tasks run, " + std::to_string(waiting) + " wait" + reasons + (reasons.empty() ? "" : ")"));
}

void ClusterNews::take_forgotten(const std::vector<slurm::Trouble>& forgotten) {
  std::map<std::string, Forgotten> still;
  for (const slurm::Trouble& trouble : forgotten) {
    const auto before = forgotten_.find(trouble.what);
    Forgotten node = before == forgotten_.end() ? Forgotten{} : before->second;
    if (!node.told && seconds_since(node.since) >= settings_.forgotten_seconds) {
      node.told = true;
      tell(trouble.what + "\n  try: " + trouble.fix);
    }
    still[trouble.what] = node;
  }
  forgotten_ = std::move(still);
}

}  // namespace membound::queue
