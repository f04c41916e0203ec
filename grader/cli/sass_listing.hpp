// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The machine's own instructions (SASS) in a program or fat binary as a list that people can read:
/// per kernel and source line, as ptx_listing shows PTX. nvdisasm of a CUDA toolkit reads them.
/// Place in the chain: ptx_command -> [sass_listing] -> fatbin, nvdisasm.
#pragma once

#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/report/source_excerpt.hpp"

namespace membound::cli {

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
