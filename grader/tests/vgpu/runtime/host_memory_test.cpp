// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the checkers say of a program's own host code: pinned and managed memory that it touches
/// while the device uses it (programs/host_access.cu), and copies of what nobody has written
/// (programs/unwritten.cu). Of right ones not a word.
#include <gmock/gmock.h>

#include "grader/tests/vgpu/runtime/program_run.hpp"

namespace membound::vgpu::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A way of a program, and what must be said of it; empty: nothing.
struct Way {
  const char* argument;
  const char* said;
};

std::string name_of(const ::testing::TestParamInfo<Way>& info) { return info.param.argument; }

class HostAccess : public ::testing::TestWithParam<Way> {};

TEST_P(HostAccess, IsTold) {
  const Outcome outcome = run("host_access", GetParam().argument, {"MEMBOUND_CHECK=racecheck"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.said, HasSubstr("racecheck: data race"));
  EXPECT_THAT(outcome.said, HasSubstr(GetParam().said));
}
constexpr Way kTooEarly[] = {
    {"managed_read",
     "managed array of cudaMallocManaged), which kernel fill, submitted before, "
     "writes at host_access.cu:"},
    {"managed_written", "the host writes to 0x"},
    {"variable_read", "managed variable shared_variable), which kernel fill_variable"},
    {"pinned_read", "pinned array of cudaMallocHost), which kernel fill"},
    {"copy_read", "the host reads 0x"},
    {"source_overwritten", "which a copy, submitted before, reads; the host has not waited for it"},
    {"other_stream_waited_for", "which kernel fill, submitted before, writes"},
    {"event_before", "which kernel fill, submitted before, writes"},
    {"registered_read", "pinned array of cudaHostRegister), which kernel fill"},
};
INSTANTIATE_TEST_SUITE_P(TooEarly, HostAccess, ::testing::ValuesIn(kTooEarly), name_of);

class RightHostAccess : public ::testing::TestWithParam<Way> {};

TEST_P(RightHostAccess, IsNotTold) {
  const Outcome outcome = run("host_access", GetParam().argument, {"MEMBOUND_CHECK=all"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.said, "");
}
constexpr Way kInTime[] = {
    {"device_waited_for", ""},    {"event_waited_for", ""},     {"stream_asked", ""},
    {"blocking_copy_after", ""},  {"other_array", ""},          {"other_half", ""},
    {"source_read", ""},          {"own_memory", ""},           {"filled_by_a_call_that_waits", ""},
    {"in_the_streams_order", ""}, {"device_reads_it_next", ""}, {"handed_over_by_a_flag", ""}};
INSTANTIATE_TEST_SUITE_P(InTime, RightHostAccess, ::testing::ValuesIn(kInTime), name_of);

class UnwrittenCopy : public ::testing::TestWithParam<Way> {};

TEST_P(UnwrittenCopy, IsOneFinding) {
  const Outcome outcome = run("unwritten", GetParam().argument, {"MEMBOUND_CHECK=initcheck"});
  EXPECT_THAT(outcome.said, HasSubstr(GetParam().said));
  const std::size_t first = outcome.said.find("initcheck: uninitialised copy");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(outcome.said.find("initcheck", first + 1), std::string::npos);
}
constexpr Way kUnwritten[] = {
    {"grid_rounded_down",
     "cudaMemcpy copies 4000 bytes to the host, of which nobody has written "
     "928; the first is byte 3072 of the 4000 bytes at 0x"},
    {"nothing_written", "of which nobody has written any; the first is byte 0 of"},
    {"one_left_out", "of which nobody has written 4; the first is byte 20 of"},
    {"ends_of_rows", "cudaMemcpy2D copies 3200 bytes to the host, of which nobody has written 64"},
    {"by_way_of_another_array", "of which nobody has written any"},
};
INSTANTIATE_TEST_SUITE_P(Mistakes, UnwrittenCopy, ::testing::ValuesIn(kUnwritten), name_of);

class WrittenCopy : public ::testing::TestWithParam<Way> {};

TEST_P(WrittenCopy, IsNotTold) {
  const Outcome outcome = run("unwritten", GetParam().argument, {"MEMBOUND_CHECK=all"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.said, "");
}
constexpr Way kWritten[] = {
    {"all_written", ""},       {"only_what_was_written", ""}, {"cleared", ""},
    {"rows_with_a_pitch", ""}, {"padding_of_a_struct", ""},   {"padding_copied_on", ""}};
INSTANTIATE_TEST_SUITE_P(Right, WrittenCopy, ::testing::ValuesIn(kWritten), name_of);

}  // namespace
}  // namespace membound::vgpu::runtime
