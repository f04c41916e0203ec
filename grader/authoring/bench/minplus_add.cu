// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The reference answers of lab 06 with an addition instead of the minimum: the experiment of the
/// seed the lab comes from. An addition takes half as long as a minimum on the units that do it, so
/// the difference tells how much of the time is arithmetic.
#include "kernel.cuh"

// A macro, because only a macro can change one word of the kernels that follow.
#define fminf(a, b) ((a) + (b))
#include "solutions/06-shortcut/kernel.cu"
