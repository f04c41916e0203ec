// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// MEMBOUND_CHECK: a promise our own code makes to itself. Broken, the program stops with the
/// expression and the place: exit code 3 for whoever waits for it, never a wrong verdict.
#pragma once

namespace membound::base {

/// Prints the broken promise to standard error and ends the process with exit code 3, without
/// running destructors: state is no longer trusted.
[[noreturn]] void fail_check(const char* expression, const char* file, int line);

}  // namespace membound::base

#define MEMBOUND_CHECK(condition) \
  ((condition) ? void() : ::membound::base::fail_check(#condition, __FILE__, __LINE__))
