// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who stands behind the folders of a Gradescope export: its submission_metadata.yml.
/// Place in the chain: entries -> [gradescope_export] -> layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace membound::intake {

struct GradescopeStudent {
  std::string name, id, email;
};

/// One folder of the export.
struct GradescopeSubmission {
  std::string folder;  ///< "submission_123"
  std::vector<GradescopeStudent> students;
  std::int64_t time = 0;  ///< created_at; 0 where it cannot be read
};

/// What the file says; empty where it is no such file. Keys may have Ruby's colon (":submitters").
[[nodiscard]] std::vector<GradescopeSubmission> read_metadata(const std::string& yaml);

}  // namespace membound::intake
