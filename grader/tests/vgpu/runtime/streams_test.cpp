// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/streams.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace membound::vgpu::runtime {
namespace {

constexpr unsigned int kNonBlocking = 1;

cudaStream_t special(std::uintptr_t value) { return reinterpret_cast<cudaStream_t>(value); }

TEST(Streams, ZeroAndOneAreTheLegacyStream) {
  StreamTable table;
  EXPECT_EQ(table.find(special(0)), &table.legacy());
  EXPECT_EQ(table.find(special(1)), &table.legacy());
}

TEST(Streams, EachThreadHasItsOwnPerThreadStream) {
  StreamTable table;
  Stream* mine = table.find(special(2));
  EXPECT_EQ(table.find(special(2)), mine);
  Stream* theirs = nullptr;
  std::thread([&] { theirs = table.find(special(2)); }).join();
  EXPECT_NE(mine, theirs);
}

TEST(Streams, AHandleNobodyMadeIsNotFound) {
  StreamTable table;
  EXPECT_EQ(table.find(special(0x1234560)), nullptr);
  const cudaStream_t stream = table.create(0, 0);
  EXPECT_NE(table.find(stream), nullptr);
  EXPECT_TRUE(table.destroy(stream));
  EXPECT_EQ(table.find(stream), nullptr);
  EXPECT_FALSE(table.destroy(stream));
}

TEST(Streams, TheLegacyStreamWaitsForBlockingStreamsOnly) {
  StreamTable table;
  table.find(table.create(0, 0))->timeline.ready_ns = 100;
  table.find(table.create(kNonBlocking, 0))->timeline.ready_ns = 500;
  EXPECT_EQ(table.earliest_ns(table.legacy()), 100);
}

TEST(Streams, BlockingStreamsWaitForTheLegacyStream) {
  StreamTable table;
  const Stream& blocking = *table.find(table.create(0, 0));
  const Stream& free = *table.find(table.create(kNonBlocking, 0));
  table.legacy().timeline.ready_ns = 70;
  EXPECT_EQ(table.earliest_ns(blocking), 70);
  EXPECT_EQ(table.earliest_ns(free), 0);
}

TEST(Streams, TwoStreamsDoNotWaitForEachOther) {
  StreamTable table;
  table.find(table.create(0, 0))->timeline.ready_ns = 100;
  EXPECT_EQ(table.earliest_ns(*table.find(table.create(0, 0))), 0);
  EXPECT_EQ(table.all_done_ns(), 100);
}

}  // namespace
}  // namespace membound::vgpu::runtime
