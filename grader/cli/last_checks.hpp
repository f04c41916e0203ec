// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What was said of some stages before a check: by the last ones, whose place it takes, and by the
/// student, who predicted.
/// Place in the chain: state -> [last_checks] -> check, watch.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/command_context.hpp"

namespace membound::cli {

class LastChecks {
 public:
  LastChecks(const Context& context, const std::vector<course::Selection>& selections);

  /// A line for each stage of `result` that is not what it was, or that the student predicted.
  [[nodiscard]] std::string changes(const course::Result& result, const report::Style& style) const;

 private:
  struct Prediction {
    const course::Lab* lab;
    int stage;
    double number;
  };
  std::vector<Prediction> predictions_;
  std::vector<course::StageResult> stages_;
};

}  // namespace membound::cli
