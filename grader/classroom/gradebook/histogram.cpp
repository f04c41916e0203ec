// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/histogram.hpp"

#include <algorithm>
#include <vector>

#include "grader/classroom/gradebook/page_words.hpp"

namespace membound::gradebook {
namespace {

constexpr double kLeft = 10, kRight = 310, kFloor = 125, kTallest = 100, kGap = 2;

}  // namespace

nlohmann::json histogram(const std::string& caption, std::span<const double> values,
                         const Axis& axis) {
  std::vector<int> counts(static_cast<std::size_t>(axis.bins));
  const double step = (axis.high - axis.low) / axis.bins;
  for (const double value : values) {
    const double bin = step > 0 ? (value - axis.low) / step : 0;
    ++counts[static_cast<std::size_t>(std::clamp(bin, 0.0, axis.bins - 1.0))];
  }
  const int most = std::max(1, *std::max_element(counts.begin(), counts.end()));
  const double width = (kRight - kLeft) / axis.bins;
  nlohmann::json bars = nlohmann::json::array(), ticks = nlohmann::json::array();
  for (int i = 0; i < axis.bins; ++i) {
    const int count = counts[static_cast<std::size_t>(i)];
    const double height = kTallest * count / most, x = kLeft + i * width;
    bars.push_back({{"x", decimal(x + kGap / 2, 1)},
                    {"y", decimal(kFloor - height, 1)},
                    {"width", decimal(width - kGap, 1)},
                    {"height", decimal(height, 1)},
                    {"middle", decimal(x + width / 2, 1)},
                    {"above", decimal(kFloor - height - 4, 1)},
                    {"count", std::to_string(count)},
                    {"shown", count > 0},
                    {"range", decimal(axis.low + i * step, axis.digits) + " to " +
                                  decimal(axis.low + (i + 1) * step, axis.digits)}});
  }
  for (int i = 0; i <= axis.bins; i += 2)
    ticks.push_back({{"x", decimal(kLeft + i * width, 1)},
                     {"label", decimal(axis.low + i * step, axis.digits)}});
  return {{"caption", caption}, {"bars", bars}, {"ticks", ticks}};
}

}  // namespace membound::gradebook
