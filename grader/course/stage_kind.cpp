// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/stage_kind.hpp"

namespace membound::course {

const StageKind kKernelStage = {.test_source = "test.cpp",
                                .test_program = "test",
                                .has_reference = true,
                                .every_compiler = true,
                                .needs_timeline = false};
const StageKind kProgramStage = {.test_source = "program_test.cpp",
                                 .test_program = "program_test",
                                 .has_reference = false,
                                 .every_compiler = false,
                                 .needs_timeline = true};

}  // namespace membound::course
