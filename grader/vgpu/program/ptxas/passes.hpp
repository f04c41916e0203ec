// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the assembler ptxas will do to PTX, a pass each: the clock and the checkers need to know
/// it, the virtual GPU executes the PTX as it is. The linker runs the passes one after the other,
/// while operands still carry virtual registers.
#pragma once

#include <cstdint>
#include <span>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// 128-byte slots of every virtual register; 0 marks a predicate.
using RegisterSizes = std::span<const std::uint8_t>;

/// Loop unrolling. PTX has a loop once; ptxas repeats the body kUnrollFactor times where it can
/// tell how often the loop runs. Sets kUnrolled at the counting, comparison and branch of loops of
/// one basic block that count by a constant and have neither barrier nor call nor `.pragma
/// "nounroll"`; and at the loads of such a loop that waits for no load of the iteration before and
/// stores nothing, how many iterations are one wait (Instruction::iterations_together).
void mark_unrolled(Function& function, RegisterSizes sizes);

/// Instructions that ptxas makes part of another one: the machine has sums of three integers
/// (IADD3), a shift with a sum (LEA), logic of three words (LOP3), a product with a 64-bit sum
/// (IMAD.WIDE), and operands whose sign or absolute value is taken on the way (instruction set
/// reference of the CUDA binary utilities). A product and a sum of floats become one FFMA where
/// neither names a rounding mode (PTX ISA, "add" and "mul"). Sets `fused` at instructions that
/// vanish into the one that uses their result. Counters stay those of the PTX.
void mark_fused(Function& function, RegisterSizes sizes);

/// Vector loads. A thread that wants two or four words of shared memory that lie in 8 or 16 bytes,
/// aligned so that ptxas can tell, gets them by one instruction. Sets `led_bytes` at the first load
/// of each vector, `fused` at all others, and `second_half` at one of those that make it wider than
/// 8 bytes. Source: the machine code nvcc 13 makes for sm_90 of products by tiles and of sums over
/// a row of shared memory (nvdisasm).
void mark_vectors(Function& function, RegisterSizes sizes);

/// Memory-level parallelism: how often a warp must wait for memory. Loads that can be in flight
/// together are a load batch (counters and machine files call it a load round); the first of each
/// gets kStartsGlobalBatch or kStartsSharedBatch. A batch ends at the end of a basic block, at a
/// barrier, at a store that might be to the same place, and where an address depends on a load of
/// the batch. A short stretch of code that a branch leads around ends none: ptxas makes predicated
/// instructions of it. Loads of memory that does not change (ld.global.nc, textures) also move
/// across stores, atomics and barriers, but across no fence, acquiring load or call (machine code
/// that nvcc 13 makes for sm_90). A loop that only polls, in no other one, starts none.
void mark_load_batches(Function& function, RegisterSizes sizes);
/// The same without it: each load is a batch of its own.
void mark_single_loads(Function& function, RegisterSizes sizes);

/// Warp-aggregated atomics. Where ptxas sees that all lanes mean one word, it has one lane do the
/// atomic for its whole warp (a vote, a sum over the warp, one operation). What lanes only happen
/// to share at run time stays one operation a lane, but for increments of shared memory, whose
/// lanes the hardware counts word by word. Sets AtomicAccess::aggregation. Source: the machine code
/// nvcc 13 makes of grader/gpu_truth/profiler/atomics.cu for sm_90.
void mark_warp_aggregated_atomics(Function& function, RegisterSizes sizes);

}  // namespace membound::vgpu::program
