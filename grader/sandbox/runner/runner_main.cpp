// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound_runner: the process that holds the device and the device code of one submission, and
/// nothing worth stealing. It serves one judge over one socket and ends with it; the reference's
/// may serve one judge after the other. Asked to, it only says whether the device still works. Exit
/// codes: 0 the judge is done or gone, 2 wrong use, 3 no device, 4 a broken protocol.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/sandbox/runner/server.hpp"
#include "grader/sandbox/runner/virtual_services.hpp"

namespace {

using namespace membound;

constexpr unsigned long long kProbeWords = 1 << 18;
constexpr unsigned kWord = 0x5EED1234U;

struct Step {
  const char* what;
  cudaError_t code;
};

/// The first step that fails, or one that says so of the data.
Step first_failed_step(const std::string& file) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  void* d_words = nullptr;
  cudaError_t code =
      cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  // For older cards and drivers there is PTX beside it.
  if (const auto any = std::filesystem::path(file).parent_path() / "harness.sm_60.ptx";
      code != cudaSuccess)
    code = cudaLibraryLoadFromFile(&library, any.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code != cudaSuccess) return {"loading the harness's kernels", code};
  code = cudaLibraryGetKernel(&kernel, library, "membound_set_words");
  if (code != cudaSuccess) return {"finding membound_set_words", code};
  code = cudaMalloc(&d_words, kProbeWords * sizeof(kWord));
  if (code != cudaSuccess) return {"allocating 1 MiB", code};
  unsigned long long count = kProbeWords;
  unsigned word = kWord;
  void* arguments[] = {&d_words, &count, &word};
  code = cudaLaunchKernel(kernel, dim3{64}, dim3{256}, arguments, 0, nullptr);
  if (code != cudaSuccess) return {"launching a kernel", code};
  code = cudaDeviceSynchronize();
  if (code != cudaSuccess) return {"running a kernel", code};
  std::vector<unsigned> words(kProbeWords);
  code = cudaMemcpy(words.data(), d_words, kProbeWords * sizeof(kWord), cudaMemcpyDeviceToHost);
  if (code != cudaSuccess) return {"reading memory back", code};
  if (std::any_of(words.begin(), words.end(), [](unsigned got) { return got != kWord; }))
    return {"what a kernel wrote", cudaErrorECCUncorrectable};
  return {nullptr, cudaFree(d_words)};
}

/// Loads `harness_kernels`, fills a buffer with one of its kernels, reads it back and compares.
/// Prints one line of JSON: ok, what failed, free and total memory, seconds. A device that does not
/// answer keeps the caller waiting: start it with a deadline.
bool probe_device(const std::string& harness_kernels) {
  const auto start = std::chrono::steady_clock::now();
  const Step step = first_failed_step(harness_kernels);
  std::size_t free_bytes = 0, total_bytes = 0;
  static_cast<void>(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  nlohmann::json report = {{"ok", step.what == nullptr && step.code == cudaSuccess},
                           {"free_bytes", free_bytes},
                           {"total_bytes", total_bytes},
                           {"seconds", took.count()}};
  if (step.what != nullptr)
    report["failed"] = std::string(step.what) + ": " + cudaGetErrorString(step.code);
  std::printf("%s\n", report.dump().c_str());
  return report["ok"];
}

constexpr int kExitNoDevice = 3, kExitProtocol = 4;
constexpr auto kGracePeriod = std::chrono::milliseconds(500);
constexpr std::size_t kPrintfBytes = 1 << 14;  // a kernel's printf: enough to look at, no flood

/// A judge that has gone waits for nothing: a request that is still being worked on, an endless
/// kernel say, is ended with the process. The flag says whether there is one.
std::shared_ptr<std::atomic<bool>> end_with_the_judge(int socket) {
  const auto is_busy = std::make_shared<std::atomic<bool>>(true);
  // A descriptor of its own: the thread may outlive the connection by the grace period.
  std::thread([own = base::Descriptor(fcntl(socket, F_DUPFD_CLOEXEC, 0)), is_busy] {
    pollfd watched{own.get(), POLLRDHUP, 0};
    while (poll(&watched, 1, -1) < 0 && errno == EINTR) {
    }
    std::this_thread::sleep_for(kGracePeriod);
    if (*is_busy) raise(SIGKILL);
  }).detach();
  return is_busy;
}

/// What lies in free memory is another's: it is gone before anything of this run is there.
void scrub() {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t bytes = runner::scrub_device();
  if (bytes == 0) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "scrubbed %.1f GB in %.3f s\n", static_cast<double>(bytes) / 1e9,
               took.count());
}

/// What the checkers found in all launches. What is missing says nothing against a program.
void write_report(int file) {
  std::string text(runner::virtual_report_room(), '\0');
  text.resize(runner::take_virtual_report(std::as_writable_bytes(std::span(text))));
  static_cast<void>(base::write_all(file, text));
}

/// False if the judge has gone without a word.
bool wait_for_the_judge(int socket) {
  pollfd watched{socket, POLLIN, 0};
  while (poll(&watched, 1, -1) < 0 && errno == EINTR) {
  }
  return (watched.revents & POLLIN) != 0;
}

