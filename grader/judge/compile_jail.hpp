// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compiling what nobody trusts: the compiler runs in a jail that holds the toolchain, the student
/// headers and the one source file under a fixed name, and nothing else.
/// Place in the chain: device_code -> [compile_jail] -> jail. Left out: the cache, the policy.
#pragma once

#include <string>

#include "grader/base/result.hpp"
#include "grader/judge/compile.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::judge {

/// What a jailed compiler made.
struct JailedCompile {
  bool compiled = false;
  std::string code;    ///< the fatbin or PTX
  std::string output;  ///< printable
  jail::LimitHit limit = jail::LimitHit::kNone;
  bool stopped = false;
  double seconds = 0;
};

/// `request.graded` must be set. An error means that no jail could be made.
[[nodiscard]] base::Result<JailedCompile> compile_in_jail(const CompileRequest& request);

/// Which limit the end of a compiler's run shows, where a program of the toolchain met it and the
/// compiler itself ended in an ordinary way.
[[nodiscard]] jail::LimitHit limit_in_messages(std::string_view output);

}  // namespace membound::judge
