// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Medians and their confidence intervals, without assumptions about the noise.
/// Place in the chain: timing -> [statistics], stop_rule. Left out: when to stop.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace membound::harness {

/// The middle value; the mean of the two middle ones for an even count; 0 for none.
[[nodiscard]] double median(std::span<const double> values);

/// An interval that holds the true median with at least the wanted confidence.
struct Interval {
  double low = 0;
  double high = 0;
};

/// How many of `count` sorted samples may be dropped at each end so that what remains still holds
/// the true median with probability `confidence`. Order statistics: each sample lies below the
/// median with probability 1/2, so the number below is binomial, whatever the distribution.
[[nodiscard]] std::size_t samples_to_drop(std::size_t count, double confidence);

/// The interval from order statistics. With fewer samples than the confidence needs (6 for 95 %) it
/// is simply the smallest and the largest.
[[nodiscard]] Interval median_interval(std::span<const double> values, double confidence);

/// Pair by pair the student's speed relative to the reference's: reference time / student time.
[[nodiscard]] std::vector<double> speed_ratios(std::span<const double> student_ns,
                                               std::span<const double> reference_ns);

}  // namespace membound::harness
