// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the reference answer takes on a virtual GPU, timed once for a class. Never for a real GPU,
/// where only times taken side by side can be compared.
#pragma once

#include <filesystem>
#include <string>

#include "grader/base/result.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::judge {

/// A file that SandboxOptions::reference_times may name.
struct ReferenceTimes {
  std::filesystem::path file;
  std::string sha256;  ///< of the times: the same wherever and whenever they are predicted
  std::string
      unusable;  ///< why each submission must be timed beside the reference; empty: need not
};

/// Makes `file` unless it is there. It appears whole; who else makes it writes the same times.
/// `request` says lab, device and size, `reference` is the compiled answer.
[[nodiscard]] base::Result<ReferenceTimes> time_reference(const CheckRequest& request,
                                                          const std::filesystem::path& reference,
                                                          const std::filesystem::path& file);

/// Of the text of such a file; `file_name` is for messages.
[[nodiscard]] base::Result<ReferenceTimes> reference_times_from_text(const std::string& text,
                                                                     const std::string& file_name);

}  // namespace membound::judge
