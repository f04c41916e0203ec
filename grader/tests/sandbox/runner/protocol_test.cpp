// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/protocol.hpp"

#include <gtest/gtest.h>

#include "grader/tests/sandbox/runner/random_request.hpp"

namespace membound::runner {
namespace {

using Bytes = std::vector<std::byte>;

TEST(Protocol, EveryRequestComesBackAsItWas) {
  std::mt19937_64 engine(1);
  for (int round = 0; round < 200; ++round)
    for_every_kind(engine, []<typename T>(const T& request) {
      const Bytes bytes = encode(request);
      const auto back = decode_request(kind_of<T>(), bytes);
      ASSERT_TRUE(back.ok()) << name_of(kind_of<T>());
      ASSERT_TRUE(std::holds_alternative<T>(*back));
      EXPECT_EQ(encode(*back), bytes);
    });
}

TEST(Protocol, EachFieldTakesItsBytesInItsOrder) {
  const Bytes bytes = encode(AllowSharedBytes{.kernel = 0x04030201, .bytes = 0x08070605});
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte(i + 1));
  EXPECT_EQ(bytes.size(), 8u);
  EXPECT_EQ(encode(Synchronize{}).size(), 0u);
  EXPECT_EQ(encode(CopyIn{}).size(), 8u + 8 + 4 + 1);
  EXPECT_EQ(encode(Launch{}).size(), 4u + 3 * 4 + 3 * 4 + 4 + 4 + 4 + 4);
  EXPECT_EQ(encode_answer(0, DeviceAnswer{}).size(), 4u + 4 + 4 + 4 + 4 + 4 + 1 + 8 + 1);
}

TEST(Protocol, ARequestIsCalledAsItsType) {
  EXPECT_EQ(name_of(0), "request DescribeDevice");
  EXPECT_EQ(name_of(kind_of<Launch>()), "request Launch");
}

TEST(Protocol, ARequestThatIsCutOffIsRefusedAtEveryPlace) {
  std::mt19937_64 engine(2);
  for_every_kind(engine, []<typename T>(const T& request) {
    const Bytes bytes = encode(request);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_FALSE(decode_request(kind_of<T>(), std::span(bytes).first(length)).ok())
          << name_of(kind_of<T>()) << " cut to " << length;
  });
}

TEST(Protocol, ARequestWithSomethingBehindItIsRefused) {
  std::mt19937_64 engine(3);
  for_every_kind(engine, []<typename T>(const T& request) {
    Bytes bytes = encode(request);
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_request(kind_of<T>(), bytes).ok()) << name_of(kind_of<T>());
  });
}

TEST(Protocol, AnyBytesGiveARequestOrAnErrorAndNeverALargeAllocation) {
  std::mt19937_64 engine(4);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(engine() % 64);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine() >> (engine() % 8));
    const auto kind = static_cast<std::uint32_t>(engine() % (std::variant_size_v<Request> + 2));
    const auto request = decode_request(kind, bytes);
    if (request) {
      EXPECT_EQ(encode(*request), bytes);
    }
  }
}

TEST(Protocol, AListThatClaimsMoreThanIsThereIsRefusedBeforeItIsMade) {
  Writer writer;
  writer(std::uint32_t{0xFFFFFFFF});
  EXPECT_FALSE(decode_request(kind_of<Batch>(), writer.take()).ok());
}

TEST(Protocol, AKindThatDoesNotExistIsNamed) {
  const auto request = decode_request(77, {});
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().found, "request number 77");
}

TEST(Protocol, AHeaderOfAnotherVersionIsRefused) {
  Bytes frame = encode_frame(1, 2, {});
  frame[3] = std::byte{9};
  EXPECT_FALSE(decode_header(std::span(frame).first(kHeaderBytes)).ok());
}

TEST(Protocol, AFrameLongerThanTheLimitIsRefusedByItsHeader) {
  Writer writer;
  writer(FrameHeader{kMagic, kMaxPayloadBytes + 1, 1, 2});
  EXPECT_FALSE(decode_header(writer.take()).ok());
}

TEST(Protocol, OnlyRequestsWithACodeAndNothingElseMayBeBatched) {
  EXPECT_TRUE(decode_from_batch(encode_for_batch(Launch{})).ok());
  EXPECT_FALSE(decode_from_batch(encode_for_batch(Allocate{64})).ok());
  EXPECT_FALSE(decode_from_batch(encode_for_batch(Batch{})).ok());
}

ModuleAnswer module_with(std::vector<Parameter> parameters) {
  return {0, 0, {{"kernel", std::move(parameters)}}};
}

bool is_taken(const ModuleAnswer& answer) {
  return decode_answer<ModuleAnswer>(encode_answer(0, answer)).has_value();
}

TEST(Protocol, ParametersStandInOrderWithoutOverlap) {
  EXPECT_TRUE(is_taken(module_with({{0, 8}, {8, 4}, {16, 8}})));
  EXPECT_FALSE(is_taken(module_with({{0, 8}, {4, 4}})));
  EXPECT_FALSE(is_taken(module_with({{8, 8}, {0, 8}})));
}

TEST(Protocol, ParametersStayWithinCudasLimit) {
  EXPECT_TRUE(is_taken(module_with({{0, kMaxParameterBytes}})));
  EXPECT_FALSE(is_taken(module_with({{0, kMaxParameterBytes + 1}})));
  EXPECT_FALSE(is_taken(module_with({{0xFFFFFFFF, 8}})));
  EXPECT_FALSE(is_taken(module_with({{0, 0}})));
}

TEST(Protocol, AReportIsNotLargerThanTheSharedBuffer) {
  EXPECT_TRUE(decode_answer<ReportAnswer>(encode_answer(0, ReportAnswer{kSharedBytes})));
  EXPECT_FALSE(decode_answer<ReportAnswer>(encode_answer(0, ReportAnswer{kSharedBytes + 1})));
}

bool is_taken(std::vector<TouchedRange> ranges, std::uint8_t more = 0) {
  return decode_answer<TouchedAnswer>(encode_answer(0, TouchedAnswer{std::move(ranges), more}))
      .has_value();
}

TEST(Protocol, RangesThatWereTouchedStandInOrderAndFitTheSharedBuffer) {
  EXPECT_TRUE(is_taken({{0, 512}, {1024, 512}}));
  EXPECT_TRUE(is_taken({{0, kSharedBytes}}, 1));
  EXPECT_FALSE(is_taken({{1024, 512}, {0, 512}}));
  EXPECT_FALSE(is_taken({{0, 1024}, {512, 512}}));
  EXPECT_FALSE(is_taken({{0, 0}}));
  EXPECT_FALSE(is_taken({{3, 512}}));
  EXPECT_FALSE(is_taken({{0, kSharedBytes}, {kSharedBytes, 512}}));
  EXPECT_FALSE(is_taken({{UINT64_MAX - 511, 1024}}));
  EXPECT_FALSE(is_taken({}, 1)) << "more behind nothing: for ever";
}

}  // namespace
}  // namespace membound::runner
