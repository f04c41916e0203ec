// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the judge's end makes of a runner that lies: the other end of each connection here is a
/// thread that answers as a test says.
#include "grader/sandbox/runner/client.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <thread>

namespace membound::runner {
namespace {

/// Answers the frame, or says false to close the connection.
using Script = std::function<bool(Channel&, const Frame&)>;

bool answer(Channel& channel, const Frame& frame, std::span<const std::byte> payload) {
  return channel.send(frame.header.sequence, frame.header.kind | kAnswerBit, payload).ok();
}

/// A runner that shakes hands honestly and then follows the script.
class LyingRunner {
 public:
  explicit LyingRunner(Script script) {
    auto pair = make_socket_pair();
    MEMBOUND_CHECK(pair.ok());
    thread_ = std::thread(
        [channel = Channel(std::move(pair->second)), script = std::move(script)]() mutable {
          auto memory = channel.receive_descriptor();
          for (bool first = true;; first = false) {
            const auto frame = channel.receive();
            if (!frame) return;
            const bool go_on = first ? answer(channel, *frame, encode_answer(0, DeviceAnswer{}))
                                     : script(channel, *frame);
            if (!go_on) return;
          }
        });
    auto opened = Connection::open(std::move(pair->first));
    MEMBOUND_CHECK(opened.ok());
    connection = *std::move(opened);
  }
  ~LyingRunner() {
    connection.reset();
    thread_.join();
  }

  std::unique_ptr<Connection> connection;

