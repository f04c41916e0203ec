// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A shared library that stands in for one that works on a GPU only: it has the functions that a
/// program needs of it, so that the program starts whether the real one is installed or not. Those
/// that would compute something say what they are and end the program (membound_vgpu_stop of our
/// libcudart.so.13); a handle is made and set up as if there was somebody to use it.
/// Place in the chain: run -> [stand_in_library]. Source: System V ABI, AMD64 supplement; the GNU
/// extensions for versions are those of glibc's <elf.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace membound::cli {

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

/// The file, for x86-64.
[[nodiscard]] std::vector<std::byte> make_stand_in(const StandInLibrary& library);

}  // namespace membound::cli
