// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The code in a program, a fat binary or a PTX file as a list that people can read, per kernel
/// and source line: PTX instructions, each with what the virtual GPU counts it as, or the
/// machine's own (SASS), which nvdisasm of a CUDA toolkit reads.
#pragma once

#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/report/diagnostics.hpp"

namespace membound::cli {

/// Every function whose readable name holds `filter` (all if it is empty, but for those that
/// describe launches) of the newest PTX in `path`, each line's instructions below the line itself
/// where `read` knows the file. An error where there is no PTX, or none that can be read, or no
/// such function.
[[nodiscard]] base::Result<std::string> list_code(const std::string& path,
                                                  const std::string& filter,
                                                  const report::SourceReader& read);

/// Whether a listing shows this function: it has `filter` in its name, and does not describe a
/// launch unless `filter` asks for that.
[[nodiscard]] bool is_asked_for(const std::string& name, const std::string& filter);

/// What is said where a listing has none; `names` are those that are there.
[[nodiscard]] base::Error no_such_function(const std::string& filter, const std::string& names);

/// What nvdisasm says of the cubins for compute capability 9.0, or the nearest one, in `path`. An
/// error where there is no nvdisasm, or no cubin.
[[nodiscard]] base::Result<std::string> disassembly_of(const std::string& path,
                                                       const compilers::CompilerPlaces& places);

/// Every function of `disassembly` (of `nvdisasm -c -g`) whose readable name holds `filter`;
/// without one all but those that describe launches. Each line's instructions stand below the line
/// itself where `read` knows the file; the NOPs that fill a function up are left out. An error
/// where there is no such function.
[[nodiscard]] base::Result<std::string> list_machine_code(std::string_view disassembly,
                                                          const std::string& filter,
                                                          const report::SourceReader& read);

}  // namespace membound::cli
