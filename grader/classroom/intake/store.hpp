// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Submissions by content: OUT/store/sha256/DIGEST/kernel.cu. What is graded is what lies here,
/// whatever happens to the files that were handed in.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"

namespace membound::intake {

class Store {
 public:
  /// Below `out`; made when first used.
  explicit Store(const std::filesystem::path& out) : folder_(out / "store" / "sha256") {}

  /// Keeps `text`; returns its SHA-256. Equal texts are kept once.
  [[nodiscard]] base::Result<std::string> put(std::string_view text) const;
  /// The kernel.cu of this digest.
  [[nodiscard]] std::filesystem::path file(const std::string& sha256) const {
    return folder_ / sha256 / "kernel.cu";
  }
  /// The text, after making sure that it still has this digest.
  [[nodiscard]] base::Result<std::string> get(const std::string& sha256) const;
  /// Removes what a killed put() left; returns how many files.
  int sweep() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace membound::intake
