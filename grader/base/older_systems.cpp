// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/older_systems.hpp"

#include <cstdio>
#include <cstdlib>

// What a failed assertion of the standard library calls in programs that membound_harden
// (grader/cmake/Options.cmake) compiles. Since GCC 12 it is a function of the library,
// GLIBCXX_3.4.30; before, each program had its own. The linker takes this one first.
// NOLINTBEGIN(cert-dcl58-cpp,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
namespace std {
__attribute__((__noreturn__)) void __glibcxx_assert_fail(const char* file, int line,
                                                         const char* function,
                                                         const char* condition) noexcept {
  std::fprintf(stderr, "%s:%d: %s: the standard library's assertion '%s' failed.\n", file, line,
               function, condition);
  std::abort();
}
}  // namespace std
// NOLINTEND(cert-dcl58-cpp,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
