// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch_executor.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/judge/device_lock.hpp"

namespace membound::queue {
namespace {

/// So many tries in a row that fail by our own fault: it may be the texts, or the machine. A text
/// of ours tells.
constexpr int kDoubtful = 6;
/// Compiled, loaded and judged like any other, and wrong in every lab.
constexpr const char* kOwnText = "__global__ void membound_probe(int* out) { *out = 1; }\n";

/// One call of run_local.
class Local {
 public:
  Local(const Work& work, const std::vector<const Job*>& queue)
      : work_(work),
        devices_(work.settings->devices.empty() ? std::vector{work.settings->device}
                                                : work.settings->devices),
        pool_(devices_) {
    // A device without a lock serves several at once.
    for (const judge::Device& device : devices_)
      if (!device.lock_file.empty()) reference_runners_[&device];
    for (const Job* job : queue) {
      const auto state = work.ledger->job(job->key);
      (state && state->deaths > 0 ? suspects_ : queue_).push_back(job);
    }
  }

  base::Result<Executed> run(int workers) {
    const bool has_work = !queue_.empty() || !suspects_.empty();
    run_with_retries(std::max(1, workers));
    // One that was running when the grader died may have been the reason. Alone it takes nobody
    // else with it, and what it does is known to be its doing.
    queue_.swap(suspects_);
    run_with_retries(1);
    reference_runners_.clear();
    if (has_work && !work_.settings->trust_submissions && !fatal_)
      judge::wipe_devices(work_.settings->place, devices_);
    executed_.stopped = stopped();
    if (fatal_) return *fatal_;
    return executed_;
  }

 private:
  [[nodiscard]] bool stopped() const { return work_.stop != nullptr && work_.stop->load(); }
  bool ending() {
    const std::lock_guard guard(mutex_);
    return fatal_.has_value() || stopped();
  }

  /// What fails by our own fault comes last, as often as it may be tried.
  void run_with_retries(int workers) {
    for (; !ending() && !queue_.empty(); queue_.swap(again_)) run_all(workers);
  }

  void run_all(int workers) {
    at_once_ = std::min(workers, static_cast<int>(queue_.size()));
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(workers));
    for (int worker = 0; worker < workers; ++worker)
      threads.emplace_back([this, worker] { work(worker); });
    for (std::thread& thread : threads) thread.join();
  }

  void work(int worker) {
    while (const Job* job = next()) {
      const auto status = one(worker, *job);
      report_progress(worker, *job, "");
      if (status) continue;
      const std::lock_guard guard(mutex_);
      if (!fatal_) fatal_ = status.error();
    }
  }

  const Job* next() {
    if (stopped()) return nullptr;
    const std::lock_guard guard(mutex_);
    if (fatal_ || queue_.empty()) return nullptr;
    const Job* const job = queue_.front();
    queue_.pop_front();
    return job;
  }

  void report_progress(int worker, const Job& job, const std::string& doing) const {
    if (work_.watcher.now) work_.watcher.now(worker, job, doing);
  }

  base::Status one(int worker, const Job& job) {
    const course::Lab* lab = nullptr;
    for (const course::Lab& one : work_.settings->course->labs)
      if (one.id == job.lab) lab = &one;
    MEMBOUND_CHECK(lab != nullptr);
    if (base::failpoint("job.before_lease")) return full();
    auto leased = work_.ledger->lease(job.key);
    if (!leased) return leased;
    if (base::failpoint("job.leased")) return full();

    OneRequest request;
    request.settings = work_.settings;
    request.lab = lab;
    request.job = &job;
    request.planned = &work_.plan->labs.at(job.lab);
    request.limits = work_.plan->limits;
    request.source = work_.store->file(job.submission_sha256);
    request.stop = work_.stop;
    request.at_once = at_once_;
    request.on_step = [&](const std::string& doing) { report_progress(worker, job, doing); };
    request.take_device = [this]() -> const judge::Device& { return pool_.take(); };
    request.free_device = [this](const judge::Device& device) { pool_.give_back(device); };
    request.reference_runner = [this](const judge::Device& device) {
      const auto found = reference_runners_.find(&device);
      return found == reference_runners_.end() ? nullptr : &found->second;
    };
    OneOutcome outcome = work_.grade_one(request);
    if (base::failpoint("job.judged")) return full();
    if (outcome.stopped) return work_.ledger->give_back(job.key);
    auto kept = outcome.grade.verdict == course::GradeVerdict::kInfraError
                    ? our_fault(request, outcome.grade)
                    : finish(job, outcome.grade);
    if (kept && outcome.device_lost) return *outcome.device_lost;
    return kept;
  }

