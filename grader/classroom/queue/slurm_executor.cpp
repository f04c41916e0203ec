// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/slurm_executor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/ledger/record.hpp"
#include "grader/classroom/queue/chunks.hpp"
#include "grader/classroom/queue/cluster_news.hpp"
#include "grader/classroom/queue/heartbeat.hpp"
#include "grader/classroom/queue/task_watch.hpp"
#include "grader/classroom/slurm/slurm.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kArrayName = "membound";
/// A cluster's size is not asked for: so many tasks keep that many devices busy.
constexpr int kUsualTasks = 32;
/// So many tasks in a row that could grade nothing: it is not the submissions.
constexpr int kHopelessTasks = 3;

/// One call of run_slurm.
class Collector {
 public:
  Collector(const Work& work, const std::vector<const Job*>& queue, fs::path out,
            const SlurmSettings& settings)
      : work_(work), out_(std::move(out)), settings_(settings), news_(settings) {
    for (const Job* job : queue) pending_[job->key] = job;
  }

  base::Result<Executed> run() {
    if (auto status = slurm::check_available(); !status) return status.error();
    end_earlier_arrays();
    const auto done = collect();
    for (const std::string& job : arrays_) slurm::cancel(job);
    if (!done) return done.error();
    executed_.stopped = stopped();
    std::error_code ignored;
    fs::remove(job_file(), ignored);
    return executed_;
  }

 private:
  [[nodiscard]] bool stopped() const { return work_.stop != nullptr && work_.stop->load(); }
  [[nodiscard]] fs::path job_file() const { return slurm_folder(out_) / "job"; }

  /// Of a call that was killed: what its tasks have finished is taken, the rest is submitted anew.
  void end_earlier_arrays() {
    if (const auto earlier = base::read_file(job_file())) {
      std::istringstream jobs(*earlier);
      for (std::string job; std::getline(jobs, job);)
        if (!job.empty()) slurm::cancel(job);
    }
    std::error_code ignored;
    fs::remove_all(slurm_folder(out_) / "beats", ignored);
  }

  /// Submits an array of what these keys stand for.
  base::Status submit(const std::vector<std::string>& keys) {
    std::vector<ChunkJob> jobs;
    for (const std::string& key : keys)
      jobs.push_back({key, work_.ledger->job(key)->round, pending_.at(key)->audited,
                      pending_.at(key)->audited_stage});
    const std::size_t tasks =
        static_cast<std::size_t>(settings_.at_once > 0 ? settings_.at_once : kUsualTasks);
    slurm::Array array;
    const std::size_t first = chunks_.size();
    for (auto& chunk : chunks_of(jobs, settings_.chunk, tasks)) {
      array.tasks.push_back(static_cast<int>(chunks_.size()));
      chunks_.push_back(std::move(chunk));
    }
    // Numbers go on: tasks of an earlier array that still run find their chunk where it was.
    if (auto status = write_chunks(out_, chunks_); !status) return status;
    array.name = kArrayName;
    array.folder = slurm_folder(out_);
    array.command = settings_.task_command;
    array.environment = settings_.environment;
    array.at_once = settings_.at_once;
    array.minutes = settings_.minutes_per_task;
    array.options = settings_.options;
    array.prolog = settings_.prolog;
    array.modules = settings_.modules;
    array.container = settings_.container;
    const auto job = slurm::submit(array);
    if (!job) return job.error();
    arrays_.push_back(*job);
    for (std::size_t i = first; i < chunks_.size(); ++i)
      watches_.emplace_back(*job, static_cast<int>(i), beat_file(out_, *job, static_cast<int>(i)));
    std::string text;
    for (const std::string& one : arrays_) text += one + "\n";
    return base::write_file(job_file(), text);
  }

  /// Until everything is there.
  base::Status collect() {
    std::vector<std::string> keys;
    for (const auto& [key, job] : pending_) keys.push_back(key);
    if (keys.empty() || stopped()) return base::Done{};
    if (auto status = submit(keys); !status) return status;
    auto last_look = Clock::now();
    while (!pending_.empty() && !stopped()) {
      if (auto status = take_results(); !status) return status;
      if (pending_.empty()) break;
      if (Clock::now() - last_look >= std::chrono::duration<double>(settings_.queue_seconds)) {
        last_look = Clock::now();
        if (auto status = look(); !status) return status;
      }
      if (news_.is_quiet()) news_.tell_what_is_waited_for(watches_, pending_.size());
      std::this_thread::sleep_for(std::chrono::duration<double>(settings_.poll_seconds));
    }
    return base::Done{};
  }

  /// At all tasks that still owe something. What those that are lost owe is submitted again.
  base::Status look() {
    std::map<std::string, slurm::Snapshot> snapshots;
    std::vector<std::string> lost;
    for (TaskWatch& watch : watches_) {
      if (watch.over()) continue;
      const std::vector<std::string> owed = owed_by(watch);
      if (owed.empty()) {
        watch.close();
        continue;
      }
      auto seen = snapshots.find(watch.job());
      if (seen == snapshots.end()) {
        const auto snapshot = ask(watch.job());
        // A controller that does not answer may still bring something.
        if (!snapshot) return base::Done{};
        seen = snapshots.emplace(watch.job(), *snapshot).first;
      }
      const std::string loss = watch.look(seen->second, settings_);
      if (!watch.over()) continue;
      if (!loss.empty()) {
        news_.tell(loss + ": what it owes is submitted again");
        slurm::cancel(watch.job() + "_" + std::to_string(watch.number()));
      }
      if (auto status = judge_failure(watch, owed); !status) return status;
      lost.insert(lost.end(), owed.begin(), owed.end());
    }
    return lost.empty() ? base::Done{} : submit_again(lost);
  }

