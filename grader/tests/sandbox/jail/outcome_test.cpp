// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which limit explains an end, from what was seen of it, where a run would leave that to chance.
#include "grader/sandbox/jail/watch.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "grader/sandbox/jail/init/init_report.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {
namespace {

/// What a init sends of a program that ended with this code.
std::string status_of(const Report& report) {
  std::string bytes(1, kInitStands);
  bytes.append(reinterpret_cast<const char*>(&report), sizeof report);
  return bytes;
}

/// The end of a shell whose child the kernel ended for its CPU time, before the supervisor looked.
Observed shell_of_a_computing_child(double cpu_seconds) {
  Report report;
  report.exit_code = 128 + SIGXCPU;
  report.cpu_microseconds = static_cast<std::uint64_t>(cpu_seconds * 1e6);
  Observed observed;
  observed.status = status_of(report);
  return observed;
}

JailRequest two_seconds() {
  JailRequest request;
  request.arguments = {"/bin/sh"};
  request.limits.cpu_seconds = 2;
  return request;
}

LimitHit limit_of(const Observed& observed) {
  const auto outcome = outcome_of(two_seconds(), observed);
  EXPECT_TRUE(outcome) << base::to_string(outcome.error());
  return outcome ? outcome->limit : LimitHit::kNone;
}

TEST(JailOutcome, AChildEndedForItsCpuTimeIsCpuTimeByTheControlGroup) {
  Observed observed = shell_of_a_computing_child(0);
  observed.cpu_seconds = 2.004;
  EXPECT_EQ(limit_of(observed), LimitHit::kCpu);
}

TEST(JailOutcome, AChildEndedForItsCpuTimeIsCpuTimeWithoutAControlGroup) {
  EXPECT_EQ(limit_of(shell_of_a_computing_child(2.004)), LimitHit::kCpu);
}

TEST(JailOutcome, WhatWasLastCountedMayBeLessThanWhatWasCollected) {
  Observed observed = shell_of_a_computing_child(2.004);
  observed.cpu_seconds = 1.99;
  EXPECT_EQ(limit_of(observed), LimitHit::kCpu);
}

TEST(JailOutcome, TheKernelsTicksMayBeAhead) {
  EXPECT_EQ(limit_of(shell_of_a_computing_child(1.68)), LimitHit::kCpu);
}

TEST(JailOutcome, KilledAfterItsCpuTimeIsCpuTimeThoughTheTicksAreAhead) {
  Observed observed = shell_of_a_computing_child(1.68);
  Report report;
  report.cpu_microseconds = 1'680'000;
  report.exit_code = 128 + SIGKILL;
  observed.status = status_of(report);
  EXPECT_EQ(limit_of(observed), LimitHit::kCpu);
  report.exit_code = -1;
  report.signal = SIGKILL;
  observed.status = status_of(report);
  EXPECT_EQ(limit_of(observed), LimitHit::kCpu);
}

TEST(JailOutcome, ABadEndOfAnotherKindJustBelowTheLimitIsNoLimit) {
  Observed observed = shell_of_a_computing_child(1.68);
  Report report;
  report.exit_code = 1;
  report.cpu_microseconds = 1'680'000;
  observed.status = status_of(report);
  EXPECT_EQ(limit_of(observed), LimitHit::kNone);
}

TEST(JailOutcome, ABadEndBelowTheLimitIsNoLimit) {
  EXPECT_EQ(limit_of(shell_of_a_computing_child(1.2)), LimitHit::kNone);
}

TEST(JailOutcome, AGoodEndIsNoLimitHoweverLateItWasSeen) {
  Report report;
  report.exit_code = 0;
  report.cpu_microseconds = 2'004'000;
  Observed observed;
  observed.status = status_of(report);
  EXPECT_EQ(limit_of(observed), LimitHit::kNone);
}

}  // namespace
}  // namespace membound::jail
