// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What initcheck says of a value that nobody has written and that is made use of.
/// Place in the chain: initcheck -> [undefined_messages].
#pragma once

#include "grader/vgpu/exec/observe/undefined_values.hpp"

namespace membound::vgpu::exec {

/// "uninitialised read", or that of a shuffle.
[[nodiscard]] const char* kind_of(const UndefinedSource& from);

/// Told at the place where the value came from; where it is used, in the text.
[[nodiscard]] CheckReport describe_use(const Warp& w, const UndefinedSource& from, const Step* at,
                                       std::uint32_t lane, Use use);

}  // namespace membound::vgpu::exec
