# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# write_kernel_constants(<contract> <header>)
#   Writes <header> of the constants of <contract>, a lab's kernel.cuh: each `inline constexpr` at the beginning of a line
#   with a '=' before the first bracket, up to its ';'. judge::kernel_constants() (grader/judge/workplace.cpp) makes
#   the same text for labs that no build sees; grader/tests/judge/kernel_constants_test.cpp compares the two.
function(write_kernel_constants contract header)
  file(READ ${contract} rest)
  # Piece by piece: a list would be cut at brackets and backslashes of the contract's.
  set(constants "")
  while("${rest}" MATCHES "\ninline constexpr [^=(;{]*=[^;]*;")
    set(constant "${CMAKE_MATCH_0}")
    string(APPEND constants "${constant}")
    string(FIND "${rest}" "${constant}" at)
    string(LENGTH "${constant}" length)
    math(EXPR after "${at} + ${length}")
    string(SUBSTRING "${rest}" ${after} -1 rest)
  endwhile()
  file(CONFIGURE OUTPUT ${header}
    CONTENT "#pragma once\nnamespace membound::kernel_constants {@constants@\n}\n" @ONLY)
endfunction()
