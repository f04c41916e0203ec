// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The contract of the test lab. Stage 1: input a, b; output c = a + b. Stage 2: input a, whose
/// five fifths are grown each by a launch of its own; output c. Stage 3: input a; output c = 2 a,
/// in four pieces.
#pragma once

#include "program.hpp"

inline constexpr int kFifths = 5;
inline constexpr int kPieces = 4;
/// What grow() does to one element.
inline constexpr int kRounds = 64;
