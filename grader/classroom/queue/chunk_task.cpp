// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/chunk_task.hpp"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/classroom/intake/store.hpp"
#include "grader/classroom/ledger/record.hpp"
#include "grader/classroom/queue/chunks.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/judge/wipe_devices.hpp"

namespace membound::queue {
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
