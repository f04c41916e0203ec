// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 12: the tests of every stage, easiest first; the calls of the last one's run are those that
/// lab.json's demands are held against. All arithmetic is in ints, so all comparisons are exact.
#include "grader/harness/program/program_test.hpp"
#include "labs/12-streams/kernel_constants.hpp"

using namespace membound::harness;
using namespace membound::kernel_constants;

namespace {

enum Number { kFiveSounds = 1, kPieceByPiece, kMixingDesk, kManyRounds };

using Samples = std::vector<int>;

// A long row of rounds soon repeats itself; what is left of it then changes nothing.

int echo(int sample) {
  int value = sample, last = 0;
  for (int round = 0; round < kLongRounds && value != last; ++round) {
    last = value;
    value = value - (value >> 2) + sample;
  }
  return value;
}

int soften(int sample, int rounds) {
  int value = sample, last = value - 1;
  for (int round = 0; round < rounds && value != last; ++round) {
    last = value;
    value = value - (value >> 3) + sample;
  }
  return value;
}

int blend(int a, int b) {
  int value = 0;
  for (int round = 0; round < kLongRounds; round += 2) {
    const int odd = value - (value >> 2) + a;
    const int next = odd - (odd >> 2) + b;
    if (next == value) break;
    value = next;
  }
  return value;
}

Samples blend(const Samples& a, const Samples& b) {
  Samples out(a.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = blend(a[i], b[i]);
  return out;
}

/// Left and right, one after the other.
Samples mixed(const Samples& in, std::int64_t n) {
  const auto track = [&](std::int64_t index) {
    return Samples(in.begin() + index * n, in.begin() + (index + 1) * n);
  };
  const Samples x = blend(track(0), track(1)), y = blend(track(2), track(3)), z = blend(x, y);
  Samples out = blend(z, x);
  const Samples right = blend(z, y);
  out.insert(out.end(), right.begin(), right.end());
  return out;
}

int turn(int mine, int other) { return mine - (mine >> 2) + (other >> 3); }

/// Left and right after all turns, one after the other.
Samples turned(Samples channels, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    int &left = channels[i], &right = channels[n + i];
    for (int round = 0; round < kTurns; ++round) {
      const int a = turn(left, right), b = turn(right, left);
      left = turn(a, b);
      right = turn(b, a);
    }
  }
  return channels;
}

std::int64_t rows_of(int stage) {
  switch (stage) {
    case kFiveSounds:
      return kSounds;
    case kMixingDesk:
      return kTracks;
    default:
      return stage == kManyRounds ? kChannels : 1;
  }
}

/// Of stage 2: its kernel takes about as long as both copies of a piece, on the virtual GPU with
/// few samples, and on an H100 or H200 with many.
constexpr int kVirtualRounds = 2000, kGpuRounds = 1200;

/// Sounds, tracks or channels of n samples each, or one recording of n.
testing::AssertionResult check(ProgramTest& test, std::int64_t n, int rounds = kVirtualRounds) {
  const auto count = static_cast<std::size_t>(rows_of(test.stage()) * n);
  Samples in = test.give_integers<int>("in", count, -1000000, 1000000, test.seed(1));
  if (test.stage() == kPieceByPiece) test.give("rounds", Samples{rounds});
  if (test.stage() == kMixingDesk)
    return test.expect("out", mixed(in, n), {{2, n}, {"channel", "sample"}});
  if (test.stage() == kManyRounds)
    return test.expect("out", turned(in, n), {{kChannels, n}, {"channel", "sample"}});
  for (int& sample : in)
    sample = test.stage() == kFiveSounds ? echo(sample) : soften(sample, rounds);
  if (test.stage() == kFiveSounds)
    return test.expect("out", in, {{kSounds, n}, {"sound", "sample"}});
  return test.expect("out", in, {{n}, {"sample"}});
}

/// Long enough for a timeline: three blocks a sound, ten a piece of a recording.
testing::AssertionResult check_long(ProgramTest& test) {
  return check(test, test.stage() == kPieceByPiece ? 20011 : 601);
}

/// The same for a GPU: a piece's copies take far longer than it takes to hand them in.
testing::AssertionResult check_on_gpu(ProgramTest& test) {
  if (test.stage() != kPieceByPiece) return check_long(test);
  return check(test, std::int64_t{1} << 24, kGpuRounds);
}

}  // namespace

const std::vector<HostTest> membound::harness::kTests = {
    {"OneSample", "one-sample", [](ProgramTest& test) { return check(test, 1); }},
    {"FewerSamplesThanPieces", "few-samples", [](ProgramTest& test) { return check(test, 3); }},
    {"NoSamples", "no-samples", [](ProgramTest& test) { return check(test, 0); }},
    {"OneMoreThanABlock", "edge", [](ProgramTest& test) { return check(test, 257); }},
    {"APrimeNumberOfSamples", "edge", [](ProgramTest& test) { return check(test, 1009); }},
    {"ALongRecording", "long", check_long}};

const HostTest membound::harness::kTimedTest = {"", "", check_on_gpu};