  std::optional<slurm::Snapshot> ask(const std::string& job) {
    const auto snapshot = slurm::poll(job);
    if (!snapshot) {
      news_.tell_once(base::to_string(snapshot.error()));
      return std::nullopt;
    }
    for (const slurm::Trouble& trouble : snapshot->troubles)
      news_.tell_once(trouble.what + "\n  try: " + trouble.fix);
    news_.take_forgotten(snapshot->forgotten);
    return *snapshot;
  }

  /// Keys of the task's chunk that have no verdict yet.
  [[nodiscard]] std::vector<std::string> owed_by(const TaskWatch& watch) const {
    std::vector<std::string> owed;
    for (const ChunkJob& job : chunks_[static_cast<std::size_t>(watch.number())])
      if (pending_.contains(job.key)) owed.push_back(job.key);
    return owed;
  }

  /// An error once so many tasks in a row could grade nothing. Submissions that fail again and
  /// again are no sign of it: only tasks that fail at all, or at submissions seen for the first
  /// time.
  base::Status judge_failure(const TaskWatch& watch, const std::vector<std::string>& owed) {
    const auto chunk = chunks_[static_cast<std::size_t>(watch.number())].size();
    if (owed.size() < chunk) {
      failures_in_a_row_ = 0;
      return base::Done{};
    }
    const std::string reason = watch.failure(slurm_folder(out_), kArrayName);
    const bool says_submissions =
        watch.began() && std::any_of(owed.begin(), owed.end(), [this](const std::string& key) {
          return tried_.contains(key);
        });
    tried_.insert(owed.begin(), owed.end());
    if (reason.empty() || says_submissions || ++failures_in_a_row_ < kHopelessTasks)
      return base::Done{};
    return base::Error{
        base::ErrorKind::kMachine, watch.name(),
        "the last " + std::to_string(kHopelessTasks) +
            " tasks could grade nothing, this one because: " + reason,
        "nodes on which tasks can grade (its output: " +
            slurm::log_file(slurm_folder(out_), kArrayName, watch.number()).string() + ")",
        "mend that; what is graded is kept. Then: " + settings_.call};
  }

  /// What is missing was tried once more; who was tried often enough gets our own failure as
  /// verdict, with the reason that a task left.
  base::Status submit_again(const std::vector<std::string>& keys) {
    std::vector<std::string> left;
    for (const std::string& key : keys) {
      const auto attempts = work_.ledger->count_attempt(key);
      if (!attempts) return attempts.error();
      if (*attempts < kMostAttempts)
        left.push_back(key);
      else if (auto status = give_up(key, *attempts); !status)
        return status;
    }
    return left.empty() ? base::Done{} : submit(left);
  }

  base::Status give_up(const std::string& key, int attempts) {
    const auto reason = base::read_file(slurm_folder(out_) / (key + ".failed"));
    const auto pending = pending_.find(key);
    course::Grade grade;
    const auto lab =
        std::find_if(work_.settings->course->labs.begin(), work_.settings->course->labs.end(),
                     [&](const course::Lab& one) { return one.id == pending->second->lab; });
    grade.end(course::GradeVerdict::kInfraError,
              "tried " + std::to_string(attempts) + " times on the cluster: " +
                  (reason ? reason->substr(0, reason->find('\n'))
                          : "no task wrote a result; see slurm/membound-*.log"),
              *lab);
    if (const int stage = pending->second->audited_stage; stage > 0)
      grade.audit = course::Audit{1, {{stage, course::Verdict::kInfraError, grade.note, 0}}};
    return finish(pending, grade);
  }

  base::Status finish(std::map<std::string, const Job*>::iterator pending,
                      const course::Grade& grade) {
    if (auto status = work_.ledger->finish(pending->first, grade); !status) return status;
    if (work_.watcher.done) work_.watcher.done(*pending->second, grade);
    ++executed_.graded;
    news_.result_came();
    pending_.erase(pending);
    return base::Done{};
  }

  /// Verdicts whose files are there.
  base::Status take_results() {
    for (auto it = pending_.begin(); it != pending_.end();) {
      const fs::path file =
          out_ / "results" / ledger::record_name(it->first, work_.ledger->job(it->first)->round);
      const auto text = base::read_file(file);
      const auto record =
          text ? ledger::record_from_text(*text, file.string(), work_.ledger->secret())
               : base::Result<ledger::Record>(text.error());
      const auto here = it++;
      if (!record) continue;
      if (auto status = finish(here, record->grade); !status) return status;
    }
    return base::Done{};
  }

  const Work& work_;
  const fs::path out_;
  const SlurmSettings& settings_;
  ClusterNews news_;
  std::map<std::string, const Job*> pending_;
  Chunks chunks_;                    // of all arrays; a task's number is its chunk's
  std::vector<TaskWatch> watches_;   // a task each
  std::vector<std::string> arrays_;  // Slurm's ids
  std::set<std::string> tried_;      // keys of tasks that failed
  int failures_in_a_row_ = 0;
  Executed executed_;
};

}  // namespace

base::Result<Executed> run_slurm(const Work& work, const std::vector<const Job*>& queue,
                                 const std::filesystem::path& out, const SlurmSettings& settings) {
  return Collector(work, queue, out, settings).run();
}

}  // namespace membound::queue
