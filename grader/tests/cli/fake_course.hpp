// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A course of two labs in a folder of its own, with a compiler and test programs that are shell
/// scripts: what a kernel.cu says about itself ("stage 1: slow") is what the test program reports.
/// The built program runs from the fake build folder, as it would from a real one.
#pragma once

#include <string>
#include <vector>

#include "grader/base/process.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::cli {

class FakeCourse {
 public:
  FakeCourse();

  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "course"; }
  [[nodiscard]] std::filesystem::path build() const { return folder_.path() / "build"; }
  [[nodiscard]] std::filesystem::path program() const { return build() / "bin" / "membound"; }
  [[nodiscard]] std::filesystem::path kernel() const { return root() / "labs/01-fake/kernel.cu"; }
  /// Writes below the course's root.
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    return folder_.write("course/" + name, text);
  }
  /// Answers stage 1 and stage 2 of lab 01.
  void answer(const std::string& one, const std::string& two) const;
  [[nodiscard]] std::string read(const std::filesystem::path& file) const;

  /// Runs the program; stdout and stderr come together. `environment` on top of the fake one.
  [[nodiscard]] base::ProcessOutcome run(
      const std::vector<std::string>& words,
      const std::map<std::string, std::string>& environment = {}) const;
  /// What the program needs of the environment.
  [[nodiscard]] std::map<std::string, std::string> environment() const;

 private:
  judge::TemporaryFolder folder_;
};

/// The longest line in columns, one per code point.
[[nodiscard]] std::size_t widest_line(const std::string& text);

}  // namespace membound::cli
