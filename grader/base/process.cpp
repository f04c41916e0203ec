// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"

namespace membound::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTickMs = 50;
constexpr int kAskMs = 2;  ///< between two questions whether a process has ended
/// Between asking a program to end and ending it.
constexpr std::chrono::milliseconds kGrace{1000};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : changes)
    if (!value.empty()) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// What the child needs between fork and exec, made before: there it may only call functions that
/// are safe in a process forked from one with threads.
struct ChildStart {
  const char* program;
  char** arguments;
  char** environment;
  const char* folder;  // null: stay
  int input;
  int output;
  int report;  // receives errno when the program cannot be started
  pid_t parent;
  const std::vector<int>* descriptors;
};

[[noreturn]] void become(const ChildStart& how) {
  setpgid(0, 0);
  // Should we be killed, the program must not live on.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != how.parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGQUIT}) signal(number, SIG_DFL);
  for (const int number : *how.descriptors) fcntl(number, F_SETFD, 0);
  const bool ready = dup2(how.input, 0) >= 0 && dup2(how.output, 1) >= 0 &&
                     dup2(how.output, 2) >= 0 && (how.folder == nullptr || chdir(how.folder) == 0);
  if (ready) execve(how.program, how.arguments, how.environment);
  const int reason = errno;
  [[maybe_unused]] const auto written = write(how.report, &reason, sizeof reason);
  _exit(127);
}

Error cannot_start(const std::string& program, int reason) {
  return {ErrorKind::kMachine, program, "cannot be started: " + reason_text(reason),
          "a program that runs here", "membound doctor"};
}

/// Follows one running child until it and its group are gone.
class Watch {
 public:
  Watch(const ProcessRequest& request, pid_t child, int output)
      : request_(request),
        child_(child),
        output_(output),
        end_(static_cast<int>(syscall(SYS_pidfd_open, child, 0))) {}

