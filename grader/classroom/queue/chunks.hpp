// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A queue of jobs in chunks, as the tasks of a job array take them: one file,
/// OUT/slurm/chunks.json, written before the array is submitted. Place in the chain: slurm_executor
/// -> [chunks] -> chunk_task on another machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

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

}  // namespace membound::queue