/// Makes the context, which takes long: the runners of a run make theirs side by side.
bool has_context() {
  const cudaError_t code = cudaDeviceSetLimit(cudaLimitPrintfFifoSize, kPrintfBytes);
  if (code != cudaSuccess) std::fprintf(stderr, "no device: %s\n", cudaGetErrorString(code));
  return code == cudaSuccess;
}

int wipe() {
  if (!has_context()) return kExitNoDevice;
  scrub();
  return 0;
}

/// What is noted of a program: descriptors, -1 where nobody asks.
struct Noted {
  int calls = -1, requests = -1, report = -1;
  bool follows_data = false;
  std::uint32_t changed_bits = 0;
  std::uint64_t orders = 0;  ///< of warps, blocks and lanes: 0 for the usual
};

int serve(int socket, const Noted& noted, bool scrubs) {
  const auto is_busy = end_with_the_judge(socket);
  if (!has_context()) return kExitNoDevice;
  if (scrubs) {
    // Not before the judge asks: it has opened the other runner first, which then has its context.
    if (!wait_for_the_judge(socket)) return 0;
    scrub();
  }
  *is_busy = false;
  runner::ServerEnd end{};
  {
    std::optional<runner::CallRecorder> calls;
    if (noted.calls >= 0) calls.emplace(noted.calls);
    std::optional<runner::RequestLog> requests;
    if (noted.requests >= 0) requests.emplace(noted.requests);
    // Whoever follows data asks for no times.
    const bool follows = noted.follows_data && runner::keep_virtual_uses() &&
                         runner::sample_virtual_launches({.on = 3, .seed = noted.orders});
    if (!follows && noted.orders != 0)
      static_cast<void>(runner::sample_virtual_launches({.on = 0, .seed = noted.orders}));
    runner::Server server(
        runner::Descriptor(socket), *is_busy,
        {calls ? &*calls : nullptr, requests ? &*requests : nullptr, follows, noted.changed_bits});
    end = server.serve();
  }
  if (noted.report >= 0) write_report(noted.report);
  return end == runner::ServerEnd::kBrokenProtocol ? kExitProtocol : 0;
}

/// One judge after the other: each has a socket, which comes over this one, and is told of there
/// when nothing of its run is left. Only the context stays, and of it only one that works.
int serve_sessions(int control) {
  if (!has_context()) return kExitNoDevice;
  runner::Channel sessions{runner::Descriptor(control)};
  while (auto socket = sessions.receive_descriptor()) {
    const int number = socket->get();
    const auto is_busy = end_with_the_judge(number);
    *is_busy = false;
    {
      runner::Server server(*std::move(socket), *is_busy);
      const runner::ServerEnd end = server.serve();
      shutdown(number, SHUT_RDWR);
      if (end == runner::ServerEnd::kBrokenProtocol) return kExitProtocol;
    }
    if (cudaDeviceSynchronize() != cudaSuccess) return kExitNoDevice;
    if (send(control, "", 1, MSG_NOSIGNAL) != 1) break;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Dies with whoever started it, even before there is a socket to watch.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  CLI::App app{"Holds the device for one graded submission; started by membound."};
  int socket = -1, sessions = -1;
  Noted noted;
  bool scrubs = false, wipes = false;
  std::string probe;
  app.add_option("--socket", socket, "the inherited descriptor to serve");
  app.add_option("--sessions", sessions,
                 "the inherited descriptor over which one socket to serve comes after the other");
  app.add_option("--record", noted.calls,
                 "the inherited descriptor to which every call of a program is written");
  app.add_option("--requests", noted.requests,
                 "the inherited descriptor to which every request of a program is written, with "
                 "the bytes of copies");
  app.add_flag("--follow-data", noted.follows_data,
               "note with --record what each launch reads and writes; nothing is timed");
  app.add_option("--draw-orders", noted.orders,
                 "draw from this number in which orders warps, blocks and the lanes of atomic "
                 "operations take their turns");
  app.add_option("--change-copies", noted.changed_bits,
                 "change these bits of every word that a program's copies bring to it");
  app.add_option("--report", noted.report,
                 "the inherited descriptor to which the virtual GPU's findings are written");
  app.add_flag("--scrub", scrubs, "overwrite the GPU's free memory before the run");
  app.add_flag("--wipe", wipes, "do not serve: overwrite the GPU's free memory");
  app.add_option("--probe", probe,
                 "do not serve: say as JSON whether the device works, with "
                 "the kernels of this harness.fatbin");
  CLI11_PARSE(app, argc, argv);
  if (!probe.empty()) return probe_device(probe) ? 0 : kExitNoDevice;
  if (wipes) return wipe();
  if (sessions >= 0) return serve_sessions(sessions);
  if (socket < 0) {
    std::fputs(
        "--socket, --sessions, --probe or --wipe is needed; membound starts this program itself\n",
        stderr);
    return 2;
  }
  return serve(socket, noted, scrubs);
}
