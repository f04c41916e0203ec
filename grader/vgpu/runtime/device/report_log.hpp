// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the launches of this process counted and what the checkers found, as the text of the
/// counters file (docs/counters_file.md), ready to be written at any moment: also from a signal
/// handler. Place in the chain: operation_executor -> [report_log] -> counters file,
/// membound_vgpu_take_report.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/runtime/device/virtual_clock.hpp"
#include "grader/vgpu/timing/advice.hpp"

namespace membound::vgpu::runtime {

/// One launch, as it goes into the file.
struct LaunchRecord {
  std::string name;  ///< mangled
  Dim3 grid;
  Dim3 block;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;
  const counters::LaunchCounters* counters = nullptr;
  const timing::Prediction* prediction = nullptr;
  TimeSpan span;
  std::uint64_t stream = 0;
  std::uint64_t warp_instructions = 0;
  double wall_seconds = 0;
  std::string outcome;   ///< "completed", or what ended it
  std::string accesses;  ///< a JSON array of what one warp did; empty where nothing is traced
  Dim3 traced_block{0, 0, 0};
  std::uint32_t traced_warp = 0;
  std::vector<timing::Advice> advice;  ///< the largest gain first
  std::optional<exec::SampleFacts> sample = {};
  /// Of the program's variables in constant memory, where the blocks' work is told.
  std::optional<std::uint64_t> constant_bytes = {};
  std::string not_sampled = {};  ///< why, where it was to be; then it was not run
  /// Of a launch of which some blocks ran for their results: what drawn arrays hold afterwards.
  std::optional<std::uint64_t> drawn_bytes = {};
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

}  // namespace membound::vgpu::runtime
