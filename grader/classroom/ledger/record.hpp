// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One verdict as a file: OUT/results/KEY-ROUND.json, signed with the batch's key, so that
/// neither a torn nor a planted file is ever taken for a verdict.
/// Place in the chain: queue, Slurm tasks -> [record] -> ledger.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/course/grade.hpp"

namespace membound::ledger {

/// What was decided about one job: a submission's text in one lab. It names no student, because
/// equal texts are graded once.
struct Record {
  static constexpr const char* kSchema = "membound-record/1";

  std::string key;  ///< the job's, 64 hexadecimal digits
  int round = 1;    ///< counts deliberate regrading
  course::Grade grade;
};

/// "KEY-ROUND.json".
[[nodiscard]] std::string record_name(const std::string& key, int round);

/// The file's text.
[[nodiscard]] std::string to_text(const Record& record, std::string_view secret);

/// The record in a file's text, if its signature is right.
[[nodiscard]] base::Result<Record> record_from_text(const std::string& text,
                                                    const std::string& file_name,
                                                    std::string_view secret);

/// Writes OUT/results/NAME durably. The same record twice gives the same file.
[[nodiscard]] base::Status write_record(const std::filesystem::path& out, const Record& record,
                                        std::string_view secret);

/// The batch's secret, OUT/key (or `key_file`), made where there is none yet and `make` is set.
[[nodiscard]] base::Result<std::string> read_secret(const std::filesystem::path& out,
                                                    const std::filesystem::path& key_file,
                                                    bool make);

}  // namespace membound::ledger
