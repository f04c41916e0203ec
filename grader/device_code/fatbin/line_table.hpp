// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From which line of the PTX each piece of a cubin's machine code was made.
/// Place in the chain: elf_file -> [line_table] -> machine_code. Left out: lines of the user's
/// source, which PTX itself names (`.loc`).
/// Source: DWARF 2, section 6.2 (line number programs); `-lineinfo` makes ptxas write one for the
/// PTX, `.nv_debug_line_sass` (found in cubins of nvcc 13.0, checked against `nvdisasm -gp`).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "grader/device_code/fatbin/elf_file.hpp"

namespace membound::fatbin {

/// The code from `offset_bytes` of its section up to the next row comes from this line.
struct CodeLine {
  std::uint64_t offset_bytes = 0;
  std::uint32_t ptx_line = 0;  ///< 0: from none
  friend bool operator==(const CodeLine&, const CodeLine&) = default;
};

/// By number of the section of machine code: its rows, sorted by offset. Empty where the cubin has
/// no such table; a damaged one ends where it is damaged.
[[nodiscard]] std::map<std::uint32_t, std::vector<CodeLine>> ptx_lines(const ElfFile& file);

/// The line that the code at `offset_bytes` comes from; 0: none.
[[nodiscard]] std::uint32_t line_at(const std::vector<CodeLine>& rows, std::uint64_t offset_bytes);

}  // namespace membound::fatbin
