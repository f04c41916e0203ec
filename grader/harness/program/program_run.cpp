// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/program_run.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::harness {
namespace {

namespace fs = std::filesystem;

// Inside the jails; where there are none, run_unjailed() finds what is meant.
constexpr const char* kProgram = "/membound/program";
constexpr const char* kForward = "/membound/cuda";
constexpr const char* kInputs = "/membound/inputs";
constexpr const char* kOutputs = "/scratch";
constexpr const char* kRunner = "/membound/membound_runner";

constexpr const char* kInputFolder = "inputs";

base::Error machine_error(const std::string& where) {
  return {base::ErrorKind::kMachine, where, std::generic_category().message(errno), "",
          "check the disk and the machine's log"};
}

/// What the runner writes, as files in memory, empty.
struct Records {
  runner::Descriptor calls{memfd_create("membound-calls", MFD_CLOEXEC)};
  runner::Descriptor findings{memfd_create("membound-findings", MFD_CLOEXEC)};
  runner::Descriptor requests{memfd_create("membound-requests", MFD_CLOEXEC)};
};

base::Result<jail::JailOutcome> run_one(const Setting& setting, const jail::JailRequest& request) {
  return setting.use_jail ? jail::run(request) : jail::run_unjailed(request);
}

constexpr double kBeforeTheEnd = 0.5;  ///< s before its limit a program is asked where it stands

/// Takes the line out of `output` with which the program told where it stands, and looks its
/// addresses up. By addr2line, which is part of what compilers need; without it nobody knows.
std::string place_in(std::string& output, const fs::path& program) {
  const auto at = output.find(runner::kPlaceMark);
  if (at == std::string::npos) return "";
  const auto end = std::min(output.find('\n', at), output.size() - 1);
  std::istringstream words(
      output.substr(at + runner::kPlaceMark.size(), end - at - runner::kPlaceMark.size()));
  output.erase(at, end + 1 - at);
  base::ProcessRequest look;
  look.arguments = {"addr2line", "-i", "-e", program.string()};
  look.timeout_seconds = 10;
  bool runs = false;
  for (std::string word; words >> word;) {
    if (word.front() == '=') runs = look.arguments.size() == 4, word.erase(0, 1);
    look.arguments.push_back(word);
  }
  const auto found = base::run_process(look);
  if (!found || found->exit_code != 0) return "";
  // "/folder/kernel.cu:12 (discriminator 3)"; lines of headers are not the student's.
  static const std::regex kOwn(R"(\.cu:([1-9]\d*))");
  std::smatch match;
  if (!std::regex_search(found->output, match, kOwn)) return "";
  return (runs ? "was running line " : "was in a call of line ") + match[1].str();
}

/// One run's two processes and what lies between them.
class Run {
 public:
  Run(const Setting& setting, const Given& given) : setting_(setting), given_(given) {}

  base::Result<RunEnd> run() {
    if (auto status = lay_out_inputs(given_, folder_.path()); !status) return status.error();
    auto sockets = runner::make_socket_pair();
    if (!sockets) return sockets.error();
    const Records records;
    if (!records.calls || !records.findings || !records.requests)
      return machine_error("a runner's record of calls");
    runner::Descriptor& programs_end = sockets->first;
    runner::Descriptor& runners_end = sockets->second;

    base::Result<jail::JailOutcome> runner = jail::JailOutcome{};
    std::thread beside([&] {
      RunnerFiles files{runners_end.get(), records.calls.get(), records.findings.get()};
      if (setting_.keeps_requests) files.requests = records.requests.get();
      files.changed_bits = setting_.changed_bits;
      files.orders = setting_.orders;
      runner = run_runner(setting_, files);
      runners_end = {};  // the program sees the end of a runner that is no more
    });
    auto program = run_students(programs_end.get());
    // Shut down, not only closed: a process that another thread forked just now may hold a copy.
    shutdown(programs_end.get(), SHUT_RDWR);
    beside.join();
    if (!program) return program.error();
    if (!runner) return runner.error();

    RunEnd end;
    end.program = *std::move(program);
    if (!setting_.use_jail) end.stood = place_in(end.program.output, setting_.program);
    end.runner = *std::move(runner);
    end.outputs = std::move(end.program.files);
    const auto text = read_whole(records.calls);
    if (!text) return text.error();
    auto findings = read_whole(records.findings);
    if (!findings) return findings.error();
    end.findings = *std::move(findings);
    auto requests = read_whole(records.requests);
    if (!requests) return requests.error();
    if (setting_.keeps_requests)
      end.requests = std::make_shared<const std::string>(*std::move(requests));
    auto calls = runner::calls_from_text(*text);
    if (!calls) return calls.error();
    end.calls = *std::move(calls);
    end.too_many_calls = end.calls.size() >= runner::CallRecorder::kMostCalls;
    return end;
  }

