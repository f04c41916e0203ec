// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/slurm_task.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/course/json_io.hpp"
#include "grader/judge/device_lock.hpp"

namespace membound::queue {
namespace {

constexpr double kMostStages = 1000;

std::filesystem::path file_of(const std::filesystem::path& out) {
  return slurm_folder(out) / "chunks.json";
}

base::Error broken(const std::filesystem::path& file) {
  return {base::ErrorKind::kInput, file.string(), "is not a list of chunks",
          "the file that membound grade --executor slurm writes", "give that command again"};
}

}  // namespace

Chunks chunks_of(const std::vector<ChunkJob>& jobs, std::size_t most, std::size_t at_once) {
  MEMBOUND_CHECK(most > 0);
  const std::size_t tasks = std::max<std::size_t>(1, at_once);
  const std::size_t even = (jobs.size() + tasks - 1) / tasks;
  const std::size_t size = std::clamp<std::size_t>(even, 1, most);
  Chunks chunks;
  for (std::size_t first = 0; first < jobs.size(); first += size)
    chunks.emplace_back(
        jobs.begin() + static_cast<std::ptrdiff_t>(first),
        jobs.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, jobs.size())));
  return chunks;
}

std::filesystem::path slurm_folder(const std::filesystem::path& out) { return out / "slurm"; }

base::Status write_chunks(const std::filesystem::path& out, const Chunks& chunks) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& chunk : chunks) {
    nlohmann::json jobs = nlohmann::json::array();
    for (const ChunkJob& job : chunk)
      jobs.push_back({{"key", job.key},
                      {"round", job.round},
                      {"audited", job.audited},
                      {"audited_stage", job.audited_stage}});
    list.push_back(std::move(jobs));
  }
  return base::write_file(file_of(out), list.dump(1) + "\n");
}

base::Result<Chunks> read_chunks(const std::filesystem::path& out) {
  const auto text = base::read_file(file_of(out));
  if (!text) return text.error();
  const auto list = nlohmann::json::parse(*text, nullptr, false);
  if (!list.is_array()) return broken(file_of(out));
  Chunks chunks;
  for (const auto& jobs : list) {
    auto& chunk = chunks.emplace_back();
    if (!jobs.is_array()) return broken(file_of(out));
    for (const auto& job : jobs) {
      if (!job.is_object() || !job.contains("key") || !job["key"].is_string() ||
          !job.contains("round") || !job["round"].is_number_integer())
        return broken(file_of(out));
      chunk.push_back(
          {job["key"].get<std::string>(), job["round"].get<int>(),
           course::text_or_empty(job, "audited"),
           static_cast<int>(course::number_or_zero(job, "audited_stage", 0, kMostStages))});
    }
  }
  return chunks;
}

namespace {

constexpr const char* kAlive = "alive";
constexpr const char* kDone = "done";
constexpr const char* kFailed = "failed";

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

}  // namespace

std::filesystem::path beat_file(const std::filesystem::path& out, const std::string& job,
                                int task) {
  return slurm_folder(out) / "beats" / (job + "_" + std::to_string(task));
}

std::optional<Beat> read_beat(const std::filesystem::path& file) {
  const auto text = base::read_file(file);
  if (!text) return std::nullopt;
  Beat beat{*text};
  std::istringstream words(*text);
  std::string count, state;
  words >> count >> state >> beat.node;
  beat.ended = state == kDone || state == kFailed;
  if (state == kFailed) std::getline(words >> std::ws, beat.reason);
  return beat;
}

