// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a stage wants handed in, a kernel or a whole program, and what follows from that.
/// Place in the chain: lab.json -> lab -> [stage_kind] -> harness, judge, authoring. Left out: how
/// it is compiled and run (judge/test_bed).
#pragma once

#include <string_view>

namespace membound::course {

/// There are two objects; lab.json says for each stage which is its, and whoever has to know more
/// asks that object and never which of them it is.
struct StageKind {
  std::string_view test_source;   ///< in the lab's folder: "test.cpp"
  std::string_view test_program;  ///< in the build's folder of the lab: "test"
  /// A reference answer is run beside it, and its speed held against that answer's. Else its points
  /// are all for results and calls.
  bool has_reference;
  /// Made of device code alone, which every device compiler compiles. Else with host code, by nvcc.
  bool every_compiler;
  /// Judged by when each of its calls began and ended, which only a virtual GPU tells.
  bool needs_timeline;
};

extern const StageKind kKernelStage;   ///< our test program launches the kernel
extern const StageKind kProgramStage;  ///< our test program starts the student's program

}  // namespace membound::course
