// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Found instead of NVIDIA's: all that a kernel may use is there before its first line
/// (cuda_for_clang.cuh).
