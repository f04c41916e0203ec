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
#include <utility>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/slurm_task.hpp"
#include "grader/classroom/slurm/slurm.hpp"

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

namespace {

double seconds_since(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
}

/// What a call that waits for a cluster tells: troubles once each, and after a time without a
/// result what it waits for.
class ClusterNews {
 public:
  explicit ClusterNews(const SlurmSettings& settings) : settings_(settings) {}

  void tell(const std::string& text);
  void tell_once(const std::string& text);
  void result_came() { latest_ = Clock::now(); }
  /// Whether nothing has come and nothing was told for SlurmSettings::quiet_seconds.
  [[nodiscard]] bool is_quiet() const;
  void tell_what_is_waited_for(const std::vector<TaskWatch>& watches, std::size_t left);
  /// Tells which nodes are held for no job, once that has lasted; again when it comes back.
  void take_forgotten(const std::vector<slurm::Trouble>& forgotten);

 private:
  using Clock = std::chrono::steady_clock;
  /// A node that is held for no job.
  struct Forgotten {
    Clock::time_point since = Clock::now();
    bool told = false;
  };

  const SlurmSettings& settings_;
  std::set<std::string> told_;
  std::map<std::string, Forgotten> forgotten_;  // by what is said of the node
  Clock::time_point latest_ = Clock::now();
};

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
       " s: " + base::counted(left, "submission") + (left == 1 ? " is" : " are") + " left, " +
       base::counted(running, "task") + (running == 1 ? " runs, " : " run, ") +
       std::to_string(waiting) + (waiting == 1 ? " waits" : " wait") + reasons +
       (reasons.empty() ? "" : ")"));
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

  /// Of a call that was killed: what its tasks have finished is taken, the rest is submitted
  /// anew.
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
              "tried " + base::counted(attempts, "time") + " on the cluster: " +
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
