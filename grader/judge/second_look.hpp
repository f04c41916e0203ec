// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// After a stage was run: its tests once more on the virtual GPU with checkers on, which name the
/// line, the thread and what to do. After a wrong result, a fault or a deadlock they tell the
/// cause; after a right one, whether it is right by luck. They cost several times the time, so
/// nothing is timed with them. Place in the chain: check -> [second_look] -> runner; findings tells
/// what came of it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {

class EarlyLook;

/// Is there something in this measurement that checkers could explain?
[[nodiscard]] bool deserves_second_look(const course::Lab& lab,
                                        const course::StageMeasurement& measurement);

/// Is the result right, whatever the speed, so that only checkers can say whether that is luck?
[[nodiscard]] bool may_be_right_by_luck(const course::Lab& lab,
                                        const course::StageMeasurement& measurement);

/// What a runner is told where its kernels' results are right: which checkers look on, at how much.
[[nodiscard]] std::map<std::string, std::string> environment_at_right_results();

/// How the stage is run again, without timing: its failed test alone where that is known; where the
/// results are right the first half of the lab's tests, and some blocks of what is timed; else all.
[[nodiscard]] RunRequest second_look(const RunRequest& run,
                                     const course::StageMeasurement& measurement);

/// How stages whose results are right are run again, in one start of the test program: the first
/// half of their tests, and some blocks of what is timed.
[[nodiscard]] RunRequest look_at_right_results(
    const RunRequest& run, const std::vector<const course::StageMeasurement*>& measurements);

/// How a stage is run again before its results are known to be right: as above, where the test
/// program itself takes the first half of its tests.
[[nodiscard]] RunRequest look_before_results(const RunRequest& run);

/// The submission compiled by clang with gaps between its local variables (padded_locals.awk).
/// Empty where it has none in memory, or clang is not here or does not compile it: nothing tells
/// them apart then.
[[nodiscard]] base::Result<std::filesystem::path> code_with_gaps(
    const CheckRequest& request, const course::StageKind& kind,
    const std::vector<course::StageMeasurement>& measurements);

/// How a stage is run beside its second look where nvcc has compiled it: the code with gaps, with
/// memcheck alone, and nothing of what is timed unless that is what failed.
[[nodiscard]] RunRequest look_at_gaps(const RunRequest& run,
                                      const course::StageMeasurement& measurement);

/// Runs these again and puts what the checkers found into `checks` of their measurements. Where
/// there is an early look, it was at the only one.
void look_again(const RunRequest& run, Looks looks,
                std::vector<course::StageMeasurement>& measurements, EarlyLook* early = nullptr);

/// Runs once more, as `run` says, what was timed of the stages whose results are right, and takes
/// over what is counted there. `device` is the name of that device. The measurements that got
/// counters.
std::vector<course::StageMeasurement*> count_beside(
    const RunRequest& run, const std::string& device,
    std::vector<course::StageMeasurement>& measurements);

}  // namespace membound::judge