  base::Status finish(const Job& job, const course::Grade& grade) {
    auto finished = work_.ledger->finish(job.key, grade);
    if (!finished) return finished;
    if (work_.watcher.done) work_.watcher.done(job, grade);
    const std::lock_guard guard(mutex_);
    ++executed_.graded;
    if (grade.verdict != course::GradeVerdict::kInfraError) failures_in_a_row_ = 0;
    return base::Done{};
  }

  /// The text may be at fault all the same: it is tried once more, when all others are done.
  base::Status our_fault(const OneRequest& request, course::Grade grade) {
    const auto attempts = work_.ledger->count_attempt(request.job->key);
    if (!attempts) return attempts.error();
    if (is_doubtful())
      if (const auto works = grade_own_text(request, grade.note); !works) return works;
    if (*attempts < kLocalAttempts) {
      const std::lock_guard guard(mutex_);
      again_.push_back(request.job);
      return base::Done{};
    }
    grade.note = "tried " + base::counted(*attempts, "time") + ": " + grade.note;
    return finish(*request.job, grade);
  }

  bool is_doubtful() {
    const std::lock_guard guard(mutex_);
    if (++failures_in_a_row_ < kDoubtful) return false;
    failures_in_a_row_ = 0;
    return true;
  }

  /// Whether the grader itself works, tried in the place of `request` by a text that nobody handed
  /// in. Nothing else ends a batch for texts that fail.
  base::Status grade_own_text(const OneRequest& request, const std::string& last) {
    Job job = *request.job;
    job.key = "a text of our own";
    job.submission_sha256 = base::sha256(kOwnText);
    OneRequest own = request;
    own.job = &job;
    own.source = work_.settings->place.state / "own" / job.lab / "kernel.cu";
    const auto written = base::write_file(own.source, kOwnText);
    if (!written) return written;
    const OneOutcome outcome = work_.grade_one(own);
    if (outcome.device_lost) return *outcome.device_lost;
    if (outcome.stopped || outcome.grade.verdict != course::GradeVerdict::kInfraError)
      return base::Done{};
    return base::Error{base::ErrorKind::kMachine, "grading",
                       "the last " + std::to_string(kDoubtful) +
                           " tries failed by our own fault, the last one with: " + last +
                           "; a text of our own fails too, with: " + outcome.grade.note,
                       "a grader that works on this machine",
                       "membound doctor; then give the same command again"};
  }

  [[nodiscard]] static base::Error full() {
    return {base::ErrorKind::kMachine, "grading", "No space left on device", "",
            "make room; then give the same command again"};
  }

  const Work& work_;
  const std::vector<judge::Device> devices_;
  judge::DevicePool pool_;
  std::map<const judge::Device*, judge::ReferenceRunner> reference_runners_;
  std::mutex mutex_;
  std::deque<const Job*> queue_, again_, suspects_;
  Executed executed_;
  int at_once_ = 1;
  int failures_in_a_row_ = 0;
  std::optional<base::Error> fatal_;
};

}  // namespace

base::Result<Executed> run_local(const Work& work, const std::vector<const Job*>& queue,
                                 int workers) {
  return Local(work, queue).run(workers);
}

}  // namespace membound::queue
