// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/call_rule_checks.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "grader/course/lab.hpp"
#include "grader/harness/program/stream_order.hpp"
#include "grader/harness/program/timeline.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;
using testing::HasSubstr;

constexpr const char* kMangled = "_Z5scalePii";

Call launch(std::uint32_t stream = 0, double start_ns = 0, double end_ns = 0) {
  return {.kind = CallKind::kLaunch,
          .stream = stream,
          .kernel = kMangled,
          .start_ns = start_ns,
          .end_ns = end_ns};
}
Call copy_in(double start_ns, double end_ns) {
  return {.kind = CallKind::kCopyIn, .bytes = 4, .start_ns = start_ns, .end_ns = end_ns};
}
/// To the device.
Call copy_of(std::uint64_t address, std::uint32_t stream) {
  return {.kind = CallKind::kCopyIn, .stream = stream, .address = address, .bytes = 4};
}
/// blend(int*, int const*), in a stream.
Call blend(std::uint32_t stream, std::uint64_t to, std::uint64_t from) {
  return {.kind = CallKind::kLaunch,
          .stream = stream,
          .kernel = "_Z5blendPiPKi",
          .arguments = {to, from}};
}
Call record(std::uint32_t event, std::uint32_t stream = 0) {
  return {.kind = CallKind::kRecordEvent, .stream = stream, .event = event};
}
Call of(CallKind kind) { return {.kind = kind}; }

/// "" where the demand is met.
std::string breach(const char* rule, const std::vector<Call>& calls, double number = 0) {
  return breach_of({course::find_call_rule(rule), number}, "scale", calls).value_or("");
}

TEST(Rules, EveryRuleOfTheTableCanBeDecidedAndSaysWhatToDo) {
  const std::vector<Call> calls = {{.kind = CallKind::kAllocate, .address = 8, .bytes = 4},
                                   copy_of(8, 1),
                                   copy_of(8, 2),
                                   launch(),
                                   {.kind = CallKind::kFill, .code = 1}};
  Evidence evidence(calls);
  evidence.printed = "1 ms";
  evidence.not_the_devices = "Nothing was copied back.";
  evidence.not_noticed = "The program ended with exit code 0.";
  for (const course::CallRule& rule : course::call_rules()) {
    const auto found =
        breach_of({&rule, rule.name == "host-waits" ? -1.0 : 1e9}, "scale", evidence);
    ASSERT_TRUE(found) << rule.name;
    EXPECT_THAT(*found, HasSubstr(std::string(rule.remedy)));
  }
}

