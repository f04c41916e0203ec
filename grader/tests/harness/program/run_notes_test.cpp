// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/run_notes.hpp"

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
  EXPECT_THAT(
      run_notes({work(CallKind::kCopyIn, 0, 2e6), work(CallKind::kLaunch, 1e6, 3e6)}, "", true),
      ElementsAre(HasSubstr("4 ms in turn and took 3 ms as it ran: 25 % saved")));
  EXPECT_THAT(run_notes({work(CallKind::kLaunch, 0, 1)}, "", true), IsEmpty());
  EXPECT_THAT(run_notes({work(CallKind::kLaunch, 0, 1), work(CallKind::kLaunch, 0, 1)}, "", false),
              IsEmpty());
}

TEST(RunNotes, WhatWasMadeAndNotGivenBackIsNamed) {
  const Call made{.kind = CallKind::kCreateEvent, .event = 4};
  const Call gone{.kind = CallKind::kDestroyEvent, .event = 4};
  EXPECT_THAT(run_notes({made, gone}, "", true), IsEmpty());
  EXPECT_THAT(run_notes({made, gone, made}, "", true), ElementsAre(HasSubstr("cudaEventDestroy")));
  EXPECT_THAT(run_notes({{.kind = CallKind::kCreateStream, .stream = 1, .graph = 1}}, "", true),
              IsEmpty());
  EXPECT_THAT(run_notes({{.kind = CallKind::kCreateStream, .stream = 1},
                         {.kind = CallKind::kCreateStream, .stream = 2},
                         {.kind = CallKind::kInstantiateGraph, .graph = 1}},
                        "", true),
              ElementsAre(HasSubstr("2 streams were"), HasSubstr("1 executable graph was")));
}

TEST(RunNotes, WhatItPrintedIsShownUpToALength) {
  EXPECT_THAT(run_notes({}, "took 3 ms\n", true), ElementsAre("It printed:\ntook 3 ms"));
  const auto notes = run_notes({}, std::string(10000, 'x'), true);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_LT(notes[0].size(), 500u);
}

}  // namespace
}  // namespace membound::harness
