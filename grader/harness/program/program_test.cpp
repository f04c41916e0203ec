// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/program_test.hpp"

#include <algorithm>

#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/measurement.hpp"
#include "grader/harness/program/stream_order.hpp"

namespace membound::harness {

std::shared_ptr<const LabOracle>& program_oracle() {
  static std::shared_ptr<const LabOracle> one;
  return one;
}
namespace {

using course::Cause;

constexpr std::size_t kLastWords = 600;

Cause abort_of(jail::LimitHit limit) {
  switch (limit) {
    case jail::LimitHit::kWall:
    case jail::LimitHit::kCpu:
      return Cause::kTimeout;
    case jail::LimitHit::kMemory:
      return Cause::kMemory;
    case jail::LimitHit::kOutput:
    case jail::LimitHit::kFileSize:
      return Cause::kOutput;
    default:
      return Cause::kFault;
  }
}

std::string last_words(const jail::JailOutcome& outcome) {
  const std::string words = base::printable(outcome.output);
  if (words.empty()) return "";
  return "\nits last words:\n" + words.substr(words.size() - std::min(words.size(), kLastWords));
}

/// CUDA's codes for what a kernel did while it ran (cudaErrorIllegalAddress is the first).
bool tells_of_a_kernel(int code) { return code >= 700 && code < 800; }

/// Of call `index` among the calls of its kind, from 1: by it the line is found in the source.
std::ptrdiff_t number_of_its_kind(const std::vector<runner::Call>& calls, std::size_t index) {
  return 1 +
         std::count_if(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(index),
                       [&](const runner::Call& call) { return call.kind == calls[index].kind; });
}

/// The first call that failed, which is often why the rest went wrong.
std::string first_failed_call(const std::vector<runner::Call>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!calls[i].succeeded())
      return "\nits call number " + std::to_string(i + 1) + " (" +
             std::string(to_string(calls[i].kind)) + ", number " +
             std::to_string(number_of_its_kind(calls, i)) + ") failed with CUDA error " +
             std::to_string(calls[i].code) +
             (tells_of_a_kernel(calls[i].code)
                  ? ": a kernel launched before it went wrong, and it is the first call to wait"
                  : "");
  return "";
}

bool launched(const std::vector<runner::Call>& calls) {
  return std::any_of(calls.begin(), calls.end(), [](const runner::Call& call) {
    return call.kind == runner::CallKind::kLaunch;
  });
}

}  // namespace

testing::AssertionResult ProgramTest::run(const std::string& output) {
  given_.stage = stage_;
  given_.outputs = {output};
  auto ended = runs_(given_);
  if (!ended) {
    abort_ = Cause::kCrash;
    return testing::AssertionFailure() << base::to_string(ended.error());
  }
  end_ = *std::move(ended);
  if (auto well = explain_end(); !well) return well;
  if (!end_.outputs.contains(output))
    return testing::AssertionFailure() << "the program wrote no output \"" << output << "\""
                                       << first_failed_call(end_.calls) << last_words(end_.program);
  return testing::AssertionSuccess();
}

testing::AssertionResult ProgramTest::replay(const std::string& name,
                                             const std::vector<std::uint32_t>& expected) {
  auto replayed = replays_(first_->end_, std::move(others_));
  if (!replayed) {
    abort_ = Cause::kCrash;
    return testing::AssertionFailure() << base::to_string(replayed.error());
  }
  replay_ = *std::move(replayed);
  if (!replay_.stopped.empty())
    return testing::AssertionFailure()
           << "The same calls with other inputs in the copies to the device came to no end: "
           << replay_.stopped << ".";
  const std::string& bytes = first_->end_.outputs.at(name);
  std::vector<std::uint32_t> output(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(output.data(), bytes.data(), output.size() * sizeof(std::uint32_t));
  const auto worked = std::ranges::count_if(replay_.calls, has_worked);
  if (worked > static_cast<std::ptrdiff_t>(kMostCallsFollowed))
    return testing::AssertionFailure()
           << "The program gave the device " << worked << " operations; where results come from "
           << "is followed through " << kMostCallsFollowed << ".";
  handed_ = hand_in_again(std::move(output), expected, replay_.back);
  return testing::AssertionSuccess();
}

testing::AssertionResult ProgramTest::explain_end() {
  const jail::JailOutcome& program = end_.program;
  const jail::JailOutcome& runner = end_.runner;
  const auto failure = [&](Cause abort) {
    abort_ = abort;
    return testing::AssertionFailure();
  };
  if (end_.too_many_calls)
    return failure(Cause::kOutput)
           << "the program made more than " << runner::CallRecorder::kMostCalls
           << " calls of the CUDA runtime";
  // Before the program's own end, which a runner that ended may have caused.
  if (runner.limit == jail::LimitHit::kMemory || runner.limit == jail::LimitHit::kOutput ||
      runner.limit == jail::LimitHit::kCpu)
    return failure(abort_of(runner.limit))
           << "the program's kernels reached the limit of " << to_string(runner.limit);
  if (program.limit == jail::LimitHit::kSyscall)
    return failure(Cause::kFault)
           << "the program was ended for a system call that no program of this lab needs";
  const std::string stood = end_.stood.empty() ? "" : "; its host code " + end_.stood;
  if (program.limit != jail::LimitHit::kNone)
    return failure(abort_of(program.limit))
           << "the program reached its limit of " << to_string(program.limit) << stood
           << last_words(program);
  if (program.signal != 0)
    return failure(Cause::kFault) << "the program was ended by a signal: "
                                  << base::signal_text(program.signal) << stood
                                  << first_failed_call(end_.calls) << last_words(program);
  // The submission's fault if a kernel of it may have been running, else the machine's or ours.
  constexpr int kRunnerWithoutDevice = 3;
  if (runner.signal != 0 || runner.limit != jail::LimitHit::kNone ||
      runner.exit_code == kRunnerWithoutDevice)
    return failure(launched(end_.calls) ? Cause::kFault : Cause::kCrash)
           << "the runner that held the device was lost" << last_words(runner);
  if (program.exit_code != 0)
    return testing::AssertionFailure() << "the program ended with exit code " << program.exit_code
                                       << first_failed_call(end_.calls) << last_words(program);
  return testing::AssertionSuccess();
}

}  // namespace membound::harness
