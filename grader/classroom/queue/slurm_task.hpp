// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One task of a job array, on whatever machine it was put: the chunk of the queue that it grades
/// (OUT/slurm/chunks.json) and the heartbeat by which it says that it lives. It may be started
/// twice, killed, or come late: it writes a job's result file or nothing, and never the ledger.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/one_submission.hpp"

namespace membound::queue {

/// Jobs by key and round; a chunk is what one task grades.
struct ChunkJob {
  std::string key;
  int round = 1;
  std::string audited = {};  ///< of an audit: see Job
  int audited_stage = 0;
};
using Chunks = std::vector<std::vector<ChunkJob>>;

/// Submitting costs about a second a task, so a task grades several submissions; but no more than
/// `most`, and as few as give every task of `at_once` something to do.
[[nodiscard]] Chunks chunks_of(const std::vector<ChunkJob>& jobs, std::size_t most,
                               std::size_t at_once);

/// OUT/slurm.
[[nodiscard]] std::filesystem::path slurm_folder(const std::filesystem::path& out);

[[nodiscard]] base::Status write_chunks(const std::filesystem::path& out, const Chunks& chunks);
[[nodiscard]] base::Result<Chunks> read_chunks(const std::filesystem::path& out);

/// One reading of a task's file.
struct Beat {
  std::string text;         ///< as it was read; another one later is a sign of life
  bool ended = false;       ///< by its own word
  std::string reason = {};  ///< why it could grade nothing; empty where it could
  std::string node = {};    ///< its host
};

/// OUT/slurm/beats/JOB_TASK. `job` is Slurm's id of the array.
[[nodiscard]] std::filesystem::path beat_file(const std::filesystem::path& out,
                                              const std::string& job, int task);
/// Nothing where there is none yet.
[[nodiscard]] std::optional<Beat> read_beat(const std::filesystem::path& file);

/// Writes the file at once and every `seconds` until end().
class Heartbeat {
 public:
  explicit Heartbeat(std::filesystem::path file, double seconds = 10);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// The task's last word: "" where it did its work, else the reason of the site's for which it
  /// could not. Without it the file's last state is that of a task that died.
  void end(const std::string& reason);

 private:
  void write(const std::string& state);
  void keep_beating(double seconds);

  const std::filesystem::path file_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  int count_ = 0;
  std::thread thread_;
};

struct ChunkRequest {
  std::filesystem::path out;
  std::filesystem::path key_file;
  Settings settings;  ///< its place.state is filled in: a folder of this task's own
  int number = 0;     ///< of the chunk, from 0
  const std::atomic<bool>* stop = nullptr;
  /// Another way to grade one job than the real one, for tests.
  std::function<OneOutcome(const OneRequest&)> grade_one = queue::grade_one;
};

/// What came of it.
struct ChunkOutcome {
  int graded = 0;
  int found = 0;   ///< already had a result
  int failed = 0;  ///< by our own fault: "<key>.failed" in the folder of the array says why
  std::string reason = {};  ///< of the last of those
};

/// An error where the chunk cannot be graded at all.
[[nodiscard]] base::Result<ChunkOutcome> run_chunk(const ChunkRequest& request);

}  // namespace membound::queue
