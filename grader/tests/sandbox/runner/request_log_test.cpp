// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/call_record.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "grader/base/files.hpp"

namespace membound::runner {
namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text(std::span<const std::byte> part) {
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

/// A log that holds these requests.
std::string log_of(const std::vector<ServedRequest>& requests) {
  const base::Descriptor file(memfd_create("log", MFD_CLOEXEC));
  RequestLog log(file.get());
  for (const ServedRequest& request : requests) log.add(request);
  std::string all(static_cast<std::size_t>(lseek(file.get(), 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(file.get(), all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
  return all;
}

TEST(RequestLog, HoldsWhatWasServed) {
  const std::string log =
      log_of({{7, bytes("ask"), bytes("tell"), bytes("copied")}, {8, {}, {}, {}}});
  const auto requests = requests_of(bytes(log));
  ASSERT_TRUE(requests) << base::to_string(requests.error());
  ASSERT_EQ(requests->all.size(), 2U);
  EXPECT_TRUE(requests->is_whole);
  EXPECT_EQ(requests->all[0].kind, 7U);
  EXPECT_EQ(text(requests->all[0].payload), "ask");
  EXPECT_EQ(text(requests->all[0].answer), "tell");
  EXPECT_EQ(text(requests->all[0].copied), "copied");
  EXPECT_TRUE(requests->all[1].copied.empty());
}

TEST(RequestLog, SaysWhereItIsCutOff) {
  const std::string log = log_of({{7, bytes("ask"), bytes("tell"), bytes("copied")}});
  for (std::size_t length = 1; length < log.size(); ++length)
    EXPECT_FALSE(requests_of(bytes(log).first(length))) << length;
}

TEST(RequestLog, EndsWhereThereIsTooMuch) {
  // Never touched, so it costs nothing; and none of it is written.
  const std::size_t size = RequestLog::kMostBytes;
  void* const much =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(much, MAP_FAILED);
  const std::string log = log_of({{7, bytes("ask"), {}, {}},
                                  {7, {}, {}, {static_cast<const std::byte*>(much), size}},
                                  {7, bytes("ask"), {}, {}}});
  munmap(much, size);
  const auto requests = requests_of(bytes(log));
  ASSERT_TRUE(requests) << base::to_string(requests.error());
  EXPECT_FALSE(requests->is_whole);
  EXPECT_EQ(requests->all.size(), 1U);
}

}  // namespace
}  // namespace membound::runner
