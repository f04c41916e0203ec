// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One task of a job array: grades its chunk, on whatever machine it was put. It may be started
/// twice, killed, or come late: it writes a job's result file or nothing, and never the ledger.
/// Place in the chain: a Slurm task -> [chunk_task] -> one_submission, ledger/record.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/one_submission.hpp"

namespace membound::queue {

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
