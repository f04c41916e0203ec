// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How fast the virtual GPU is: warp instructions a second, counters on, on a padded transpose of
/// 2048 x 2048 floats, a reduction of 16 M floats and a min-plus product of 512 x 512 integers.
///   vgpu_bench [--all-checks] [--caches] [--threads N] [--only KERNEL] [--rounds N] [FILE.ptx]
/// CPU time is that of all threads together: beside other work it says more than the wall clock.
/// Results are verified; a wrong one ends the program with exit code 1.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/exec/launch/launch.hpp"
#include "grader/vgpu/program/module.hpp"

namespace {

namespace exec = membound::vgpu::exec;
namespace memory = membound::vgpu::memory;
namespace program = membound::vgpu::program;
using membound::vgpu::Dim3;

struct Options {
  std::string ptx_path = MEMBOUND_BENCH_PTX;
  bool all_checks = false;
  bool caches = false;  ///< with the cache model, as an H200's
  unsigned threads = 0;
  std::string only = {};  ///< the one kernel to run: for a profiler
  int rounds = 5;
};

/// Packs kernel arguments as a launch wants them.
class Arguments {
 public:
  template <typename T>
  Arguments& add(T value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Bench {
 public:
  Bench(const program::Program& program, const Options& options)
      : program_(program), options_(options), space_(std::uint64_t{4} << 30) {
    if (options.all_checks) space_.track_initialised(true);
  }

  template <typename T>
  std::uint64_t upload(const std::vector<T>& data) {
    const auto address = space_.allocate(data.size() * sizeof(T), 256, {});
    space_.copy_in(*address, data.data(), data.size() * sizeof(T));
    return *address;
  }

  template <typename T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> data(count);
    space_.copy_out(data.data(), address, count * sizeof(T));
    return data;
  }

  [[nodiscard]] bool wants(const char* name) const {
    return options_.only.empty() || options_.only == name;
  }

  /// Best of the rounds.
  bool time(const char* name, Dim3 grid, Dim3 block, const Arguments& arguments) {
    exec::LaunchRequest request;
    request.program = &program_;
    request.kernel = program_.find_kernel(name);
    if (request.kernel == nullptr) return false;
    request.grid = grid;
    request.block = block;
    request.parameters = arguments.bytes();
    request.memory = &space_;
    request.limits.worker_threads = options_.threads;
    request.caches.enabled = options_.caches;
    request.caches.resident_blocks_per_sm =
        static_cast<std::uint32_t>(2048 / block.count());  // as many as its threads allow
    if (options_.all_checks) request.checks.switch_on("all");
    double best = 1e9, best_cpu = 1e9;
    exec::LaunchReport report;
    for (int round = 0; round < options_.rounds; ++round) {
      const std::clock_t before = std::clock();
      report = exec::launch(request);
      best_cpu = std::min(best_cpu, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
      if (report.fault) {
        std::printf("%-10s fault: %s\n", name, report.fault->text.c_str());
        return false;
      }
      best = std::min(best, report.wall_seconds);
    }
    for (const exec::CheckReport& finding : report.checks)
      std::printf("%-10s %s: %s\n", name, finding.checker.c_str(), finding.text.c_str());
    std::printf(
        "%-10s %8.2f M warp instructions  %7.2f ms  %7.1f M/s  %7.2f ms of CPU time  "
        "%llu ld + %llu st sectors\n",
        name, static_cast<double>(report.warp_instructions) / 1e6, best * 1e3,
        static_cast<double>(report.warp_instructions) / best / 1e6, best_cpu * 1e3,
        static_cast<unsigned long long>(report.counters.totals.global_load_sectors),
        static_cast<unsigned long long>(report.counters.totals.global_store_sectors));
    return true;
  }

 private:
  const program::Program& program_;
  const Options& options_;
  memory::AddressSpace space_;
};

bool bench_transpose(Bench& bench) {
  if (!bench.wants("transpose")) return true;
  constexpr int kSize = 2048;
  std::vector<float> in(kSize * kSize);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const auto d_in = bench.upload(in), d_out = bench.upload(std::vector<float>(in.size()));
  if (!bench.time("transpose", {kSize / 32, kSize / 32, 1}, {32, 8, 1},
                  Arguments().add(d_out).add(d_in).add(kSize).add(kSize)))
    return false;
  const auto out = bench.download<float>(d_out, in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (out[i] != in[i % kSize * kSize + i / kSize]) return false;
  }
  return true;
}

bool bench_reduce(Bench& bench) {
  if (!bench.wants("reduce")) return true;
  constexpr int kCount = 1 << 24;
  const auto d_in = bench.upload(std::vector<float>(kCount, 1.0f));
  const auto d_out = bench.upload(std::vector<float>(kCount / 256));
  if (!bench.time("reduce", {kCount / 256, 1, 1}, {256, 1, 1},
                  Arguments().add(d_out).add(d_in).add(kCount)))
    return false;
  const auto out = bench.download<float>(d_out, kCount / 256);
  return std::all_of(out.begin(), out.end(), [](float x) { return x == 256.0f; });
}

bool bench_min_plus(Bench& bench) {
  if (!bench.wants("min_plus")) return true;
  constexpr int kSize = 512;
  std::vector<int> a(kSize * kSize), b(kSize * kSize);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int>(i * 7919 % 1000);
    b[i] = static_cast<int>(i * 104729 % 1000);
  }
  const auto d_a = bench.upload(a), d_b = bench.upload(b), d_c = bench.upload(a);
  if (!bench.time("min_plus", {kSize / 32, kSize / 32, 1}, {32, 32, 1},
                  Arguments().add(d_c).add(d_a).add(d_b).add(kSize)))
    return false;
  const auto c = bench.download<int>(d_c, a.size());
  for (std::size_t i = 0; i < c.size(); i += 1009) {
    int best = 1 << 29;
    for (std::size_t k = 0; k < kSize; ++k)
      best = std::min(best, a[i / kSize * kSize + k] + b[k * kSize + i % kSize]);
    if (best != c[i]) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--all-checks") == 0)
      options.all_checks = true;
    else if (std::strcmp(argv[i], "--caches") == 0)
      options.caches = true;
    else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
      options.threads = static_cast<unsigned>(std::stoul(argv[++i]));
    else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      options.only = argv[++i];
    else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
      options.rounds = std::stoi(argv[++i]);
    else
      options.ptx_path = argv[i];
  }
  std::ifstream file(options.ptx_path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto module = membound::ptx::parse(text, options.ptx_path);
  if (!module) return std::printf("%s\n", to_string(module.error()).c_str()), 2;
  const auto linked = program::Program::link({&*module, 1});
  if (!linked) return std::printf("%s\n", to_string(linked.error()).c_str()), 2;
  Bench bench(*linked, options);
  bool ok = true;
  for (const auto run : {&bench_transpose, &bench_reduce, &bench_min_plus}) ok = run(bench) && ok;
  if (!ok) std::puts("a result is wrong");
  return ok ? 0 : 1;
}