 private:
  std::thread thread_;
};

TEST(Client, ACodeComesBackAsItIs) {
  LyingRunner runner([](Channel& channel, const Frame& frame) {
    return answer(channel, frame, encode_answer(700, NoAnswer{}));
  });
  EXPECT_EQ(runner.connection->call(Synchronize{}), 700);
  EXPECT_TRUE(runner.connection->problem().empty());
}

TEST(Client, ARunnerThatDiesInALaunchIsKnownToHave) {
  LyingRunner runner([](Channel&, const Frame&) { return false; });
  EXPECT_EQ(runner.connection->call(Launch{}), kDisconnected);
  EXPECT_TRUE(runner.connection->ended());
  EXPECT_TRUE(runner.connection->has_launched());
}

TEST(Client, ARunnerThatDiesAtAnyTimeAfterALaunchIsKnownToHave) {
  LyingRunner runner([](Channel& channel, const Frame& frame) {
    return frame.header.kind != kind_of<Free>() &&
           answer(channel, frame, encode_answer(0, NoAnswer{}));
  });
  EXPECT_EQ(runner.connection->call(Launch{}), 0);
  EXPECT_EQ(runner.connection->call(Synchronize{}), 0);
  EXPECT_EQ(runner.connection->call(Free{64}), kDisconnected);
  EXPECT_TRUE(runner.connection->has_launched());
}

TEST(Client, ARunnerThatDiesWithNothingLaunchedDidSoByItself) {
  LyingRunner runner([](Channel&, const Frame&) { return false; });
  EXPECT_EQ(runner.connection->call(Allocate{64}), kDisconnected);
  EXPECT_TRUE(runner.connection->ended());
  EXPECT_FALSE(runner.connection->has_launched());
}

TEST(Client, AnAnswerToAnotherRequestEndsTheConversation) {
  LyingRunner runner([](Channel& channel, const Frame& frame) {
    return channel
        .send(frame.header.sequence + 1, frame.header.kind | kAnswerBit,
              encode_answer(0, NoAnswer{}))
        .ok();
  });
  EXPECT_EQ(runner.connection->call(Synchronize{}), kDisconnected);
  EXPECT_EQ(runner.connection->problem(), "an answer that was not asked for");
  EXPECT_FALSE(runner.connection->ended());
}

TEST(Client, AnAnswerOfAnotherKindEndsTheConversation) {
  LyingRunner runner([](Channel& channel, const Frame& frame) {
    return channel
        .send(frame.header.sequence, kind_of<AskElapsed>() | kAnswerBit,
              encode_answer(0, ElapsedAnswer{1}))
        .ok();
  });
  EXPECT_EQ(runner.connection->call(Synchronize{}), kDisconnected);
}

TEST(Client, AnAnswerThatIsTooShortOrTooLongEndsTheConversation) {
  for (const std::size_t bytes : {0, 3, 5}) {
    LyingRunner runner([bytes](Channel& channel, const Frame& frame) {
      return answer(channel, frame, std::vector<std::byte>(bytes));
    });
    EXPECT_EQ(runner.connection->call(Synchronize{}), kDisconnected) << bytes;
    EXPECT_FALSE(runner.connection->problem().empty());
  }
}

TEST(Client, NothingIsSentAfterTheConversationHasEnded) {
  int requests = 0;
  {
    LyingRunner runner([&requests](Channel& channel, const Frame& frame) {
      ++requests;
      return answer(channel, frame, {});
    });
    for (int i = 0; i < 3; ++i) EXPECT_EQ(runner.connection->call(Synchronize{}), kDisconnected);
  }
  EXPECT_EQ(requests, 1);
}

constexpr std::uint64_t kCopiedBytes = std::uint64_t{7} << 20;  // several pieces

TEST(Client, ThePiecesOfACopyAreSentOneAhead) {
  bool was_ahead = false;
  int pieces = 0;
  LyingRunner runner([&](Channel& channel, const Frame& first) {
    if (pieces++ > 0) return answer(channel, first, encode_answer(0, NoAnswer{}));
    // Nothing is answered before the second one is there.
    pollfd watched{channel.fd(), POLLIN, 0};
    was_ahead = poll(&watched, 1, 20'000) == 1;
    const auto second = channel.receive();
    ++pieces;
    return second.ok() && answer(channel, first, encode_answer(0, NoAnswer{})) &&
           answer(channel, *second, encode_answer(0, NoAnswer{}));
  });
  const std::vector<std::byte> data(kCopiedBytes);
  EXPECT_EQ(runner.connection->upload(4096, data.data(), data.size()), 0);
  EXPECT_TRUE(was_ahead);
  EXPECT_GT(pieces, 2);
}

TEST(Client, TheFirstPieceThatFailsEndsACopyAndNotTheConversation) {
  int pieces = 0;
  LyingRunner runner([&pieces](Channel& channel, const Frame& frame) {
    const bool is_piece = frame.header.kind == kind_of<Download>();
    return answer(channel, frame, encode_answer(is_piece && ++pieces == 2 ? 700 : 0, NoAnswer{}));
  });
  std::vector<std::byte> data(kCopiedBytes);
  EXPECT_EQ(runner.connection->download(data.data(), 4096, data.size()), 700);
  EXPECT_EQ(pieces, 3) << "the one that was sent ahead, and no more";
  EXPECT_EQ(runner.connection->call(Synchronize{}), 0);
  EXPECT_TRUE(runner.connection->problem().empty());
}

TEST(Client, ABatchGoesOutInOnePiece) {
  std::vector<std::uint32_t> kinds;
  LyingRunner runner([&kinds](Channel& channel, const Frame& frame) {
    kinds.push_back(frame.header.kind);
    if (frame.header.kind == kind_of<Batch>())
      return answer(channel, frame, encode_answer(0, CodesAnswer{{0, 0, 0}}));
    return answer(channel, frame, encode_answer(0, NoAnswer{}));
  });
  runner.connection->begin_batch();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(runner.connection->call(Launch{}), 0);
  EXPECT_EQ(runner.connection->end_batch(), 0);
  EXPECT_EQ(kinds, std::vector<std::uint32_t>{kind_of<Batch>()});
}

TEST(Client, TheFirstFailureInABatchIsTheBatchs) {
  LyingRunner runner([](Channel& channel, const Frame& frame) {
    return answer(channel, frame, encode_answer(9, CodesAnswer{{0, 9}}));
  });
  runner.connection->begin_batch();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(runner.connection->call(Launch{}), 0);
  EXPECT_EQ(runner.connection->end_batch(), 9);
}

TEST(Client, ARequestThatMustWaitSendsTheBatchFirst) {
  std::vector<std::uint32_t> kinds;
  LyingRunner runner([&kinds](Channel& channel, const Frame& frame) {
    kinds.push_back(frame.header.kind);
    if (frame.header.kind == kind_of<Batch>())
      return answer(channel, frame, encode_answer(0, CodesAnswer{{0}}));
    return answer(channel, frame, encode_answer(0, NoAnswer{}));
  });
  runner.connection->begin_batch();
  EXPECT_EQ(runner.connection->call(Launch{}), 0);
  EXPECT_EQ(runner.connection->call(Synchronize{}), 0);
  EXPECT_EQ(runner.connection->end_batch(), 0);
  EXPECT_EQ(kinds, (std::vector<std::uint32_t>{kind_of<Batch>(), kind_of<Synchronize>()}));
}

TEST(Client, MoreCodesThanRequestsEndTheConversation) {
  LyingRunner runner([](Channel& channel, const Frame& frame) {
    return answer(channel, frame, encode_answer(0, CodesAnswer{{0, 0, 0, 0}}));
  });
  runner.connection->begin_batch();
  EXPECT_EQ(runner.connection->call(Launch{}), 0);
  EXPECT_EQ(runner.connection->end_batch(), kDisconnected);
}

constexpr std::uint64_t kArray = 4096, kArrayBytes = 3 * kChunkBytes + 8;

/// What is shown where the runner says this was touched of an array of kArrayBytes bytes.
std::vector<std::uint64_t> shown(const std::vector<TouchedAnswer>& says, std::int32_t& code) {
  std::size_t turn = 0;
  LyingRunner runner([&](Channel& channel, const Frame& frame) {
    return turn < says.size() && answer(channel, frame, encode_answer(0, says[turn++]));
  });
  std::vector<std::uint64_t> offsets;
  code = runner.connection->each_touched(
      kArray, kArrayBytes, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        EXPECT_LE(offset + bytes.size(), kArrayBytes);
        offsets.push_back(offset);
      });
  return offsets;
}

TEST(Client, WhatWasTouchedIsShownInTurn) {
  std::int32_t code = -1;
  EXPECT_EQ(shown({{{{0, 512}}, 1}, {{{1024, 520}}, 0}}, code),
            (std::vector<std::uint64_t>{0, 1024}));
  EXPECT_EQ(code, 0);
}

TEST(Client, RangesOutsideTheArrayOrShownTwiceEndTheConversation) {
  const std::vector<std::vector<TouchedAnswer>> lies = {
      {{{{2048, 512}}, 0}},                  // behind it
      {{{{1536, 512}}, 0}},                  // over its end
      {{{{1024, 100}}, 0}},                  // part of a piece
      {{{{512, 512}}, 1}, {{{0, 512}}, 0}},  // backwards
  };
  for (const auto& lie : lies) {
    std::int32_t code = 0;
    static_cast<void>(shown(lie, code));
    EXPECT_EQ(code, kDisconnected);
  }
}

}  // namespace
}  // namespace membound::runner
