// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The times and rates that a program prints, held against the runtime's clock. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace membound::harness {

/// "1490.6 GB/s", "0.0081 ms".
struct Figure {
  double value = 0;     ///< in ns, or in bytes per ns
  double rounding = 0;  ///< half of the last digit that was printed, in the same unit
  bool is_rate = false;
  std::string text;  ///< as it was printed
};

/// All numbers that are followed by a unit of time (ns, us, ms, s) or of data per second (MB/s,
/// GB/s, TB/s, MiB/s, GiB/s, TiB/s).
[[nodiscard]] std::vector<Figure> figures_in(std::string_view printed);

/// What the events of a program told it about its kernel.
struct MeasuredTime {
  double ns = 0;             ///< between the two events
  double read_bytes = 0;     ///< by the launches between them
  double written_bytes = 0;  ///< 0 with read_bytes: nobody knows
  int launches = 1;          ///< that lie between them: a program may print what one took
};

/// Of figures of one kind (times, or rates) at least one has to be measured, or an average of what
/// was: a program may also print what it took from another clock. Why none of them is; nothing
/// where one is, or where none was printed.
[[nodiscard]] std::optional<std::string> invented_figure(std::string_view printed,
                                                         const std::vector<MeasuredTime>& measured);

}  // namespace membound::harness
