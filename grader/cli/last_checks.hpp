// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the last checks of some stages said, before another one takes their place.
/// Place in the chain: state -> [last_checks] -> check, watch.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/command_context.hpp"

namespace membound::cli {

class LastChecks {
 public:
  LastChecks(const Context& context, const std::vector<course::Selection>& selections);

  /// A line for each stage of `result` that is not what it was.
  [[nodiscard]] std::string changes(const course::Result& result, const report::Style& style) const;

 private:
  std::vector<course::StageResult> stages_;
};

}  // namespace membound::cli
