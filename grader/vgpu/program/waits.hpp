// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Volatile loads by which threads wait for each other, told from those that merely fetch data. A
/// flag is read in a loop that writes nothing and ends by what it reads; a sum by the lanes of a
/// warp through volatile words does neither.
/// Place in the chain: program/decoder -> [waits] -> the race checker.
#pragma once

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Sets Instruction::only_decides of volatile loads whose value ends in branches and guards alone:
/// a look at a flag, whose answer may come late. Operands still carry virtual registers.
void mark_deciding_loads(Function& function);

/// Sets kWaits on the volatile loads of such loops, and on others of the same place (the look
/// before the loop). Branches are annotated; operands still carry virtual registers.
void mark_waiting_loads(Function& function);

}  // namespace membound::vgpu::program
