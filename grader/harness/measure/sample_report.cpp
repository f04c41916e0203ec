// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/sample_report.hpp"

#include <algorithm>
#include <cstdio>

namespace membound::harness {

SampleReport sample_of(const nlohmann::json& counters) {
  SampleReport report;
  double ran = 0, of = 0;
  for (const nlohmann::json& kernel : counters.value("kernels", nlohmann::json::array())) {
    if (kernel.contains("not_sampled")) {
      report.not_sampled = kernel["not_sampled"];
      report.takes_long = kernel.value("warp_instructions", 0) > 0;
    }
    if (!kernel.contains("sample")) continue;
    const nlohmann::json& sample = kernel["sample"];
    report.error = std::max(report.error, sample.value("error", 0.0));
    if (sample.value("prepares", 0) != 0) continue;  // it wrote what another one reads
    ran += sample.value("blocks", 0.0);
    of += sample.value("of", 0.0);
    report.warps = std::min(report.warps, sample.value("warps", 1.0));
    report.lacks_others |= sample.contains("arrivals");
    report.ran.clear();
    for (const nlohmann::json& run : sample.value("ran", nlohmann::json::array()))
      report.ran.push_back({run.at(0), run.at(1)});
    report.stored.ran += sample.value("stored_bytes", 0.0);
    report.loaded.ran += sample.value("loaded_bytes", 0.0);
    if (!kernel.contains("counters")) continue;
    report.instructions += kernel["counters"].value("warp_instructions", 0.0);
    report.stored.all += kernel["counters"].value("global_store_bytes", 0.0);
    report.loaded.all += kernel["counters"].value("global_load_bytes", 0.0);
  }
  report.share = of > 0 ? ran / of : 0;
  return report;
}

std::string text_of(const SampleReport& report) {
  char warps[60] = "", text[180];
  if (report.warps < 1)
    std::snprintf(warps, sizeof warps, " and %.2g %% of the warps of these", report.warps * 100);
  std::snprintf(
      text, sizeof text,
      "predicted from %.2g %% of the blocks%s, whose work says that of all within %.1f %%",
      report.share * 100, warps, report.error * 100);
  return text;
}

bool stands_for_all(const SampleReport::Bytes& moved, double error, const WrittenPart& part,
                    const TimedBuffer& array) {
  // Blocks at the edges of what is computed do less, and the sample may have too many of them.
  constexpr double kTolerance = 0.05;
  const auto all = static_cast<double>(array.count);
  const double seen = static_cast<double>(part.elements * element_bytes(array.type));
  // Of what is moved, so much is an element that was not moved before.
  const double fresh = moved.ran > 0 ? seen / moved.ran : 0;
  const double elements = moved.all * fresh / static_cast<double>(element_bytes(array.type));
  return elements >= all * (1 - kTolerance - 3 * error);
}

}  // namespace membound::harness
