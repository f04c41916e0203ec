// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/undo_log.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

class UndoLogTest : public ::testing::Test {
 protected:
  /// As a kernel writes.
  void write(UndoLog& log, std::uint64_t address, int value) {
    log.before_write(address, sizeof value);
    space_.copy_in(address, &value, sizeof value);
  }
  [[nodiscard]] int read(std::uint64_t address) {
    int value = 0;
    space_.copy_out(&value, address, sizeof value);
    return value;
  }
  AddressSpace space_{64 << 20};
};

TEST_F(UndoLogTest, PutsBackWhatWasThereBeforeTheFirstWrite) {
  const auto address = *space_.allocate(100'000, 1, {});
  const int before = 7;
  space_.copy_in(address + 50'000, &before, 4);
  UndoLog log(space_);
  write(log, address + 50'000, 8);
  write(log, address + 50'000, 9);
  write(log, address, 1);
  log.roll_back();
  EXPECT_EQ(read(address + 50'000), 7);
  EXPECT_EQ(read(address), 0);
}

TEST_F(UndoLogTest, PutsBackWhichBytesHadBeenWritten) {
  space_.track_initialised(true);
  const auto address = *space_.allocate(8, 1, {});
  const int before = 7;
  space_.copy_in(address, &before, 4);
  UndoLog log(space_);
  write(log, address + 4, 1);
  const std::uint8_t* const written =
      space_.initialised_shadow() + (address - space_.shared_window());
  EXPECT_EQ(written[4], 1);
  log.roll_back();
  EXPECT_EQ(written[0], 1);
  EXPECT_EQ(written[4], 0);
}

TEST_F(UndoLogTest, PutsBackChunksOfLazilyGeneratedArrays) {
  const auto address = *space_.allocate(100'000, 1, {});
  const auto zeros = [](auto, std::byte* to, auto bytes) { std::fill_n(to, bytes, std::byte{}); };
  ASSERT_TRUE(space_.generate_lazily(address, zeros));
  const int before = 7;
  space_.copy_in(address + 50'176, &before, 4);
  UndoLog log(space_);
  write(log, address + 50'176, 8);
  write(log, address + 50'176, 9);
  write(log, address + 99'996, 1);
  log.roll_back();
  EXPECT_EQ(read(address + 50'176), 7);
  EXPECT_EQ(read(address + 99'996), 0);
}

TEST_F(UndoLogTest, PutsBackHostMemoryAndLeavesItsNeighboursAlone) {
  std::array<int, 3> host{1, 2, 3};
  UndoLog log(space_);
  log.before_write(reinterpret_cast<std::uint64_t>(&host[1]), sizeof(int));
  host = {10, 20, 30};
  log.roll_back();
  EXPECT_EQ(host, (std::array{10, 2, 30}));
}

TEST_F(UndoLogTest, UsesPagesOfAnEarlierLaunchAnew) {
  space_.track_initialised(true);
  const auto address = *space_.allocate(100'000, 1, {});
  for (int launch = 1; launch <= 3; ++launch) {
    UndoLog log(space_);
    write(log, address + 4096u * static_cast<std::uint64_t>(launch), launch);
    log.roll_back();
    EXPECT_EQ(read(address + 4096u * static_cast<std::uint64_t>(launch)), 0);
  }
}

}  // namespace
}  // namespace membound::vgpu::memory
