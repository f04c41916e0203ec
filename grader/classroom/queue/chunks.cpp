// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/chunks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/course/json_io.hpp"

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

}  // namespace membound::queue
