// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What graded device code may contain: an allow-list over the compiled PTX, because a source text
/// can hide what it does and the PTX cannot. Not allowed is what a kernel needs only to find out
/// who is looking (the global clock, the number of the launch or of the multiprocessor), to stop
/// the device, or to change the caches for others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::policy {

/// One instruction, register or directive that is not allowed.
struct Breach {
  std::string what;         ///< "mov.u64" with "%globaltimer", ".managed", …: the name to allow
  std::string instruction;  ///< as the PTX has it
  std::string function;     ///< mangled; empty outside of functions
  std::string file;         ///< of the source text; may be empty
  int line = 0;             ///< of the source text, or 0
};

/// "kernel.cu:12: %globaltimer is not allowed in graded code: mov.u64".
[[nodiscard]] std::string to_string(const Breach& breach);

/// All breaches of one PTX module, at most kMostBreaches. `also` names what this lab allows
/// besides, as Breach::what spells it.
[[nodiscard]] base::Result<std::vector<Breach>> check_ptx(std::string_view ptx,
                                                          const std::vector<std::string>& also);

/// The same for a compiled file: every PTX text in a fat binary, or a plain PTX text. A file with
/// no PTX in it is an error.
[[nodiscard]] base::Result<std::vector<Breach>> check_policy(std::string_view compiled,
                                                             const std::vector<std::string>& also);

inline constexpr std::size_t kMostBreaches = 20;

/// May graded code hold this base opcode ("ld")? Not one that no row of ptx/opcodes.def names.
[[nodiscard]] bool is_graded_opcode(std::string_view opcode);

}  // namespace membound::policy
