// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A histogram as the numbers that templates/class.html draws.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace membound::gradebook {

/// `bins` equal ones from `low` to `high`; what lies outside counts in the first or the last.
struct Axis {
  double low = 0, high = 1;
  int bins = 10;
  int digits = 0;  ///< decimals of the labels
};

/// Places in a picture of 320 × 150 units: bars of 10 to 310, the floor at 125.
[[nodiscard]] nlohmann::json histogram(const std::string& caption, std::span<const double> values,
                                       const Axis& axis);

}  // namespace membound::gradebook
