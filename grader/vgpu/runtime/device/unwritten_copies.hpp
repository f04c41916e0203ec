// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies to the host of device memory that nobody has written (initcheck): which array, how many
/// bytes, the first of them. Place in the chain: data_movement -> [unwritten_copies] -> report_log,
/// console_messages. Left out: memory that kernels read (exec/observe/initcheck).
#pragma once

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/operation.hpp"

namespace membound::vgpu::runtime {

/// With initcheck on: one finding of a copy that is about to be made, where it takes such bytes to
/// the host.
void tell_of_unwritten(Context& context, const CopyOperation& copy);

}  // namespace membound::vgpu::runtime
