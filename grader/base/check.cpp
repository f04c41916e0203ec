// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace membound::base {

void fail_check(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "membound: internal error: %s is false (%s:%d); please report this\n",
               expression, file, line);
  std::fflush(stderr);
  std::_Exit(3);
}

}  // namespace membound::base
