// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/timeline.hpp"

#include <gmock/gmock.h>

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Call work(CallKind kind, double start_ns, double end_ns) {
  return {.kind = kind, .start_ns = start_ns, .end_ns = end_ns};
}

TEST(RunNotes, WorkBesideWorkIsTimeSaved) {
  // 2 ms of kernels and 2 of copies, of which 1 is shared: 3 of 4.
  EXPECT_THAT(run_notes({work(CallKind::kCopyIn, 0, 2e6), work(CallKind::kLaunch, 1e6, 3e6)}, "",
                        Timeline::kKernelsSideBySide),
              ElementsAre(HasSubstr("4 ms in turn and took 3 ms as it ran: 25 % saved"),
                          HasSubstr("The timeline")));
  EXPECT_THAT(run_notes({work(CallKind::kLaunch, 0, 1)}, "", Timeline::kKernelsSideBySide),
              IsEmpty());
  EXPECT_THAT(run_notes({work(CallKind::kLaunch, 0, 1), work(CallKind::kLaunch, 0, 1)}, "",
                        Timeline::kNone),
              IsEmpty());
}

/// A copy in, a kernel with it, a copy out, for each of two pieces.
std::vector<Call> two_pieces() {
  std::vector<Call> calls;
  for (const std::uint64_t address : {1000, 2000}) {
    const double begin = address == 1000 ? 0 : 6e6;
    calls.push_back({.kind = CallKind::kCopyIn,
                     .address = address,
                     .bytes = 8,
                     .start_ns = begin,
                     .end_ns = begin + 1e6});
    calls.push_back({.kind = CallKind::kLaunch,
                     .kernel = "_Z1kPi",
                     .start_ns = begin + 1e6,
                     .end_ns = begin + 5e6,
                     .arguments = {address}});
    calls.push_back({.kind = CallKind::kCopyOut,
                     .address = address,
                     .bytes = 8,
                     .start_ns = begin + 5e6,
                     .end_ns = begin + 6e6});
  }
  return calls;
}

TEST(RunNotes, TheIdealWaitsForMemoryAndForThePartOfTheDeviceAlone) {
  // One after the other 12 ms. Kernels one at a time: 1 + 4 + 4 + 1. Side by side the second piece
  // waits for the first one's copies alone: 1 + 1 + 4 + 1.
  EXPECT_THAT(
      run_notes(two_pieces(), "", Timeline::kCopiesBesideKernels),
      ElementsAre(HasSubstr("0 % saved of an ideal 17 % (10 ms"), HasSubstr("The timeline")));
  EXPECT_THAT(
      run_notes(two_pieces(), "", Timeline::kKernelsSideBySide),
      ElementsAre(HasSubstr("0 % saved of an ideal 42 % (7 ms"), HasSubstr("The timeline")));
}

TEST(RunNotes, TheTimelineIsARowForEachStreamWithWhatTheDeviceDid) {
  // 56 columns of 0.1 ms: a copy in the first quarter, a kernel beside its second half.
  std::vector<Call> calls = {work(CallKind::kCopyIn, 0, 1.4e6),
                             work(CallKind::kLaunch, 0.7e6, 5.6e6)};
  calls[1].stream = 2;
  const auto notes = run_notes(calls, "", Timeline::kKernelsSideBySide);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[1], HasSubstr("a column is 100 us"));
  EXPECT_THAT(notes[1],
              HasSubstr("\ndefault   |" + std::string(14, '>') + std::string(42, '.') + "|"));
  EXPECT_THAT(notes[1],
              HasSubstr("\nstream 2  |" + std::string(7, '.') + std::string(49, 'K') + "|"));
}

TEST(RunNotes, AGraphAndItsExecutableAreGivenBackEach) {
  const std::vector<Call> made = {{.kind = CallKind::kEndCapture, .graph = 1},
                                  {.kind = CallKind::kInstantiateGraph, .graph = 2}};
  EXPECT_THAT(run_notes(made, "", Timeline::kNone),
              ElementsAre(HasSubstr("1 graph was never given back: cudaGraphDestroy."),
                          HasSubstr("cudaGraphExecDestroy")));
  std::vector<Call> gone = made;
  gone.push_back({.kind = CallKind::kDestroyExecutable, .graph = 2});
  gone.push_back({.kind = CallKind::kDestroyGraph, .graph = 1});
  EXPECT_THAT(run_notes(gone, "", Timeline::kNone), IsEmpty());
}

TEST(RunNotes, WhatWasMadeAndNotGivenBackIsNamed) {
  const Call made{.kind = CallKind::kCreateEvent, .event = 4};
  const Call gone{.kind = CallKind::kDestroyEvent, .event = 4};
  EXPECT_THAT(run_notes({made, gone}, "", Timeline::kKernelsSideBySide), IsEmpty());
  EXPECT_THAT(run_notes({made, gone, made}, "", Timeline::kKernelsSideBySide),
              ElementsAre(HasSubstr("cudaEventDestroy")));
  EXPECT_THAT(run_notes({{.kind = CallKind::kCreateStream, .stream = 1, .graph = 1}}, "",
                        Timeline::kKernelsSideBySide),
              IsEmpty());
  EXPECT_THAT(run_notes({{.kind = CallKind::kCreateStream, .stream = 1},
                         {.kind = CallKind::kCreateStream, .stream = 2},
                         {.kind = CallKind::kInstantiateGraph, .graph = 1}},
                        "", Timeline::kKernelsSideBySide),
              ElementsAre(HasSubstr("2 streams were"), HasSubstr("1 executable graph was")));
}

TEST(RunNotes, NothingIsAskedBackOfAProgramThatAnErrorEnded) {
  const std::vector<Call> made = {{.kind = CallKind::kCreateEvent, .event = 4}};
  EXPECT_THAT(run_notes(made, "CUDA: invalid argument\n", Timeline::kNone, false), IsEmpty());
}

TEST(RunNotes, WhatItPrintedIsShownUpToALength) {
  EXPECT_THAT(run_notes({}, "took 3 ms\n", Timeline::kKernelsSideBySide),
              ElementsAre("It printed:\ntook 3 ms"));
  const auto notes = run_notes({}, std::string(10000, 'x'), Timeline::kNone);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_LT(notes[0].size(), 500u);
}

}  // namespace
}  // namespace membound::harness
