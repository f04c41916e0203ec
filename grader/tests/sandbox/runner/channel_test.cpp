// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace membound::runner {
namespace {

struct Ends {
  Channel judge, runner;
};

Ends make_ends() {
  auto pair = make_socket_pair();
  MEMBOUND_CHECK(pair.ok());
  return {Channel(std::move(pair->first)), Channel(std::move(pair->second))};
}

TEST(Channel, AFrameArrivesAsItWasSent) {
  Ends ends = make_ends();
  const std::vector<std::byte> payload(100, std::byte{7});
  ASSERT_TRUE(ends.judge.send(3, 5, payload).ok());
  const auto frame = ends.runner.receive();
  ASSERT_TRUE(frame.ok());
  EXPECT_EQ(frame->header.sequence, 3U);
  EXPECT_EQ(frame->header.kind, 5U);
  EXPECT_EQ(frame->payload, payload);
}

TEST(Channel, ALargeFrameArrivesThoughTheSocketTakesItInPieces) {
  Ends ends = make_ends();
  const std::vector<std::byte> payload(kMaxPayloadBytes, std::byte{1});
  std::thread sender([&] { ASSERT_TRUE(ends.judge.send(1, 1, payload).ok()); });
  const auto frame = ends.runner.receive();
  sender.join();
  ASSERT_TRUE(frame.ok());
  EXPECT_EQ(frame->payload.size(), payload.size());
}

TEST(Channel, TheOthersEndIsToldApartFromRubbish) {
  Ends ends = make_ends();
  ends.judge = Channel(Descriptor());
  EXPECT_FALSE(ends.runner.receive().ok());
  EXPECT_TRUE(ends.runner.ended());
}

TEST(Channel, RubbishIsAnErrorAndNotTheEnd) {
  Ends ends = make_ends();
  const char rubbish[kHeaderBytes] = "not a frame    ";
  ASSERT_EQ(send(ends.judge.fd(), rubbish, sizeof(rubbish), 0), ssize_t{sizeof(rubbish)});
  EXPECT_FALSE(ends.runner.receive().ok());
  EXPECT_FALSE(ends.runner.ended());
}

TEST(SharedBuffer, BothSidesSeeTheSameBytes) {
  Ends ends = make_ends();
  auto judges = SharedBuffer::make();
  ASSERT_TRUE(judges.ok());
  ASSERT_TRUE(ends.judge.send_descriptor(judges->fd()).ok());
  auto memory = ends.runner.receive_descriptor();
  ASSERT_TRUE(memory.ok());
  auto runners = SharedBuffer::map(*std::move(memory));
  ASSERT_TRUE(runners.ok());
  judges->data()[kSharedBytes - 1] = std::byte{42};
  EXPECT_EQ(runners->data()[kSharedBytes - 1], std::byte{42});
}

TEST(SharedBuffer, MemoryThatCouldBeShortenedIsRefused) {
  Descriptor memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(memory.get(), static_cast<off_t>(kSharedBytes)), 0);
  EXPECT_FALSE(SharedBuffer::map(std::move(memory)).ok());
}

TEST(SharedBuffer, AnotherSizeIsRefused) {
  Descriptor memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(memory.get(), 4096), 0);
  ASSERT_EQ(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(SharedBuffer::map(std::move(memory)).ok());
}

}  // namespace
}  // namespace membound::runner
