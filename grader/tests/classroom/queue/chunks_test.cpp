// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/slurm_task.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace membound::queue {
namespace {

TEST(Chunks, AreAsManyAsKeepEveryTaskBusyAndNoLargerThanAllowed) {
  const std::vector<ChunkJob> jobs(100, ChunkJob{"k", 1});
  EXPECT_EQ(chunks_of(jobs, 16, 2).size(), 7U);
  EXPECT_EQ(chunks_of(jobs, 16, 50).size(), 50U);
  EXPECT_EQ(chunks_of({}, 16, 4).size(), 0U);
}

TEST(Chunks, ComeBackFromTheirFile) {
  const std::filesystem::path out =
      std::filesystem::temp_directory_path() / ("chunks-" + std::to_string(getpid()));
  std::filesystem::create_directories(out / "slurm");
  ASSERT_TRUE(write_chunks(out, {{{"a", 1}, {"b", 2}}, {{"c", 1}}}));
  const auto chunks = read_chunks(out);
  ASSERT_TRUE(chunks) << base::to_string(chunks.error());
  ASSERT_EQ(chunks->size(), 2U);
  EXPECT_EQ((*chunks)[0][1].key, "b");
  EXPECT_EQ((*chunks)[0][1].round, 2);
  for (const char* broken :
       {"", "{}", "[1]", "[[1]]", "[[{\"key\": 1}]]", "[[{\"key\": \"a\"}]]"}) {
    std::ofstream(out / "slurm" / "chunks.json") << broken;
    EXPECT_FALSE(read_chunks(out)) << broken;
  }
  std::filesystem::remove_all(out);
}

}  // namespace
}  // namespace membound::queue
