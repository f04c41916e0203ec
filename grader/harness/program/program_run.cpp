// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/program_run.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "grader/base/process.hpp"
#include "grader/base/scratch_folder.hpp"
#include "grader/base/text_files.hpp"
#include "grader/sandbox/jail/unjailed.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::harness {
namespace {

namespace fs = std::filesystem;

// Inside the jails; where there are none, jail/unjailed finds what is meant.
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
};

base::Result<std::string> read_record(const runner::Descriptor& record) {
  std::string text;
  char buffer[1 << 16];
  for (off_t at = 0;;) {
    const ssize_t now = pread(record.get(), buffer, sizeof buffer, at);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return machine_error("a runner's record of calls");
    if (now == 0) return text;
    text.append(buffer, static_cast<std::size_t>(now));
    at += now;
  }
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
    if (!records.calls || !records.findings) return machine_error("a runner's record of calls");
    runner::Descriptor& programs_end = sockets->first;
    runner::Descriptor& runners_end = sockets->second;

    base::Result<jail::JailOutcome> runner = jail::JailOutcome{};
    std::thread beside([&] {
      runner = run_runner(runners_end.get(), records);
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
    end.runner = *std::move(runner);
    end.outputs = end.program.files;
    const auto text = read_record(records.calls);
    if (!text) return text.error();
    auto findings = read_record(records.findings);
    if (!findings) return findings.error();
    end.findings = *std::move(findings);
    auto calls = runner::calls_from_text(*text);
    if (!calls) return calls.error();
    end.calls = *std::move(calls);
    end.too_many_calls = end.calls.size() >= runner::CallRecorder::kMostCalls;
    return end;
  }

 private:
  [[nodiscard]] fs::path inputs() const { return folder_.path() / kInputFolder; }

  [[nodiscard]] base::Result<jail::JailOutcome> run_one(const jail::JailRequest& request) const {
    return setting_.use_jail ? jail::run(request) : jail::run_unjailed(request);
  }

  base::Result<jail::JailOutcome> run_runner(int socket, const Records& records) const {
    jail::JailRequest request;
    request.arguments = {kRunner,
                         "--socket",
                         std::to_string(socket),
                         "--record",
                         std::to_string(records.calls.get()),
                         "--report",
                         std::to_string(records.findings.get())};
    request.bindings.push_back({setting_.runner, kRunner});
    for (const fs::path& folder : setting_.runtime_folders)
      request.bindings.push_back({folder, folder});
    request.environment = setting_.runner_environment;
    request.environment["LD_LIBRARY_PATH"] = base::search_path(setting_.runtime_folders);
    request.limits = setting_.runner_limits;
    request.descriptors = {socket, records.calls.get(), records.findings.get()};
    return run_one(request);
  }

  base::Result<jail::JailOutcome> run_students(int socket) const {
    jail::JailRequest request;
    request.arguments = {kProgram, std::to_string(given_.stage), kInputs, kOutputs};
    request.bindings = {
        {setting_.program, kProgram}, {setting_.forward_folder, kForward}, {inputs(), kInputs}};
    request.scratch = request.folder = kOutputs;
    request.environment = {{"LD_LIBRARY_PATH", kForward},
                           {"MEMBOUND_REMOTE_SOCKETS", std::to_string(socket)}};
    request.limits = setting_.program_limits;
    request.descriptors = {socket};
    for (const std::string& name : given_.outputs) request.collected.emplace_back(name);
    return run_one(request);
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

base::Result<RunEnd> run_program(const Setting& setting, const Given& given) {
  return Run(setting, given).run();
}

}  // namespace membound::harness
