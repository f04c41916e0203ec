#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What differs between processors stands in grader/base/processor.hpp and grader/cmake/Processor.cmake.
#
#   processors.sh words ROOT      no other source of the product has words that one kind of processor alone knows
#   processors.sh aarch64 ROOT    what includes the header compiles for aarch64, by the syntax check of Debian's cross
#                                 compiler; 77 where that is missing
set -euo pipefail
cd "$2"

case $1 in
  words)
    words='__(x86_64|amd64|i386|aarch64|arm)__|[a-z]mmintrin|arm_neon|__builtin_(cpu_|ia32)|\<_mm[0-9]*_|gregs'
    words+='|gnu::target|R_X86_64|R_AARCH64|EM_(X86_64|AARCH64)|-m(avx|fma|bmi|arch)|MATCHES.*(x86_64|aarch64)'
    ! grep -rnE "$words" --include={*.cpp,*.hpp,*.cmake,CMakeLists.txt} CMakeLists.txt grader labs \
      --exclude-dir={tests,gpu_truth} | grep -vE '^grader/(base/processor\.hpp|cmake/Processor\.cmake):'
    ;;
  aarch64)
    command -v aarch64-linux-gnu-g++ >/dev/null || exit 77
    grep -rl --include=*.cpp --exclude-dir=tests '#include "grader/base/processor.hpp"' grader | tr '\n' '\0' |
      xargs -0 -t -n 1 -P 2 aarch64-linux-gnu-g++ -fsyntax-only -std=c++20 -Wall -Wextra -Werror \
        -Wno-missing-field-initializers -Wno-maybe-uninitialized -Wno-restrict -I.
    ;;
esac
