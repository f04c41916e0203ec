// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The lines conformance programs print, and how two of them are compared: bit for bit, or within
/// the bounds the line itself names.
///   name: words          ulp_f32=N, ulp_f64=N, ulp_f16=N, ulp_bf16=N   units in the last place
///   name bound …: words  rel_f32=X, rel_f64=X                          relative error
///                        abs_f32=X                                     absolute error
/// A value is good when one of its bounds holds; NaN must meet NaN, whatever its bits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace membound::conformance {

/// The element type a tolerance speaks of; kBits without one.
enum class Element { kBits, kF16, kBf16, kF32, kF64 };

/// How far a value may lie from the truth.
struct Tolerance {
  Element element = Element::kBits;
  double ulps = 0, relative = 0, absolute = 0;
};

/// One case of one run.
struct Line {
  Tolerance tolerance;
  std::vector<std::uint32_t> words;
  std::string error;  ///< "cudaErrorX" when the case ended so; then there are no words
};

/// Lines by the name of their case.
using Lines = std::map<std::string, Line>;

/// The lines of a program's output; lines that are no cases are left out.
[[nodiscard]] Lines parse_lines(const std::string& text);

/// The part of the truth file below "## program".
[[nodiscard]] Lines truth_of(const std::string& text, const std::string& program);

/// "" when `found` agrees with `truth`, else the first word that does not and how many do not.
[[nodiscard]] std::string difference(const Line& truth, const Line& found);

}  // namespace membound::conformance
