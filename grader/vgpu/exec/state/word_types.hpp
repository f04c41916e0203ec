// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Short names of the words that lanes compute with, in the namespace of each build of the
/// handlers. Place in the chain: [word_types] -> state/access, lanes/*_math.
#pragma once

#include <cstdint>

#ifndef MEMBOUND_ISA
#define MEMBOUND_ISA generic
#endif

namespace membound::vgpu::exec::MEMBOUND_ISA {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
