// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/slurm_executor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <system_error>
#include <thread>

#include "grader/base/text_files.hpp"
#include "grader/classroom/ledger/record.hpp"
#include "grader/classroom/queue/chunks.hpp"
#include "grader/classroom/slurm/slurm.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kSlackSeconds = 300;  // for a node to start a task and to write its last file
constexpr int kLooksUntilLost = 2;     // results may arrive between Slurm's answer and our look

double seconds_since(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

/// A node that is held for no job.
struct Forgotten {
  Clock::time_point since = Clock::now();
  bool said = false;
};

/// One call of run_slurm.
class Collector {
 public:
  Collector(const Work& work, const std::vector<const Job*>& queue, fs::path out,
            const SlurmSettings& settings)
      : work_(work), out_(std::move(out)), settings_(settings) {
    for (const Job* job : queue) pending_[job->key] = job;
    patience_seconds_ = settings.patience_seconds > 0
                            ? settings.patience_seconds
                            : settings.minutes_per_task * 60.0 + kSlackSeconds;
  }

  base::Result<Executed> run() {
    if (auto status = slurm::check_available(); !status) return status.error();
    end_earlier_array();
    while (!pending_.empty() && !stopped()) {
      if (auto status = submit(); !status) return status.error();
      const auto collected = collect();
      slurm::cancel(job_);
      if (!collected) return collected.error();
      if (pending_.empty() || stopped()) break;
      if (auto status = count_attempts(); !status) return status.error();
    }
    executed_.stopped = stopped();
    std::error_code ignored;
    fs::remove(job_file(), ignored);
    return executed_;
  }

 private:
  [[nodiscard]] bool stopped() const { return work_.stop != nullptr && work_.stop->load(); }
  [[nodiscard]] fs::path job_file() const { return slurm_folder(out_) / "job"; }

  void print(const std::string& text) {
    if (settings_.report_trouble && printed_.insert(text).second) settings_.report_trouble(text);
  }

  /// Of a call that was killed: what its tasks have finished is taken, the rest is submitted anew.
  void end_earlier_array() {
    const auto earlier = base::read_file(job_file());
    if (!earlier || earlier->empty()) return;
    slurm::cancel(earlier->substr(0, earlier->find('\n')));
  }

  base::Status submit() {
    std::vector<ChunkJob> jobs;
    for (const auto& [key, job] : pending_) jobs.push_back({key, work_.ledger->job(key)->round});
    // A cluster's size is not asked for: 32 tasks keep that many devices busy.
    const std::size_t at_once =
        settings_.at_once > 0 ? static_cast<std::size_t>(settings_.at_once) : 32;
    const Chunks chunks = chunks_of(jobs, settings_.chunk, at_once);
    if (auto status = write_chunks(out_, chunks); !status) return status;
    slurm::Array array;
    array.name = "membound";
    array.folder = slurm_folder(out_);
    array.command = settings_.task_command;
    array.environment = settings_.environment;
    for (std::size_t i = 0; i < chunks.size(); ++i) array.tasks.push_back(static_cast<int>(i));
    array.at_once = settings_.at_once;
    array.minutes = settings_.minutes_per_task;
    array.options = settings_.options;
    const auto job = slurm::submit(array);
    if (!job) return job.error();
    job_ = *job;
    return base::write_file(job_file(), job_ + "\n");
  }

  /// Until everything is there, or Slurm has no task left that could bring more, or nothing came
  /// for longer than a task may take.
  base::Status collect() {
    auto last_result = Clock::now(), last_look = Clock::now();
    int looks_without_tasks = 0;
    while (!pending_.empty() && !stopped()) {
      const auto found = take_results();
      if (!found) return found.error();
      if (*found > 0) last_result = Clock::now();
      if (pending_.empty()) break;
      if (seconds_since(last_look) >= settings_.queue_seconds) {
        last_look = Clock::now();
        const bool tasks_left = poll();
        looks_without_tasks = tasks_left ? 0 : looks_without_tasks + 1;
        if (looks_without_tasks >= kLooksUntilLost) break;
      }
      if (seconds_since(last_result) > patience_seconds_) {
        print("job " + job_ + " brought no result for " +
              std::to_string(static_cast<int>(patience_seconds_ / 60)) +
              " minutes: what is missing is submitted again");
        break;
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(settings_.poll_seconds));
    }
    return base::Done{};
  }

  /// Whether Slurm may still bring something. A controller that does not answer may.
  bool poll() {
    const auto snapshot = slurm::poll(job_);
    if (!snapshot) {
      print(base::to_string(snapshot.error()));
      return true;
    }
    for (const slurm::Trouble& trouble : snapshot->troubles)
      print(trouble.what + "\n  try: " + trouble.fix);
    watch_forgotten(snapshot->forgotten);
    return snapshot->alive() > 0;
  }

  /// Says which nodes are held for no job, once that has lasted; again when it comes back.
  void watch_forgotten(const std::vector<slurm::Trouble>& forgotten) {
    std::map<std::string, Forgotten> still;
    for (const slurm::Trouble& trouble : forgotten) {
      const auto before = forgotten_.find(trouble.what);
      Forgotten node = before == forgotten_.end() ? Forgotten{} : before->second;
      if (!node.said && seconds_since(node.since) >= settings_.forgotten_seconds) {
        node.said = true;
        if (settings_.report_trouble)
          settings_.report_trouble(trouble.what + "\n  try: " + trouble.fix);
      }
      still[trouble.what] = node;
    }
    forgotten_ = std::move(still);
  }

  /// Verdicts whose files are there; how many.
  base::Result<int> take_results() {
    int found = 0;
    for (auto it = pending_.begin(); it != pending_.end();) {
      const fs::path file =
          out_ / "results" / ledger::record_name(it->first, work_.ledger->job(it->first)->round);
      const auto text = base::read_file(file);
      const auto record =
          text ? ledger::record_from_text(*text, file.string(), work_.ledger->secret())
               : base::Result<ledger::Record>(text.error());
      if (!record) {
        ++it;
        continue;
      }
      if (auto status = work_.ledger->finish(it->first, record->grade); !status)
        return status.error();
      if (work_.watcher.done) work_.watcher.done(*it->second, record->grade);
      ++found;
      ++executed_.graded;
      it = pending_.erase(it);
    }
    return found;
  }

  /// What is still missing was tried once more; who was tried often enough gets our own failure as
  /// verdict, with the reason that a task left.
  base::Status count_attempts() {
    for (auto it = pending_.begin(); it != pending_.end();) {
      const auto attempts = work_.ledger->count_attempt(it->first);
      if (!attempts) return attempts.error();
      if (*attempts < kMostAttempts) {
        ++it;
        continue;
      }
      const auto reason = base::read_file(slurm_folder(out_) / (it->first + ".failed"));
      course::Grade grade;
      const auto lab =
          std::find_if(work_.settings->course->labs.begin(), work_.settings->course->labs.end(),
                       [&it](const course::Lab& one) { return one.id == it->second->lab; });
      grade.end(course::GradeVerdict::kInfraError,
                "tried " + std::to_string(*attempts) + " times on the cluster: " +
                    (reason ? reason->substr(0, reason->find('\n'))
                            : "no task wrote a result; see slurm/membound-*.log"),
                *lab);
      if (auto status = work_.ledger->finish(it->first, grade); !status) return status;
      if (work_.watcher.done) work_.watcher.done(*it->second, grade);
      ++executed_.graded;
      it = pending_.erase(it);
    }
    return base::Done{};
  }

  const Work& work_;
  const fs::path out_;
  const SlurmSettings& settings_;
  double patience_seconds_ = 0;
  std::map<std::string, const Job*> pending_;
  std::string job_;
  std::set<std::string> printed_;
  std::map<std::string, Forgotten> forgotten_;  // by what is said of the node
  Executed executed_;
};

}  // namespace

base::Result<Executed> run_slurm(const Work& work, const std::vector<const Job*>& queue,
                                 const std::filesystem::path& out, const SlurmSettings& settings) {
  return Collector(work, queue, out, settings).run();
}

}  // namespace membound::queue