  ProcessOutcome finish() {
    bool open = true;
    while (!exited()) {
      open = wait(open);
      check_limits();
    }
    // Whatever the program started and left behind ends with it.
    kill(-child_, SIGKILL);
    while (open && read_some()) {
    }
    outcome_.seconds = seconds();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

  bool exited() {
    int status = 0;
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    if (ended == child_ && WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
    if (ended == child_ && WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
    return true;
  }

  /// For output, while that is open, for the end, or for a while. Whether output is open still.
  bool wait(bool open) {
    std::array<pollfd, 2> entries{pollfd{open ? output_ : -1, POLLIN, 0},
                                  pollfd{end_.get(), POLLIN, 0}};
    // A kernel that tells no ends is asked often.
    const bool is_told = open || end_.get() >= 0;
    if (poll(entries.data(), entries.size(), is_told ? kTickMs : kAskMs) <= 0) return open;
    return entries[0].revents == 0 ? open : read_some();
  }

  bool read_some() {
    std::array<char, 65536> buffer;
    const ssize_t size = read(output_, buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR;
    if (size == 0) return false;
    const auto space = request_.output_limit_bytes - outcome_.output.size();
    const auto kept = std::min(space, static_cast<std::size_t>(size));
    outcome_.output.append(buffer.data(), kept);
    outcome_.output_cut = outcome_.output_cut || kept < static_cast<std::size_t>(size);
    return true;
  }

  void check_limits() {
    if (ending_) {
      if (Clock::now() > *ending_ + kGrace) kill(-child_, SIGKILL);
      return;
    }
    if (request_.stop != nullptr && request_.stop->load()) {
      outcome_.stopped = true;
      end(SIGINT);
    } else if (seconds() > request_.timeout_seconds ||
               (request_.keep_going && !request_.keep_going())) {
      outcome_.timed_out = true;
      end(SIGTERM);
    }
  }

  void end(int number) {
    kill(-child_, number);
    ending_ = Clock::now();
  }

  const ProcessRequest& request_;
  pid_t child_;
  int output_;
  Descriptor end_;  // readable when the child has ended; none before Linux 5.3
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> ending_;
  ProcessOutcome outcome_;
};

}  // namespace

std::filesystem::path find_in_path(const std::string& program, const std::string& path) {
  std::error_code ignored;
  if (program.find('/') != std::string::npos) {
    const bool runs =
        access(program.c_str(), X_OK) == 0 && !std::filesystem::is_directory(program, ignored);
    return runs ? std::filesystem::path(program) : std::filesystem::path();
  }
  for (std::size_t start = 0; start <= path.size();) {
    const auto end = std::min(path.find(':', start), path.size());
    const auto candidate = std::filesystem::path(path.substr(start, end - start)) / program;
    if (std::filesystem::is_regular_file(candidate, ignored) &&
        access(candidate.c_str(), X_OK) == 0)
      return candidate;
    start = end + 1;
  }
  return {};
}

std::string search_path(const std::vector<std::filesystem::path>& folders) {
  std::string text;
  for (const std::filesystem::path& folder : folders) base::add_word(text, folder.string(), ":");
  return text;
}

Result<ProcessOutcome> run_process(const ProcessRequest& request) {
  const char* const path = std::getenv("PATH");
  const std::string program =
      find_in_path(request.arguments.front(), path == nullptr ? "/usr/bin:/bin" : path).string();
  if (program.empty()) return cannot_start(request.arguments.front(), ENOENT);
  auto arguments = request.arguments;
  auto environment = merged_environment(request.environment);
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);

  Descriptor output_read, output_write, report_read, report_write;
  const Descriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (input.get() < 0 || !make_pipe(output_read, output_write) ||
      !make_pipe(report_read, report_write))
    return cannot_start(program, errno);
  const ChildStart how{program.c_str(),
                       const_cast<char**>(argument_pointers.data()),
                       const_cast<char**>(environment_pointers.data()),
                       request.folder.empty() ? nullptr : request.folder.c_str(),
                       input.get(),
                       output_write.get(),
                       report_write.get(),
                       getpid(),
                       &request.descriptors};
  const pid_t child = fork();
  if (child < 0) return cannot_start(program, errno);
  if (child == 0) become(how);
  setpgid(child, child);  // here too: whichever of the two comes first
  output_write.reset();
  report_write.reset();
  int reason = 0;
  if (read(report_read.get(), &reason, sizeof reason) == sizeof reason) {
    waitpid(child, nullptr, 0);
    return cannot_start(program, reason);
  }
  return Watch(request, child, output_read.get()).finish();
}

namespace {

constexpr std::size_t kBootDigits = 8;

std::string line_of(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// In ticks since the boot; 0 where there is no such process, or only its exit code is left.
std::uint64_t start_of(std::uint64_t process) {
  // The name, in parentheses, may hold anything; fields 3 and 22 are counted after it.
  const std::string line = line_of("/proc/" + std::to_string(process) + "/stat");
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream words(line.substr(name_end + 1));
  std::string state, skipped;
  words >> state;
  if (state == "Z" || state == "X") return 0;
  for (int field = 4; field < 22; ++field) words >> skipped;
  std::uint64_t start = 0;
  words >> start;
  return start;
}

/// "3f2a91c0.4026531836.": what marks of processes that can see each other begin with.
std::string place() {
  struct stat about {};
  stat("/proc/self/ns/pid", &about);
  return line_of("/proc/sys/kernel/random/boot_id").substr(0, kBootDigits) + "." +
         std::to_string(about.st_ino) + ".";
}

}  // namespace

std::string owner_mark() {
  const auto process = static_cast<std::uint64_t>(getpid());
  return place() + std::to_string(process) + "." + std::to_string(start_of(process));
}

bool has_lost_its_owner(std::string_view text) {
  const std::string here = place();
  if (here.size() <= kBootDigits || !text.starts_with(here)) return false;
  text.remove_prefix(here.size());
  std::array<std::uint64_t, 2> numbers{};  // the process and its start
  for (std::uint64_t& number : numbers) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || number == 0) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (&number == &numbers.front()) {
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
    }
  }
  return start_of(numbers[0]) != numbers[1];
}

}  // namespace membound::base
