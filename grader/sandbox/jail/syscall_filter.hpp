// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which system calls a jailed program may not make, as a seccomp program that bubblewrap loads.
#pragma once

#include <string>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {

/// The BPF program's bytes; made once a profile.
[[nodiscard]] base::Result<std::string> filter_bytes(SyscallProfile profile);

/// A file in memory with these bytes, at its start.
[[nodiscard]] base::Descriptor memory_file(const char* name, const std::string& bytes);

}  // namespace membound::jail
