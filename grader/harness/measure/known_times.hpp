// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the reference answer takes on a virtual GPU, known before a submission runs. Predicted
/// times are the same every time, so that a class need not pay for them with every submission.
/// Place in the chain: main (writes) and session (reads) -> [known_times]. Left out: real GPUs,
/// where only times taken side by side can be compared.
///
/// A file of them is only a number to divide by: it says nothing about what is right. The outputs
/// of timed runs are held against the lab's own TimedCase::expected on fresh inputs.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>

#include "grader/base/result.hpp"

namespace membound::harness {

/// Of the reference answer of one stage on one timed case.
struct ReferenceTime {
  double time_ns = 0;       ///< 0: it cannot be sampled; its counters say why
  double ceiling = 0;       ///< as course::Timing::ceiling
  nlohmann::json counters;  ///< what the virtual GPU counted, without our own kernels
};

/// All stages of a lab at the sizes that are graded.
class ReferenceTimes {
 public:
  static constexpr const char* kSchema = "membound-reference-times/2";

  std::string lab;
  std::string device;  ///< DeviceInfo::virtual_name, which names a slice, too
  /// Why these must not be used in place of a run beside each submission; empty: they may.
  std::string unusable;

  void add(int stage, const std::string& label, bool sampled, ReferenceTime time);
  /// Null where that case was not timed, as a whole or by some of its blocks.
  [[nodiscard]] const ReferenceTime* find(int stage, const std::string& label, bool sampled) const;

  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static base::Result<ReferenceTimes> from_text(const std::string& text,
                                                              const std::string& file_name);

 private:
  std::map<std::tuple<int, std::string, bool>, ReferenceTime> times_;
};

/// Reads what to_text() wrote.
[[nodiscard]] base::Result<ReferenceTimes> read_reference_times(const std::filesystem::path& file);

}  // namespace membound::harness
