// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU says: the counters file, the summary of a run, and everything on standard
/// error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/advice/advice.hpp"
#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/runtime/device/streams.hpp"
#include "grader/vgpu/timing/model.hpp"

namespace membound::vgpu::runtime {

/// One launch, as it goes into the file.
struct LaunchRecord {
  std::string name;  ///< mangled
  Dim3 grid;
  Dim3 block;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;
  const counters::LaunchCounters* counters = nullptr;  ///< null: nothing was counted
  const timing::Prediction* prediction = nullptr;
  TimeSpan span;
  std::uint64_t stream = 0;
  std::uint64_t warp_instructions = 0;
  double wall_seconds = 0;
  std::string outcome;   ///< "completed", or what ended it
  std::string accesses;  ///< a JSON array of what one warp did; empty where nothing is traced
  Dim3 traced_block{0, 0, 0};
  std::uint32_t traced_warp = 0;
  std::vector<advice::Advice> advice;  ///< the largest speedup first
  std::optional<exec::SampleFacts> sample = {};
  /// Of the program's variables in constant memory, where the blocks' work is told.
  std::optional<std::uint64_t> constant_bytes = {};
  std::string not_sampled = {};  ///< why, where it was to be; then it was not run
  /// See program/kept_variables.hpp; asked where some blocks run.
  bool writes_variables = false;
  /// Of a launch of which some blocks ran for their results: what lazily generated arrays hold
  /// afterwards.
  std::optional<std::uint64_t> drawn_bytes = {};
  std::optional<exec::SliceFacts> slice = {};
  /// Whether its loads of shared memory are counted as the machine code has them; nothing where it
  /// has none.
  std::optional<program::AccessesFrom> shared_accesses = {};
};

/// JSON objects, one per launch and one per finding.
[[nodiscard]] std::string to_json(const LaunchRecord& record);
[[nodiscard]] std::string to_json(const exec::CheckReport& report);
[[nodiscard]] std::string to_json(const exec::Fault& fault);

/// A list that only grows at its end, so that a signal handler may walk it while another thread
/// appends.
class ReportLog {
 public:
  ReportLog() = default;
  ~ReportLog();
  ReportLog(const ReportLog&) = delete;
  ReportLog& operator=(const ReportLog&) = delete;

  /// The first entry of the file; before it, nothing is written.
  void set_device(const std::string& name, const std::string& machine_id);
  void add_kernel(std::string json);
  void add_report(std::string json, bool is_remark = false);
  /// Without remarks.
  [[nodiscard]] std::uint64_t report_count() const { return report_count_; }

  /// The whole file so far.
  [[nodiscard]] std::string file_text() const;
  /// Only what was added since `take` was last told to forget: {"device", "kernels", "reports"}.
  [[nodiscard]] std::string text_since_taken() const;
  void mark_taken();

  /// Writes the file beside `path` and renames it into place. Uses nothing but system calls, so it
  /// may be called from a signal handler. False when the file cannot be written.
  bool write_file(const char* path) const;

 private:
  struct Entry {
    std::string json;
    bool is_kernel;
    std::atomic<Entry*> next{nullptr};
  };
  void append(std::string json, bool is_kernel);
  [[nodiscard]] std::string text_from(const Entry* before) const;

  std::string header_ = "{\"device\":\"\",\"machine\":\"\"";
  std::uint64_t report_count_ = 0;
  Entry first_{"", false, nullptr};  // a sentinel; entries live as long as the log
  Entry* last_ = &first_;
  const Entry* taken_ = &first_;
};

/// Sums by kernel.
class RunSummary {
 public:
  /// One launch of the kernel with this mangled name.
  void add(const std::string& kernel, double ns, timing::BoundKind binding);

  /// Kernels by the time they took, each with what bound most of it; no line feed at the end.
  [[nodiscard]] std::string text(const std::string& device) const;

 private:
  struct Sum {
    std::uint64_t launches = 0;
    double ns = 0;
    std::map<timing::BoundKind, double> bound_ns;
  };
  std::map<std::string, Sum> kernels_;
};

/// What `membound run` says of findings: how many there were, or what was not looked for.
[[nodiscard]] std::string findings_line(bool looked, std::uint64_t findings);

}  // namespace membound::vgpu::runtime

namespace membound::vgpu::runtime::messages {

/// Prints "membound: …" and a line end to standard error, without buffering.
void print(const std::string& text);

/// A fault or finding: what, where, which thread.
[[nodiscard]] std::string fault(const exec::Fault& fault);
[[nodiscard]] std::string finding(const exec::CheckReport& report);
/// Code that cannot be run: no PTX, broken PTX. `kernel` may be empty.
[[nodiscard]] std::string unusable_code(const std::string& kernel, const base::Error& error);
/// A call the virtual GPU does not have.
[[nodiscard]] std::string missing_call(std::string_view entry_point);
/// Memory nobody freed.
[[nodiscard]] std::string leak(const memory::Allocation& allocation);
/// A launch that was refused, and nobody asked; `why` may be empty.
[[nodiscard]] std::string unchecked_launch(std::string_view kernel, cudaError_t code,
                                           std::string_view why);
/// A launch that was refused for its size.
[[nodiscard]] std::string refused_launch(std::string_view kernel, std::string_view why);
/// Kernel output that was never shown.
[[nodiscard]] std::string lost_output(std::size_t bytes);
/// Kernel output for which printf's buffer had no room.
[[nodiscard]] std::string dropped_output(std::size_t lines, std::size_t buffer_bytes);

/// "out of memory" and the other texts of error_table.def.
[[nodiscard]] const char* error_text(int code);
/// "cudaErrorMemoryAllocation".
[[nodiscard]] const char* error_name(int code);

}  // namespace membound::vgpu::runtime::messages
