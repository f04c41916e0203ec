// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Libraries that a program asks the loader for and that work on a GPU only. A program may be
/// linked with one and not use it, so each gets a stub library, which names the first call and
/// ends there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::cli {

// A shared library that stands in for one that works on a GPU only: it has the functions that a
// program needs of it, so that the program starts whether the real one is installed or not.
// Those that would compute something say what they are and end the program (membound_vgpu_stop
// of our libcudart.so.13); a handle is made and set up as if there was somebody to use it.
// Source: System V ABI, AMD64 supplement; the GNU extensions for versions are those of glibc's
// <elf.h>.

/// What a function does.
enum class StandIn : std::uint8_t {
  kEnds,        ///< says its message and ends the program
  kSucceeds,    ///< returns 0
  kMakesHandle  ///< the same, and stores an address where its first argument points to
};

struct StandInFunction {
  std::string name;
  StandIn does = StandIn::kEnds;
  std::string message;        ///< what is said when it is called
  bool is_versioned = false;  ///< asked for with the library's own name as version
};

struct StandInLibrary {
  std::string name;  ///< "libcublas.so.13": what the loader is asked for
  std::vector<StandInFunction> functions;
};

/// The file, for the processor that this program is for.
[[nodiscard]] std::vector<std::byte> make_stand_in(const StandInLibrary& library);

/// Stand-ins for what a program, the bytes of an ELF file, needs of such libraries.
[[nodiscard]] std::vector<StandInLibrary> stand_ins_for(std::span<const std::byte> program);

/// Makes the loader take these instead of the real ones, in the program that takes our place and in
/// what it starts. No other thread runs.
[[nodiscard]] base::Status preload(const std::vector<StandInLibrary>& libraries);

}  // namespace membound::cli