TEST(Rules, ThePageForAuthorsAndTheSchemaHaveEveryRow) {
  const auto text_of = [](const char* name) {
    std::ifstream file(std::string(MEMBOUND_SOURCE_DIR) + "/docs/" + name);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const std::string page = text_of("writing_a_lab.md"), schema = text_of("lab.schema.json");
  for (const course::CallRule& rule : course::call_rules()) {
    const std::string number = rule.number.empty() ? " " : " " + std::string(rule.number) + " ";
    EXPECT_THAT(page, HasSubstr("| `" + std::string(rule.name) + "` | `" + std::string(rule.test) +
                                "` |" + number + "| " + std::string(rule.meaning) + " |"));
    EXPECT_THAT(schema, HasSubstr('"' + std::string(rule.name) + '"'));
  }
}

TEST(Rules, TwoDimensionsAreBlocksAndThreadsAlongY) {
  const auto of_shape = [](std::uint32_t blocks_y, std::uint32_t threads_y) {
    Call call = launch();
    call.grid = {3, blocks_y, 1};
    call.block = {16, threads_y, 1};
    return call;
  };
  EXPECT_EQ(breach("two-dimensions", {of_shape(1, 1), of_shape(2, 2)}), "");
  EXPECT_THAT(breach("two-dimensions", {of_shape(1, 16)}),
              HasSubstr("scale was launched with 3 x 1 blocks of 16 x 16 threads"));
  EXPECT_THAT(breach("two-dimensions", {of_shape(2, 1)}), HasSubstr("of 16 x 1 threads"));
  EXPECT_THAT(breach("two-dimensions", {}), HasSubstr("scale was not launched"));
}

TEST(Rules, DynamicSharedMemoryIsTheLaunchs) {
  Call call = launch();
  call.shared_bytes = 2048;
  EXPECT_EQ(breach("dynamic-shared-memory", {launch(), call}, 2048), "");
  EXPECT_THAT(breach("dynamic-shared-memory", {call}, 2049),
              HasSubstr("2048 bytes of dynamic shared memory at most, expected at least 2049"));
}

TEST(Rules, ALaunchOfAnotherKernelDoesNotCount) {
  EXPECT_EQ(breach("launches", {launch()}, 1), "");
  Call other = launch();
  // scale_twice_x(int*, int); other(scale*), whose parameter has the kernel's name
  for (const char* name : {"_Z13scale_twice_xPii", "_Z5otherP5scale"}) {
    other.kernel = name;
    EXPECT_THAT(breach("launches", {other}, 1), HasSubstr("launched 0 times")) << name;
  }
}

TEST(Rules, ALaunchThatFailedDoesNotCount) {
  Call failed = launch();
  failed.code = 9;
  EXPECT_NE(breach("launches", {failed}, 1), "");
  EXPECT_THAT(breach("calls-succeed", {launch(), failed}), HasSubstr("Call 2 (launch)"));
}

/// A rule of launches or copies, with whether each piece of work came into the results.
std::string breach_of_arrived(const char* rule, const std::vector<Call>& calls,
                              std::vector<bool> arrived, double number = 0) {
  Evidence evidence(calls);
  evidence.arrived = std::move(arrived);
  return breach_of({course::find_call_rule(rule), number}, "scale", evidence).value_or("");
}

TEST(Rules, ALaunchOfWhichNothingCameIntoTheResultsDoesNotCount) {
  const std::vector<Call> two = {launch(1, 0, 10), launch(2, 0, 10)};
  EXPECT_EQ(breach_of_arrived("launches", two, {true, true}, 2), "");
  EXPECT_THAT(
      breach_of_arrived("launches", two, {true, false}, 2),
      HasSubstr("launched 1 time, expected at least 2. Of its 2 launches 1 does not count"));
  EXPECT_NE(breach_of_arrived("streams", two, {true, false}, 2), "");
  EXPECT_EQ(breach_of_arrived("kernels-overlap", two, {true, true}, 0.5), "");
  EXPECT_NE(breach_of_arrived("kernels-overlap", two, {true, false}, 0.5), "");
  const std::vector<Call> beside = {launch(1, 0, 10), copy_in(0, 10)};
  EXPECT_EQ(breach_of_arrived("copies-overlap", beside, {true, true}, 0.9), "");
  EXPECT_NE(breach_of_arrived("copies-overlap", beside, {false, true}, 0.9), "");
  // What every launch must do, those for show must do as well.
  EXPECT_NE(breach_of_arrived("checks-launches", two, {true, false}), "");
}

TEST(Rules, ATimedLaunchIsOneThatDoesTheWork) {
  const Call asked{.kind = CallKind::kElapsed, .event = 1, .second_event = 2, .end_ns = 8000};
  const std::vector<Call> calls = {record(1), launch(), record(2), asked, launch()};
  using Uses = std::vector<runner::MemoryUse>;
  const auto breach_with = [&](const char* rule, const Uses& timed, const Uses& last) {
    Evidence evidence(calls);
    evidence.arrived = {false, true};
    evidence.uses = {timed, last};
    evidence.printed = "0.008 ms, 1.0 GB/s";
    return breach_of({course::find_call_rule(rule), 0}, "scale", evidence).value_or("");
  };
  // The same work once more, as it is done to take an average; and a launch of nothing.
  const Uses work = {{0, 4000, false}, {4000, 8000, true}};
  EXPECT_EQ(breach_with("times-with-events", work, work), "");
  EXPECT_EQ(breach_with("printed-figures", work, work), "");
  EXPECT_THAT(breach_with("times-with-events", {}, work), HasSubstr("no launch of scale"));
  EXPECT_THAT(breach_with("printed-figures", {}, work), HasSubstr("asked for no time"));
}

TEST(Rules, TheLastLaunchNeedsItsCheckToo) {
  const Call check = of(CallKind::kErrorCheck);
  EXPECT_EQ(breach("checks-launches", {launch(), check, launch(), check}), "");
  EXPECT_THAT(breach("checks-launches", {launch(), check, launch()}),
              HasSubstr("launch 2 (scale) gave"));
  EXPECT_THAT(breach("checks-launches", {launch(), launch(), check}),
              HasSubstr("launch 1 (scale) gave"));
}

TEST(Rules, EachAllocationNeedsItsOwnFree) {
  const Call one{.kind = CallKind::kAllocate, .address = 256, .bytes = 40};
  const Call freed{.kind = CallKind::kFree, .address = 256};
  EXPECT_EQ(breach("frees-memory", {one, freed, one, freed}), "");
  EXPECT_EQ(breach("frees-memory", {{.kind = CallKind::kAllocate}}), "");
  EXPECT_THAT(breach("frees-memory", {one, freed, one}),
              HasSubstr("1 allocation with 40 bytes was left"));
}

TEST(Rules, AnEventPairTimesOnlyWhatLiesBetween) {
  const Call asked{.kind = CallKind::kElapsed, .event = 1, .second_event = 2};
  EXPECT_EQ(breach("times-with-events", {record(1), launch(), record(2), asked}), "");
  EXPECT_THAT(breach("times-with-events", {record(1), record(2), launch(), asked}),
              HasSubstr("no launch"));
  EXPECT_THAT(breach("times-with-events", {record(1), launch(), record(2)}), HasSubstr("No time"));
}

TEST(Rules, AStreamThatWaitsForItselfWaitsForNobody) {
  const Call wait{.kind = CallKind::kStreamWaits, .stream = 2, .event = 1};
  EXPECT_EQ(breach("stream-waits", {record(1, 1), wait}, 1), "");
  EXPECT_NE(breach("stream-waits", {record(1, 2), wait}, 1), "");
}

TEST(Rules, WorkOfTwoStreamsOnTheSameMemoryNeedsAnOrder) {
  const Call wait{.kind = CallKind::kStreamWaits, .stream = 2, .event = 1};
  EXPECT_THAT(breach("orders-work", {copy_of(64, 1), blend(2, 8, 64)}),
              HasSubstr("Nothing orders call 1 (copy-in) in stream 1 and launch 1 (blend) in "
                        "stream 2"));
  EXPECT_EQ(breach("orders-work", {copy_of(64, 1), record(1, 1), wait, blend(2, 8, 64)}), "");
  // Recorded too early, or waited for too late.
  EXPECT_NE(breach("orders-work", {record(1, 1), copy_of(64, 1), wait, blend(2, 8, 64)}), "");
  EXPECT_NE(breach("orders-work", {copy_of(64, 1), record(1, 1), blend(2, 8, 64), wait}), "");
  // In one stream; behind the default stream; behind a wait of the host.
  EXPECT_EQ(breach("orders-work", {copy_of(64, 1), blend(1, 8, 64)}), "");
  EXPECT_EQ(breach("orders-work", {copy_of(64, 0), blend(2, 8, 64)}), "");
  EXPECT_EQ(breach("orders-work", {copy_of(64, 1), of(CallKind::kWaitDevice), blend(2, 8, 64)}),
            "");
}

TEST(Rules, TheHostWaitsForACopyBeforeItReads) {
  const Call out{.kind = CallKind::kCopyOut, .stream = 1, .address = 64, .bytes = 4};
  const auto wait_for = [](std::uint32_t stream) {
    return Call{.kind = CallKind::kWaitStream, .host_waits = true, .stream = stream};
  };
  Call kept = out;
  kept.host_waits = true;
  EXPECT_THAT(breach("orders-work", {out}),
              HasSubstr("The host never waited for call 1 (copy-out) in stream 1"));
  EXPECT_EQ(breach("orders-work", {out, wait_for(1)}), "");
  EXPECT_EQ(breach("orders-work", {out, of(CallKind::kWaitDevice)}), "");
  EXPECT_EQ(breach("orders-work", {out, record(1, 1), {.kind = CallKind::kWaitEvent, .event = 1}}),
            "");
  EXPECT_EQ(breach("orders-work", {kept}), "");
  // For another stream, before the copy, or to free memory.
  EXPECT_NE(breach("orders-work", {out, wait_for(2)}), "");
  EXPECT_NE(breach("orders-work", {wait_for(1), out}), "");
  EXPECT_NE(breach("orders-work", {out, of(CallKind::kFreeOfHost)}), "");
  EXPECT_NE(breach("orders-work", {out, of(CallKind::kFree)}), "");
}

TEST(Rules, WorkIsFollowedThroughSoManyCalls) {
  // The most that each call can cost: a stream of its own, and a host that knows of all others.
  std::vector<Call> calls;
  for (std::uint32_t stream = 1; calls.size() + 3 <= kMostCallsFollowed; ++stream) {
    calls.push_back(copy_of(64 + 4 * stream, stream));
    calls.push_back({.kind = CallKind::kWaitStream, .stream = stream});
    calls.push_back({.kind = CallKind::kDestroyStream, .stream = stream});
  }
  EXPECT_EQ(breach("orders-work", calls), "");
  calls.resize(kMostCallsFollowed + 1);
  EXPECT_THAT(breach("orders-work", calls), HasSubstr("2001 calls"));
}

TEST(Rules, AStreamThatDoesNotBlockKnowsNoDefaultStream) {
  const Call made{.kind = CallKind::kCreateStream, .stream = 2, .non_blocking = true};
  EXPECT_NE(breach("orders-work", {made, copy_of(64, 0), blend(2, 8, 64)}), "");
}

TEST(Rules, ReadingTogetherNeedsNoOrder) {
  EXPECT_EQ(breach("orders-work", {blend(1, 8, 64), blend(2, 16, 64)}), "");
  EXPECT_NE(breach("orders-work", {blend(1, 8, 64), blend(2, 64, 16)}), "");
  const Call moved{
      .kind = CallKind::kCopyOnDevice, .stream = 2, .address = 128, .bytes = 4, .arguments = {8}};
  EXPECT_NE(breach("orders-work", {blend(1, 8, 64), moved}), "");
}

TEST(Rules, AnOrderIsHandedOn) {
  const Call second_waits{.kind = CallKind::kStreamWaits, .stream = 2, .event = 1};
  const Call third_waits{.kind = CallKind::kStreamWaits, .stream = 3, .event = 2};
  EXPECT_EQ(breach("orders-work", {copy_of(64, 1), record(1, 1), second_waits, record(2, 2),
                                   third_waits, blend(3, 8, 64)}),
            "");
}

TEST(Rules, OverlapIsTimeSavedAgainstOneByOne) {
  // Two kernels of 10 ns of which 5 ns are shared: 15 of 20.
  EXPECT_EQ(breach("kernels-overlap", {launch(1, 0, 10), launch(2, 5, 15)}, 0.25), "");
  EXPECT_THAT(breach("kernels-overlap", {launch(1, 0, 10), launch(2, 5, 15)}, 0.3),
              HasSubstr("saved 0.25"));
  EXPECT_NE(breach("kernels-overlap", {launch(1, 0, 10), launch(2, 10, 20)}, 0.01), "");
}

TEST(Rules, ACopyCountsWhereAKernelRuns) {
  EXPECT_EQ(breach("copies-overlap", {copy_in(0, 10), launch(1, 5, 100)}, 0.5), "");
  EXPECT_THAT(breach("copies-overlap", {copy_in(0, 10), launch(1, 10, 100)}, 0.1),
              HasSubstr("during 0 of"));
}

TEST(ProgramCounts, AreSharesInPercentOfAllThatTheCourseNames) {
  const auto counts = program_counts("scale", {copy_in(0, 10), launch(1, 5, 35), launch(2, 5, 35)});
  ASSERT_EQ(counts.size(), course::kProgramCounts.size());
  for (const course::ProgramCount& count : course::kProgramCounts)
    EXPECT_TRUE(counts.contains(std::string(count.name))) << count.name;
  EXPECT_EQ(counts.at("kernel_time_saved_percent"), 50);
  EXPECT_EQ(counts.at("copies_beside_kernels_percent"), 50);
  EXPECT_NEAR(counts.at("copy_time_percent"), 100.0 * 10 / 70, 1e-9);
  for (const auto& [name, share] : program_counts("scale", {})) EXPECT_EQ(share, 0) << name;
}

TEST(Rules, CopiesThatReturnWhenDoneAreWaits) {
  Call copy = copy_in(0, 1);
  copy.host_waits = true;
  EXPECT_EQ(breach("host-waits", {copy, launch()}, 1), "");
  EXPECT_THAT(breach("host-waits", {copy, copy}, 1), HasSubstr("2 times"));
}

TEST(Spans, CoverTimeOnce) {
  EXPECT_EQ(covered_ns({{0, 4}, {2, 6}, {8, 9}}), 7);
  EXPECT_EQ(total_ns({{0, 4}, {2, 6}}), 8);
  EXPECT_EQ(covered_ns({}), 0);
}

Call launch_of_graph(std::uint32_t graph) {
  return {.kind = CallKind::kLaunchGraph, .graph = graph};
}
Call node(std::uint32_t graph) {
  Call call = launch();
  call.graph = graph;
  return call;
}

TEST(Rules, OneGraphIsLaunchedAgainAndAgain) {
  EXPECT_EQ(breach("graph-launches", {launch_of_graph(1), node(1), launch_of_graph(1), node(1)}, 2),
            "");
  EXPECT_THAT(breach("graph-launches", {launch(), launch()}, 2),
              HasSubstr("No graph with scale was launched; expected one"));
  EXPECT_THAT(
      breach("graph-launches", {launch_of_graph(1), node(1), launch_of_graph(2), node(2)}, 2),
      HasSubstr("2 graphs with scale were launched, each of them 1 time; expected one"));
  // Without the stage's kernel it is another graph.
  EXPECT_NE(breach("graph-launches", {launch_of_graph(1), launch_of_graph(1)}, 2), "");
}

TEST(Rules, WhatAGraphDoesIsLaunchedAndNeedsNoLookAtItsErrors) {
  EXPECT_EQ(breach("launches", {launch_of_graph(1), node(1), node(1)}, 2), "");
  EXPECT_EQ(breach("checks-launches", {launch_of_graph(1), node(1), node(1)}), "");
}

TEST(StreamOrder, MemoryThatIsFreedInAnotherStreamIsFreedTooEarly) {
  const Call allocated{.kind = CallKind::kAllocateInOrder, .stream = 1, .address = 64, .bytes = 4};
  Call freed{.kind = CallKind::kFreeInOrder, .stream = 2, .address = 64, .bytes = 4};
  EXPECT_NE(breach("orders-work", {allocated, blend(1, 64, 8), freed}), "");
  EXPECT_EQ(breach("orders-work", {allocated,
                                   blend(1, 64, 8),
                                   record(7, 1),
                                   {.kind = CallKind::kStreamWaits, .stream = 2, .event = 7},
                                   freed}),
            "");
  freed.stream = 1;
  EXPECT_EQ(breach("orders-work", {allocated, blend(1, 64, 8), freed}), "");
  EXPECT_EQ(breach("frees-memory", {allocated, freed}), "");
  EXPECT_NE(breach("frees-memory", {allocated}), "");
  // The next one at the same place has nothing to do with it.
  Call next = allocated;
  next.stream = 3;
  EXPECT_EQ(breach("orders-work", {allocated, blend(1, 64, 8), freed, next, blend(3, 64, 8)}), "");
}

}  // namespace
}  // namespace membound::harness
