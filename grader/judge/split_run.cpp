// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/split_run.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::judge {
namespace {

/// Where a runner finds its program inside a jail.
constexpr const char* kRunnerInside = "/membound/membound_runner";

std::string story_of(const char* whose, const base::Result<jail::JailOutcome>& end) {
  constexpr std::size_t kLastWords = 400;
  const std::string start = std::string("\n") + whose + " runner ";
  if (!end) return start + "could not be started: " + base::to_string(end.error());
  if (end->limit != jail::LimitHit::kNone)
    return start + "reached its limit of " + std::string(jail::to_string(end->limit));
  if (end->signal == 0 && end->exit_code == 0) return "";
  std::string text =
      start + (end->signal != 0 ? "was ended by a signal: " + base::signal_text(end->signal)
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
  if (!options.reference_times.empty()) {
    pair->reference_ = jail::JailOutcome{.exit_code = 0};  // ended well, as it never began
  } else if (options.reference_runner != nullptr) {
    auto reference = options.reference_runner->begin(pair->runner_request(nullptr));
    if (!reference) return reference.error();
    pair->judge_reference_ = *std::move(reference);
    pair->uses_kept_reference_ = true;
  } else {
    auto reference = runner::make_socket_pair();
    if (!reference) return reference.error();
    std::tie(pair->judge_reference_, pair->runner_reference_) = *std::move(reference);
  }
  auto submission = runner::make_socket_pair();
  if (!submission) return submission.error();
  std::tie(pair->judge_submission_, pair->runner_submission_) = *std::move(submission);
  if (pair->runner_reference_)
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

jail::JailRequest RunnerPair::runner_request(const runner::Descriptor& socket,
                                             const std::atomic<bool>* stop) const {
  jail::JailRequest request = runner_request(stop);
  request.arguments.insert(request.arguments.end(), {"--socket", std::to_string(socket.get())});
  request.descriptors = {socket.get()};
  return request;
}

jail::JailRequest RunnerPair::runner_request(const std::atomic<bool>* stop) const {
  jail::JailRequest request;
  request.arguments = {kRunnerInside};
  request.bindings.push_back({options_.runner, kRunnerInside});
  for (const std::filesystem::path& folder : options_.runtime_folders)
    request.bindings.push_back({folder, folder});
  request.environment = options_.runner_environment;
  request.environment["LD_LIBRARY_PATH"] = base::search_path(options_.runtime_folders);
  request.limits = options_.limits;
  request.stop = stop;
  return request;
}

void RunnerPair::run_reference(const std::atomic<bool>* stop) {
  reference_ = jail::run_unjailed(runner_request(runner_reference_, stop));
  runner_reference_ = {};  // the test program sees the end of a runner that is no more
}

void RunnerPair::run_submission(const std::atomic<bool>* stop) {
  jail::JailRequest request = runner_request(runner_submission_, stop);
  // The other runner has no memory yet, and waits for the judge, who asks this one first.
  if (options_.scrub) request.arguments.emplace_back("--scrub");
  request.syscalls =
      options_.devices.empty() ? jail::SyscallProfile::kCompute : jail::SyscallProfile::kDevice;
  request.devices = options_.devices;
  submission_ = options_.use_jail ? jail::run(request) : jail::run_unjailed(request);
  runner_submission_ = {};
}

base::Result<jail::JailOutcome> RunnerPair::finish() {
  // Shut down, not only closed: a process that another thread forked just now may hold a copy.
  for (const runner::Descriptor* end : {&judge_reference_, &judge_submission_})
    if (*end) shutdown(end->get(), SHUT_RDWR);
  judge_reference_ = {};
  judge_submission_ = {};
  // Both end side by side.
  if (std::exchange(uses_kept_reference_, false)) reference_ = options_.reference_runner->end();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  if (!reference_) return reference_.error();
  return submission_;
}

std::string RunnerPair::story() const {
  return story_of("the reference's", reference_) + story_of("the submission's", submission_);
}

}  // namespace membound::judge
