// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// kernel.cu -> device code, kept by content hash so that equal text compiles once.
/// Place in the chain: submission -> [device_code] -> runner. Left out: what the compiler's
/// messages mean (compile_hints).
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "grader/base/result.hpp"
#include "grader/judge/compiler.hpp"

namespace membound::judge {

/// One file to compile.
struct CompileRequest {
  std::filesystem::path source;
  std::filesystem::path root;        ///< the course's: student headers and flags are found from it
  std::filesystem::path lab_folder;  ///< for kernel.cuh
  CompilerInfo compiler;
  std::string architecture = "90";  ///< compute capability without its dot (nvcc only)
  std::filesystem::path cache_folder;
  double timeout_seconds = 60;
  const std::atomic<bool>* stop = nullptr;
};

/// What came of it. A text that does not compile is no error of this function: its messages are the
/// student's to read.
struct CompiledCode {
  bool compiled = false;
  std::filesystem::path file;  ///< the fatbin or PTX; empty unless compiled
  std::string output;          ///< the compiler's own words: errors, or warnings
  std::string sha256;          ///< of the source text
  bool from_cache = false;
  bool timed_out = false;
  bool stopped = false;
  double seconds = 0;
};

/// Compiles, or finds the result of an earlier time. The name in the cache covers source text and
/// path, headers, flags, architecture and the compiler's version; files appear there whole.
[[nodiscard]] base::Result<CompiledCode> compile(const CompileRequest& request);

}  // namespace membound::judge
