// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/sandboxed_run.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include <link.h>

#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/device_code/cuda_api/driver.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/sandbox/runner/runner_limits.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

/// The largest timed case is 2 GiB of inputs and outputs, which on the virtual GPU lie in the
/// runner's memory, and pass through the socket's on a GPU.
constexpr std::size_t kMemory = 6144 * jail::kMegabyte;
/// A printf left in a kernel is no crime: each launch hands over one buffer of 16 KiB at most
/// (sandbox/runner/runner_main), and a lab makes a few hundred launches.
constexpr std::size_t kOutput = 16 * jail::kMegabyte;

/// "nvidia0", "nvidia12": one for each GPU.
bool is_gpu(const std::string& name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         std::all_of(name.begin() + kPrefix.size(), name.end(),
                     [](unsigned char c) { return c >= '0' && c <= '9'; });
}

/// What every jail shows of itself: jail/bubblewrap.
bool is_systems(const fs::path& file) {
  const std::string path = file.string();
  return path.starts_with("/usr/lib") || path.starts_with("/lib");
}

void add_folder(const fs::path& file, std::vector<fs::path>& folders) {
  if (!file.is_absolute() || is_systems(file)) return;
  const fs::path folder = file.parent_path();
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

/// Where libcuda.so.1 was found; empty without a driver. The runtime opens it by that name.
fs::path driver_library() {
  void* const library = cuda_api::open_library("libcuda.so.1");
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
    return {};
  return map->l_name;
}

}  // namespace

std::vector<fs::path> library_folders(const std::string& ldd_output) {
  std::vector<fs::path> folders;
  std::istringstream lines(ldd_output);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kArrow = " => ";
    const auto arrow = line.find(kArrow);
    if (arrow == std::string::npos) continue;
    const auto start = arrow + kArrow.size();
    // Behind the path its address in parentheses.
    add_folder(line.substr(start, line.rfind(" (") - start), folders);
  }
  return folders;
}

base::Result<std::vector<fs::path>> gpu_library_folders(const fs::path& runner) {
  // Asked for each submission, with its device held.
  static std::mutex mutex;
  static std::map<fs::path, std::vector<fs::path>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(runner); found != known.end()) return found->second;
  const auto listed = base::run_process({.arguments = {runner.string()},
                                         .environment = {{"LD_TRACE_LOADED_OBJECTS", "1"}},
                                         .timeout_seconds = 10});
  if (!listed) return listed.error();
  std::vector<fs::path> folders = library_folders(listed->output);
  add_folder(driver_library(), folders);
  return known[runner] = std::move(folders);
}

jail::Limits runner_limits(int stages, double seconds_per_stage) {
  jail::Limits limits;
  limits.wall_seconds = stages * seconds_per_stage;
  limits.memory_bytes = kMemory;
  limits.output_bytes = kOutput;
  limits.processes = runner::most_runner_threads();
  limits.limit_address_space = false;  // both kinds of device reserve far more than they use
  return limits;
}

std::vector<fs::path> gpu_nodes(const fs::path& folder, int gpu_number) {
  std::vector<fs::path> nodes;
  const std::string only = "nvidia" + std::to_string(gpu_number);
  std::error_code error;
  // Elsewhere a container may show its GPUs under other numbers than the driver.
  const bool knows_it = gpu_number >= 0 && fs::exists(folder / only, error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name == "nvidiactl" || name == "nvidia-uvm" || name == "nvidia-uvm-tools" ||
        name == "dxg" ||  // all GPUs of a Linux machine in Windows
        (is_gpu(name) && (!knows_it || name == only)))
      nodes.push_back(entry->path());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

namespace {

/// A runner whose judge is gone ends itself after half a second of work.
constexpr int kPatienceMs = 10'000;
constexpr auto kRunnerPoll = std::chrono::milliseconds(2);

}  // namespace

base::Status ReferenceRunner::start(const jail::JailRequest& how) {
  auto pair = runner::make_socket_pair();
  if (!pair) return pair.error();
  control_ = std::move(pair->first);
  must_end_ = has_ended_ = false;
  jail::JailRequest request = how;
  const int socket = pair->second.get();
  request.arguments.insert(request.arguments.end(), {"--sessions", std::to_string(socket)});
  request.descriptors = {socket};
  // Each run has limits of its own, and this lives as long as the batch.
  request.limits.wall_seconds = std::numeric_limits<int>::max();
  request.stop = &must_end_;
  // It dies with the thread that started it.
  thread_ = std::thread([this, request = std::move(request), theirs = std::move(pair->second)] {
    outcome_ = jail::run_unjailed(request);
    has_ended_ = true;
    shutdown(theirs.get(), SHUT_RDWR);
  });
  return base::Done{};
}

base::Result<runner::Descriptor> ReferenceRunner::begin(const jail::JailRequest& how) {
  if (has_ended_) stop();
  if (!control_)
    if (const auto started = start(how); !started) return started.error();
  auto pair = runner::make_socket_pair();
  if (!pair) return pair.error();
  const runner::Channel control(runner::Descriptor(dup(control_.get())));
  if (const auto sent = control.send_descriptor(pair->second.get()); !sent) return sent.error();
  return std::move(pair->first);
}

base::Result<jail::JailOutcome> ReferenceRunner::end() {
  char word = 0;
  if (wait_for_word() && recv(control_.get(), &word, 1, MSG_DONTWAIT) == 1)
    return jail::JailOutcome{.exit_code = 0};
  stop();
  return outcome_;
}

bool ReferenceRunner::wait_for_word() const {
  pollfd watched{control_.get(), POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&watched, 1, kPatienceMs)) < 0 && errno == EINTR) {
  }
  return ready > 0;
}

void ReferenceRunner::stop() {
  if (!thread_.joinable()) return;
  shutdown(control_.get(), SHUT_RDWR);
  const auto start = std::chrono::steady_clock::now();
  while (!has_ended_ &&
         std::chrono::steady_clock::now() < start + std::chrono::milliseconds(kPatienceMs))
    std::this_thread::sleep_for(kRunnerPoll);
  must_end_ = true;
  thread_.join();
  control_ = {};
  has_ended_ = false;
}

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

base::Result<std::unique_ptr<RunnerPair>> RunnerPair::start(const SandboxOptions& options,
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
  for (const int socket : descriptors()) base::add_word(sockets, std::to_string(socket), ",");
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
