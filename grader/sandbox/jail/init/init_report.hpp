// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the jail's init tells the supervisor through a pipe: one byte when it stands, then a
/// Report, then for each collected file its head and its bytes. Both ends are of one build: the
/// init travels inside the library.
#pragma once

#include <cstdint>

namespace membound::jail {

/// Sent before the init starts the program.
inline constexpr char kInitStands = 'S';
inline constexpr std::uint32_t kReportMagic = 0x4D424A31;  // "MBJ1"

/// How the program ended.
struct Report {
  std::uint32_t magic = kReportMagic;
  std::int32_t start_error = 0;  ///< errno of exec or of a limit that could not be set
  std::int32_t exit_code = -1;
  std::int32_t signal = 0;
  std::uint64_t cpu_microseconds = 0;  ///< of the program and all it started
  std::uint64_t peak_kilobytes = 0;    ///< of the largest single process
  std::uint32_t scratch_full = 0;      ///< 1: no block or file is left in the scratch folder
  std::uint32_t files = 0;             ///< how many follow
};

/// Before the bytes of one file.
struct FileHead {
  std::uint32_t index = 0;  ///< position in the request's list
  std::uint32_t padding = 0;
  std::uint64_t bytes = 0;
};

}  // namespace membound::jail
