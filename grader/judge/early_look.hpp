// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The second look at a stage's right results, taken while the run goes on that will say whether
/// they are right: where one stage is checked a processor has little to do. It comes after that
/// run where both want one, and it counts for nothing where the results are wrong.
/// Place in the chain: judge -> [early_look] -> second_look, test_program.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>

#include "grader/base/result.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {

/// One that runs, from when it is made until it is taken or goes.
class EarlyLook {
 public:
  /// Beside `run`, of this check; null where it would be no help, or another look than the later
  /// one: with several stages, one processor, a GPU that times, chosen tests, graded runs.
  [[nodiscard]] static std::unique_ptr<EarlyLook> begin(const CheckRequest& request,
                                                        const RunRequest& run);
  explicit EarlyLook(RunRequest look);
  EarlyLook(const EarlyLook&) = delete;
  EarlyLook& operator=(const EarlyLook&) = delete;
  /// Ends it.
  ~EarlyLook();

  /// The code that it looks at.
  [[nodiscard]] const std::filesystem::path& submission() const { return look_.submission; }
  /// Waits for what came of it. `waiting` says who may end it meanwhile, and whom to tell that it
  /// runs.
  [[nodiscard]] base::Result<RunOutcome> take(const RunRequest& waiting);

 private:
  std::atomic<bool> ended_{false};
  RunRequest look_;
  std::future<base::Result<RunOutcome>> outcome_;
};

}  // namespace membound::judge
