// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a task of a job array says of itself: a small file, written anew every few seconds. A
/// cluster may call a task running that has been dead for an hour; a heartbeat that stands still
/// tells. Place in the chain: chunk_task's process -> [heartbeat] -> slurm_executor, elsewhere.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace membound::queue {

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

}  // namespace membound::queue
