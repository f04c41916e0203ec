// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Looks at a program file before it runs: can the virtual GPU take the CUDA runtime's place, and
/// is there code it can execute? From inside the runtime both can only be seen when it is too late.
/// Place in the chain: `membound run` -> [program_file] -> elf_file, fatbin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::fatbin {

/// How a program uses CUDA.
enum class RuntimeLinkage {
  kNone,    ///< no trace of CUDA
  kShared,  ///< needs libcudart.so.N: the virtual GPU can stand in for it
  kStatic   ///< device code inside, but no shared runtime: nothing to stand in for
};

/// What was found in the file.
struct ProgramDescription {
  RuntimeLinkage linkage = RuntimeLinkage::kNone;
  std::string runtime_library = {};             ///< "libcudart.so.13"
  bool has_device_code = false;                 ///< there is a fat binary
  std::vector<std::string> ptx_targets = {};    ///< "compute_90", …
  std::vector<std::string> cubin_targets = {};  ///< "sm_90", …
  /// Empty when the virtual GPU can run the program; else what is wrong and what to do.
  std::string obstacle = {};
};

/// Reads an ELF program or shared library. An error when there is no such file or it is none.
[[nodiscard]] base::Result<ProgramDescription> describe_program(const std::string& path);

/// As above, from the file's bytes.
[[nodiscard]] base::Result<ProgramDescription> describe_program_bytes(std::string_view bytes,
                                                                      const std::string& where);

}  // namespace membound::fatbin
