// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Words of 1 to 16 bytes, made from a number.
#pragma once

namespace timed {

template <typename Word>
__device__ Word word_of(unsigned value) {
  return static_cast<Word>(value);
}
template <>
__device__ uint2 word_of(unsigned value) {
  return {value, value};
}
template <>
__device__ uint4 word_of(unsigned value) {
  return {value, value, value, value};
}

}  // namespace timed
