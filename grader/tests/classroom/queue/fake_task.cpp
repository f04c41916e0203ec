// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A task of a job array that needs no device:
/// fake_task FOLDER OUT SECONDS_PER_JOB [--daemon | --endless-on NODE] CHUNK
/// Every job it starts leaves a line in OUT/starts. With --daemon it also leaves a process that has
/// a session of its own. On NODE its first job leaves OUT/endless and never ends.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "grader/classroom/queue/slurm_task.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

int main(int argc, char** argv) {
  using namespace membound;
  using namespace membound::queue;
  const std::filesystem::path folder = argv[1], out = argv[2];
  const double seconds = std::atof(argv[3]);
  if (argc > 5 && std::string(argv[4]) == "--daemon" && fork() == 0) {
    setsid();
    std::this_thread::sleep_for(std::chrono::seconds(5));
    return 0;
  }
  const char* const node = std::getenv("SLURMD_NODENAME");
  const bool endless = argc > 6 && std::string(argv[4]) == "--endless-on" && node != nullptr &&
                       std::string(argv[5]) == node;
  const course::Course course = fake_course(folder);
  const BatchRequest batch = fake_batch(folder, course, out);
  ChunkRequest request;
  request.out = out;
  request.settings = batch.settings;
  request.number = std::atoi(argv[argc - 1]);
  const char* const job = std::getenv("SLURM_ARRAY_JOB_ID");
  Heartbeat heartbeat(beat_file(out, job == nullptr ? "" : job, request.number), 0.2);
  if (const char* const root = std::getenv("MEMBOUND_ROOT"); root == nullptr || folder != root) {
    heartbeat.end("MEMBOUND_ROOT is not set here");
    return 3;
  }
  request.grade_one = [&](const OneRequest& one) {
    std::ofstream(out / "starts", std::ios::app) << one.job->key << "\n";
    if (endless) std::ofstream(out / "endless") << node << "\n";
    std::this_thread::sleep_for(endless ? std::chrono::duration<double>(std::chrono::hours(1))
                                        : std::chrono::duration<double>(seconds));
    return fake_grade(one);
  };
  const auto outcome = run_chunk(request);
  if (!outcome) std::fprintf(stderr, "%s\n", base::to_string(outcome.error()).c_str());
  heartbeat.end(outcome ? "" : base::to_string(outcome.error()));
  return outcome ? 0 : 3;
}
