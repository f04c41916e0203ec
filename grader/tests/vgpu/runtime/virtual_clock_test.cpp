// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/streams.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::runtime {
namespace {

TEST(VirtualClock, HostTimeOnlyMovesForward) {
  VirtualClock clock;
  clock.host_works(100);
  clock.host_waits_until(50);
  EXPECT_EQ(clock.host_ns(), 100);
  clock.host_waits_until(250);
  EXPECT_EQ(clock.host_ns(), 250);
}

TEST(VirtualClock, KernelsThatFillTheMachineTakeTurns) {
  VirtualClock clock;
  EXPECT_EQ(clock.run_kernel(0, 100, 1).end_ns, 100);
  const TimeSpan second = clock.run_kernel(0, 50, 1);
  EXPECT_EQ(second.start_ns, 100);
  EXPECT_EQ(second.end_ns, 150);
}

TEST(VirtualClock, SmallKernelsRunSideBySide) {
  VirtualClock clock;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(clock.run_kernel(0, 100, 0.25).start_ns, 0);
  EXPECT_EQ(clock.run_kernel(0, 100, 0.25).start_ns, 100);
}

TEST(VirtualClock, AKernelWaitsForRoomUntilItsEnd) {
  VirtualClock clock;
  clock.run_kernel(50, 100, 0.8);                       // busy from 50 to 150
  const TimeSpan span = clock.run_kernel(0, 100, 0.5);  // would meet it at 50
  EXPECT_EQ(span.start_ns, 150);
  EXPECT_EQ(clock.run_kernel(0, 40, 0.5).start_ns, 0);  // fits before it
}

TEST(VirtualClock, AnOversizedGridCountsAsTheWholeMachine) {
  VirtualClock clock;
  clock.run_kernel(0, 100, 7.5);
  EXPECT_EQ(clock.run_kernel(0, 10, 7.5).start_ns, 100);
}

TEST(VirtualClock, CopiesInBothDirectionsOverlapEachOtherAndKernels) {
  VirtualClock clock;
  EXPECT_EQ(clock.run_kernel(0, 100, 1).start_ns, 0);
  EXPECT_EQ(clock.run_copy(CopyEngine::kHostToDevice, 0, 80).start_ns, 0);
  EXPECT_EQ(clock.run_copy(CopyEngine::kDeviceToHost, 0, 80).start_ns, 0);
  EXPECT_EQ(clock.run_copy(CopyEngine::kHostToDevice, 0, 80).start_ns, 80);
}

TEST(VirtualClock, ThousandsOfKernelsNobodyWaitsForStayInOrder) {
  VirtualClock clock;
  double end = 0;
  for (int i = 0; i < 5000; ++i) {
    const TimeSpan span = clock.run_kernel(end, 10, 1);
    EXPECT_EQ(span.start_ns, end);
    end = span.end_ns;
  }
  EXPECT_EQ(end, 50000);
}

}  // namespace
}  // namespace membound::vgpu::runtime
