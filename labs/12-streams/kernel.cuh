// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 12, the contract: what the program reads, what it writes. Nobody edits this file; the grader
/// uses its own copy of it.
///
/// Samples are ints. Every stage reads the input "in" and writes the output "out".
///   stage 1  in: kSounds sounds of n samples, one after another; out: each of them by echo()
///   stage 2  in: a recording of n samples; "rounds": one int; out: all of it by soften() of so
///            many rounds
///   stage 3  in: kTracks tracks a, b, c, d of n samples; out: two channels of n samples, with
///            x = blend(a, b), y = blend(c, d), z = blend(x, y), left = blend(z, x),
///            right = blend(z, y)
///   stage 4  in: kChannels channels, left and right, of n samples; out: both after kTurns turns,
///            in each a = turn(left, right) and b = turn(right, left), and then left = turn(a, b)
///            and right = turn(b, a)
/// n is any number from 0 on.
#pragma once

#include "program.hpp"

inline constexpr int kSounds = 5;     ///< stage 1
inline constexpr int kPieces = 8;     ///< stage 2: at most so many, all of one length but the last
inline constexpr int kStreams = 3;    ///< stage 2
inline constexpr int kTracks = 4;     ///< stage 3
inline constexpr int kChannels = 2;   ///< stage 4
inline constexpr int kTurns = 40;     ///< stage 4
inline constexpr int kThreads = 256;  ///< of a block

inline constexpr int kLongRounds = 12000;  ///< stages 1 and 3: a few blocks, busy for long

/// Blocks for n samples, one a thread; 0 for 0.
inline int blocks_for(int n) { return (n + kThreads - 1) / kThreads; }