 private:
  [[nodiscard]] fs::path inputs() const { return folder_.path() / kInputFolder; }

  base::Result<jail::JailOutcome> run_students(int socket) const {
    jail::JailRequest request;
    request.arguments = {kProgram, std::to_string(given_.stage), kInputs, kOutputs};
    request.bindings = {
        {setting_.program, kProgram}, {setting_.forward_folder, kForward}, {inputs(), kInputs}};
    request.scratch = request.folder = kOutputs;
    request.environment = {{"LD_LIBRARY_PATH", kForward},
                           {"MEMBOUND_REMOTE_SOCKETS", std::to_string(socket)}};
    request.limits = setting_.program_limits;
    // A stranger's file is opened by nothing outside of its jail, addr2line included.
    if (!setting_.use_jail)
      request.environment["MEMBOUND_PLACE_AFTER"] =
          std::to_string(request.limits.wall_seconds - kBeforeTheEnd);
    request.descriptors = {socket};
    for (const std::string& name : given_.outputs) request.collected.emplace_back(name);
    return run_one(setting_, request);
  }

  const Setting& setting_;
  const Given& given_;
  base::ScratchFolder folder_{"program"};
};

}  // namespace

base::Status lay_out_inputs(const Given& given, const fs::path& folder) {
  const fs::path inputs = folder / kInputFolder;
  std::error_code error;
  fs::create_directories(inputs, error);
  // The program's user is another one.
  for (const fs::path& shown : {folder, inputs}) fs::permissions(shown, fs::perms(0755), error);
  if (error)
    return base::Error{base::ErrorKind::kMachine, folder.string(),
                       "cannot be made: " + error.message(), "a folder for a program's inputs",
                       "check $TMPDIR and that the disk is not full"};
  for (const auto& [name, bytes] : given.inputs)
    if (auto written = base::write_file(inputs / name, bytes); !written) return written;
  return base::Done{};
}

base::Result<std::string> read_whole(const runner::Descriptor& file) {
  struct stat about {};
  if (fstat(file.get(), &about) != 0) return machine_error("a runner's record of calls");
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t now =
        pread(file.get(), text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return machine_error("a runner's record of calls");
    at += static_cast<std::size_t>(now);
  }
  return text;
}

base::Result<jail::JailOutcome> run_runner(const Setting& setting, const RunnerFiles& files) {
  jail::JailRequest request;
  request.arguments = {kRunner};
  const auto pass_on = [&](const char* option, int file) {
    if (file < 0) return;
    request.arguments.insert(request.arguments.end(), {option, std::to_string(file)});
    request.descriptors.push_back(file);
  };
  pass_on("--socket", files.socket);
  pass_on("--record", files.calls);
  pass_on("--report", files.findings);
  pass_on("--requests", files.requests);
  if (files.follows_data) request.arguments.emplace_back("--follow-data");
  if (files.orders != 0)
    request.arguments.insert(request.arguments.end(),
                             {"--draw-orders", std::to_string(files.orders)});
  if (files.changed_bits != 0)
    request.arguments.insert(request.arguments.end(),
                             {"--change-copies", std::to_string(files.changed_bits)});
  request.bindings.push_back({setting.runner, kRunner});
  for (const fs::path& folder : setting.runtime_folders)
    request.bindings.push_back({folder, folder});
  request.environment = setting.runner_environment;
  request.environment["LD_LIBRARY_PATH"] = base::search_path(setting.runtime_folders);
  request.limits = setting.runner_limits;
  return run_one(setting, request);
}

base::Result<RunEnd> run_program(const Setting& setting, const Given& given) {
  return Run(setting, given).run();
}

}  // namespace membound::harness
