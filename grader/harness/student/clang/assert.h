// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Found instead of the system's, also after <cassert>: cuda_for_clang.cuh has the assert() of
/// device code, which the host's would replace.