Heartbeat::Heartbeat(std::filesystem::path file, double seconds) : file_(std::move(file)) {
  write(kAlive);
  thread_ = std::thread([this, seconds] { keep_beating(seconds); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard guard(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::end(const std::string& reason) {
  const std::lock_guard guard(mutex_);
  if (over_) return;
  over_ = true;
  wake_.notify_one();
  // One line: readers take what stands after the node.
  write(reason.empty() ? kDone
                       : std::string(kFailed) + " " + host() + " " +
                             base::printable(reason.substr(0, reason.find('\n'))));
}

void Heartbeat::write(const std::string& state) {
  const bool has_node = state.find(' ') != std::string::npos;
  // A folder that cannot be written to loses the results too, which says so.
  static_cast<void>(base::write_file(
      file_, std::to_string(++count_) + " " + state + (has_node ? "" : " " + host()) + "\n"));
}

void Heartbeat::keep_beating(double seconds) {
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, std::chrono::duration<double>(seconds), [this] { return over_; }))
    write(kAlive);
}

namespace {

namespace fs = std::filesystem;

const course::Lab* lab_of(const course::Course& course, const std::string& id) {
  for (const course::Lab& lab : course.labs)
    if (lab.id == id) return &lab;
  return nullptr;
}

base::Error not_planned(const ChunkJob& job) {
  return {base::ErrorKind::kInput, "chunks.json", "job " + job.key + " is not in batch.json",
          "both files of the same batch", "give the command membound grade again"};
}

/// The node's tools must be those the plan was made with: else a verdict would depend on the node.
base::Status check_digests(const Settings& settings, const Plan& plan, const course::Lab& lab) {
  const auto here = digests_of(settings, lab, plan.limits);
  if (!here) return here.error();
  const course::GradeDigests& there = plan.labs.at(lab.id).digests;
  if (here->harness == there.harness && here->toolchain == there.toolchain &&
      here->lab == there.lab)
    return base::Done{};
  return base::Error{base::ErrorKind::kMachine, "this node",
                     "has another " +
                         std::string(here->harness != there.harness ? "harness"
                                     : here->lab != there.lab       ? "lab"
                                                                    : "compiler") +
                         " than the machine that made the plan",
                     "the same build and compiler on every node",
                     "put Membound's folder on the shared file system"};
}

/// What the chunk means: a job of the plan, or an audit of one.
std::optional<Job> job_of(const Plan& plan, const ChunkJob& wanted) {
  const bool is_audit = wanted.audited_stage > 0;
  const Job* const planned = plan.job(is_audit ? wanted.audited : wanted.key);
  if (planned == nullptr) return std::nullopt;
  Job job = *planned;
  job.key = wanted.key;
  job.audited = wanted.audited;
  job.audited_stage = wanted.audited_stage;
  return job;
}

bool has_result(const ChunkRequest& request, const ChunkJob& job, const std::string& secret) {
  const fs::path file = request.out / "results" / ledger::record_name(job.key, job.round);
  const auto text = base::read_file(file);
  return text && ledger::record_from_text(*text, file.string(), secret).ok();
}

}  // namespace

base::Result<ChunkOutcome> run_chunk(const ChunkRequest& given) {
  ChunkRequest request = given;
  const auto secret = ledger::read_secret(request.out, request.key_file, false);
  if (!secret) return secret.error();
  const auto plan = read_plan(request.out);
  if (!plan) return plan.error();
  const auto chunks = read_chunks(request.out);
  if (!chunks) return chunks.error();
  if (!*plan || request.number < 0 || static_cast<std::size_t>(request.number) >= chunks->size())
    return base::Error{base::ErrorKind::kUsage,
                       "--chunk",
                       std::to_string(request.number),
                       "a chunk of " + std::to_string(chunks->size()),
                       {}};
  const base::ScratchFolder folder("task");
  request.settings.place.state = folder.path();
  const intake::Store store(request.out);
  ChunkOutcome outcome;
  auto reference_runner = std::make_unique<judge::ReferenceRunner>();
  for (const ChunkJob& chunk_job : (*chunks)[static_cast<std::size_t>(request.number)]) {
    if (request.stop != nullptr && request.stop->load()) break;
    if (has_result(request, chunk_job, *secret)) {
      ++outcome.found;
      continue;
    }
    const auto job = job_of(**plan, chunk_job);
    const course::Lab* const lab = job ? lab_of(*request.settings.course, job->lab) : nullptr;
    if (lab == nullptr) return not_planned(chunk_job);
    if (const auto same = check_digests(request.settings, **plan, *lab); !same) return same.error();
    OneRequest one;
    one.settings = &request.settings;
    one.lab = lab;
    one.job = &*job;
    one.planned = &(*plan)->labs.at(job->lab);
    one.limits = (*plan)->limits;
    one.source = store.file(job->submission_sha256);
    one.stop = request.stop;
    one.reference_runner = [&reference_runner](const judge::Device& device) {
      return device.lock_file.empty() ? nullptr : reference_runner.get();
    };
    const OneOutcome graded = request.grade_one(one);
    if (graded.stopped) break;
    // Not even this verdict: on a device that broke here another node's says more.
    if (graded.device_lost) return *graded.device_lost;
    if (graded.grade.verdict == course::GradeVerdict::kInfraError) {
      ++outcome.failed;
      outcome.reason = graded.grade.note;
      const auto told = base::write_file(slurm_folder(request.out) / (job->key + ".failed"),
                                         graded.grade.note + "\n");
      if (!told) return told.error();
      continue;
    }
    const auto written =
        ledger::write_record(request.out, {job->key, chunk_job.round, graded.grade}, *secret);
    if (!written) return written.error();
    ++outcome.graded;
  }
  reference_runner.reset();
  if (!request.settings.trust_submissions && outcome.graded + outcome.failed > 0)
    judge::wipe_devices(request.settings.place, {request.settings.device});
  return outcome;
}

}  // namespace membound::queue
