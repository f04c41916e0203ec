// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student reads of a failed test: the message without GoogleTest's wrapping ("Value of: …
/// Actual: false (…)") and the hint that fits, what the virtual GPU knows of a fault, what its
/// checkers found, and what the kernels printed (printf in device code).
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/course/contract.hpp"

namespace membound::harness {

/// The inner text of a failed EXPECT_TRUE(assertion_result), with whatever was streamed after it;
/// any other text as it is. The words of each SCOPED_TRACE follow, on a line each. Empty for what
/// ASSERT_NO_FATAL_FAILURE adds to the failure at which it stops. Without a final newline.
[[nodiscard]] std::string unwrap_message(const std::string& gtest_message);

/// The tag for a failed test: what the harness found out itself about an unusable kernel or a slow
/// one comes before the lab's tag; what a lab's test may be about (guard zones) comes after it.
[[nodiscard]] std::string choose_tag(const std::string& lab_tag, course::Cause cause);

/// "kernel.cu:17, block (0, 0, 0), thread (3, 0, 0): read of 4 bytes …" of the first fault in a
/// report; empty if there is none. Parts that the report lacks are left out.
[[nodiscard]] std::string fault_text(const nlohmann::json& report);

/// Adds the findings of a report (docs/counters_file.md) to `all`, an array or null, with the name
/// of the test. What another instance or another turn of an unrolled loop shows at the same line
/// is one finding.
void add_checks(const nlohmann::json& report, const std::string& test, nlohmann::json& all);

/// Collects what goes to standard output while it lives, and keeps the beginning.
class KernelOutput {
 public:
  /// Adds to `text`, which outlives it and is cut as shown_output() says. Without effect where no
  /// file can be had.
  explicit KernelOutput(std::string& text);
  /// What was printed goes to standard output too.
  ~KernelOutput();
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;

 private:
  std::string& text_;
  base::Descriptor before_, file_;
};

/// Bytes that are kept of all that one test prints.
inline constexpr std::size_t kMostKernelOutput = std::size_t{1} << 16;

/// "\nYour kernels printed:\n…", made of printable characters and cut after 20 lines, with how many
/// more there were; "" for nothing.
[[nodiscard]] std::string shown_output(const std::string& text);

}  // namespace membound::harness
