// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/console_messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "grader/base/demangle.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::runtime::messages {
namespace {

struct ErrorRow {
  int code;
  const char* name;
  const char* text;
};

constexpr ErrorRow kErrors[] = {
#define CUDA_ERROR(name, number, text) {number, #name, text},
#include "grader/device_code/cuda_api/error_table.def"
#undef CUDA_ERROR
};

constexpr const char* kUnknownCode = "unrecognized error code";

const ErrorRow* find_error(int code) {
  const auto* row =
      std::find_if(std::begin(kErrors), std::end(kErrors), [&](auto& e) { return e.code == code; });
  return row == std::end(kErrors) ? nullptr : row;
}

/// "  in scale(float*, int), block (1, 0, 0), thread (5, 0, 0)\n  at scale.cu:12: ld.global…".
std::string place_text(const exec::Place& place) {
  if (place.kernel.empty() && place.file.empty() && place.ptx_line == 0) return {};
  std::string text = "\n  in " + base::demangled(place.kernel) + ", block " +
                     exec::triple(place.block) + ", thread " + exec::triple(place.thread);
  if (!place.file.empty()) text += "\n  at " + place.file + ":" + std::to_string(place.line);
  if (place.file.empty() && place.ptx_line > 0)
    text += "\n  at line " + std::to_string(place.ptx_line) +
            " of its PTX (compile with -lineinfo to see the source line)";
  if (!place.instruction.empty()) text += ": " + place.instruction;
  return text;
}

}  // namespace

void print(const std::string& text) {
  const std::string line = "membound: " + text + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

std::string fault(const exec::Fault& f) {
  std::string text = std::string(exec::to_string(f.kind)) + place_text(f.place);
  if (!f.text.empty()) text += "\n  " + f.text;
  return text;
}

std::string finding(const exec::CheckReport& report) {
  std::string text = report.checker + ": " + (report.is_remark ? "remark: " : "") + report.kind +
                     place_text(report.place);
  if (!report.text.empty()) text += "\n  " + report.text;
  if (!report.advice.empty()) text += "\n  try: " + report.advice;
  if (report.count > 1) text += "\n  " + std::to_string(report.count) + " times in this launch";
  return text;
}

std::string unusable_code(const std::string& kernel, const base::Error& error) {
  std::string text = kernel.empty() ? "this program's device code cannot run here"
                                    : "kernel " + base::demangled(kernel) + " cannot run here";
  return text + "\n  " + base::to_string(error);
}

std::string missing_call(std::string_view entry_point) {
  return "the virtual GPU has no " + std::string(entry_point) +
         "; it answered cudaErrorNotSupported (said once)";
}

std::string leak(const memory::Allocation& allocation) {
  return "leakcheck: " + std::to_string(allocation.size_bytes) + " bytes of allocation " +
         std::to_string(allocation.serial) + " were never freed" +
         (allocation.info.name.empty() ? "" : "\n  made by " + allocation.info.name);
}

std::string unchecked_launch(std::string_view kernel, cudaError_t code, std::string_view why) {
  return "a launch of " + base::demangled(std::string(kernel)) +
         " failed and nobody asked: " + error_name(code) + ", " + error_text(code) +
         (why.empty() ? "" : "\n  " + std::string(why)) +
         "\n  try: call cudaGetLastError() after each launch";
}

std::string refused_launch(std::string_view kernel, std::string_view why) {
  return "a launch of " + base::demangled(std::string(kernel)) + " was refused\n  " +
         std::string(why);
}

std::string lost_output(std::size_t bytes) {
  return std::to_string(bytes) +
         " bytes that kernels printed were not shown\n  try: call cudaDeviceSynchronize() before "
         "the program ends, as on a GPU";
}

std::string dropped_output(std::size_t lines, std::size_t buffer_bytes) {
  return std::to_string(lines) + " lines of printf did not fit into its buffer of " +
         std::to_string(buffer_bytes) +
         " bytes and are lost (a GPU would lose the oldest instead)\n  try: print less between two "
         "synchronisations, or cudaDeviceSetLimit(cudaLimitPrintfFifoSize, …)";
}

const char* error_text(int code) {
  const ErrorRow* row = find_error(code);
  return row ? row->text : kUnknownCode;
}

const char* error_name(int code) {
  const ErrorRow* row = find_error(code);
  return row ? row->name : kUnknownCode;
}

}  // namespace membound::vgpu::runtime::messages
