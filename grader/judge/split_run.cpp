// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/split_run.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "grader/base/printable.hpp"

namespace membound::judge {
namespace {

/// Where the submission's runner finds its program inside the jail.
constexpr const char* kRunnerInside = "/membound/membound_runner";

std::string joined(const std::vector<std::filesystem::path>& folders) {
  std::string text;
  for (const std::filesystem::path& folder : folders)
    text += (text.empty() ? "" : ":") + folder.string();
  return text;
}

jail::JailOutcome outcome_of(const jail::ProcessOutcome& process) {
  jail::JailOutcome outcome;
  outcome.exit_code = process.exit_code;
  outcome.signal = process.signal;
  outcome.output = process.output;
  outcome.seconds = process.seconds;
  outcome.stopped = process.stopped;
  if (process.timed_out) outcome.limit = jail::LimitHit::kWall;
  return outcome;
}

std::string story_of(const char* whose, const base::Result<jail::JailOutcome>& end) {
  constexpr std::size_t kLastWords = 400;
  const std::string start = std::string("\n") + whose + " runner ";
  if (!end) return start + "could not be started: " + base::to_string(end.error());
  if (end->limit != jail::LimitHit::kNone)
    return start + "reached its limit of " + std::string(jail::to_string(end->limit));
  if (end->signal == 0 && end->exit_code == 0) return "";
  std::string text =
      start + (end->signal != 0 ? std::string("was ended by a signal: ") + strsignal(end->signal)
                                : "ended with exit code " + std::to_string(end->exit_code));
  const std::string words = base::printable(end->output);
  if (!words.empty())
    text += ": " + words.substr(words.size() - std::min(words.size(), kLastWords));
  return text;
}

}  // namespace

base::Result<std::string> fresh_seed_key() {
  std::uint64_t words[2];
  if (getrandom(words, sizeof(words), 0) != ssize_t{sizeof(words)})
    return base::Error{base::ErrorKind::kMachine, "getrandom", "no random numbers",
                       "16 random bytes from the kernel", "look at the machine's log"};
  char text[40];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(words[0]),
                static_cast<unsigned long long>(words[1]));
  return std::string(text);
}

base::Result<std::unique_ptr<RunnerPair>> RunnerPair::start(const SplitOptions& options,
                                                            const std::atomic<bool>* stop) {
  std::unique_ptr<RunnerPair> pair(new RunnerPair(options));
  if (options.reference_times.empty()) {
    auto reference = remote::make_socket_pair();
    if (!reference) return reference.error();
    std::tie(pair->judge_reference_, pair->runner_reference_) = *std::move(reference);
  } else {
    pair->reference_ = jail::JailOutcome{.exit_code = 0};  // ended well, as it never began
  }
  auto submission = remote::make_socket_pair();
  if (!submission) return submission.error();
  std::tie(pair->judge_submission_, pair->runner_submission_) = *std::move(submission);
  if (options.reference_times.empty())
    pair->threads_.emplace_back([&one = *pair, stop] { one.run_reference(stop); });
  pair->threads_.emplace_back([&one = *pair, stop] { one.run_submission(stop); });
  return pair;
}

RunnerPair::~RunnerPair() { static_cast<void>(finish()); }

std::vector<int> RunnerPair::descriptors() const {
  if (!options_.reference_times.empty()) return {judge_submission_.get()};
  return {judge_reference_.get(), judge_submission_.get()};
}

std::map<std::string, std::string> RunnerPair::environment() const {
  std::string sockets;
  for (const int socket : descriptors())
    sockets += (sockets.empty() ? "" : ",") + std::to_string(socket);
  return {{"LD_LIBRARY_PATH", options_.forward_folder.string()},
          {"MEMBOUND_REMOTE_SOCKETS", sockets}};
}

std::vector<std::string> RunnerPair::command(const std::filesystem::path& program,
                                             const remote::Descriptor& socket) const {
  std::vector<std::string> words = {program.string(), "--socket", std::to_string(socket.get())};
  if (options_.scrub) words.emplace_back("--scrub");
  return words;
}

std::map<std::string, std::string> RunnerPair::runner_environment() const {
  std::map<std::string, std::string> environment = options_.runner_environment;
  environment["LD_LIBRARY_PATH"] = joined(options_.runtime_folders);
  return environment;
}

void RunnerPair::run_reference(const std::atomic<bool>* stop) {
  const auto outcome = jail::run_process({.arguments = command(options_.runner, runner_reference_),
                                          .environment = runner_environment(),
                                          .timeout_seconds = options_.limits.wall_seconds,
                                          .stop = stop,
                                          .descriptors = {runner_reference_.get()}});
  runner_reference_ = {};  // the test program sees the end of a runner that is no more
  if (outcome)
    reference_ = outcome_of(*outcome);
  else
    reference_ = outcome.error();
}

void RunnerPair::run_submission(const std::atomic<bool>* stop) {
  if (options_.use_jail) {
    jail::JailRequest request;
    request.arguments = command(kRunnerInside, runner_submission_);
    request.bindings.push_back({options_.runner, kRunnerInside});
    for (const std::filesystem::path& folder : options_.runtime_folders)
      request.bindings.push_back({folder, folder});
    request.environment = runner_environment();
    request.limits = options_.limits;
    request.syscalls =
        options_.devices.empty() ? jail::SyscallProfile::kCompute : jail::SyscallProfile::kDevice;
    request.descriptors = {runner_submission_.get()};
    request.devices = options_.devices;
    request.stop = stop;
    submission_ = jail::run(request);
  } else {
    const auto outcome =
        jail::run_process({.arguments = command(options_.runner, runner_submission_),
                           .environment = runner_environment(),
                           .timeout_seconds = options_.limits.wall_seconds,
                           .output_limit_bytes = options_.limits.output_bytes,
                           .stop = stop,
                           .descriptors = {runner_submission_.get()}});
    if (outcome)
      submission_ = outcome_of(*outcome);
    else
      submission_ = outcome.error();
  }
  runner_submission_ = {};
}

base::Result<jail::JailOutcome> RunnerPair::finish() {
  // Shut down, not only closed: a process that another thread forked just now may hold a copy.
  for (const remote::Descriptor* end : {&judge_reference_, &judge_submission_})
    if (*end) shutdown(end->get(), SHUT_RDWR);
  judge_reference_ = {};
  judge_submission_ = {};
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  if (!reference_) return reference_.error();
  return submission_;
}

std::string RunnerPair::story() const {
  return story_of("the reference's", reference_) + story_of("the submission's", submission_);
}

}  // namespace membound::judge
