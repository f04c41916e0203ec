// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What our own programs ask the virtual GPU beside CUDA: who it is, what was counted, how inputs
/// are drawn. Found with dlsym, so that the same program also runs with the real runtime. Here,
/// too, a program ends that calls a library for GPUs of which `membound run` has only a stand-in
/// (grader/cli/gpu_libraries.hpp).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "grader/base/drawn_input.hpp"
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/device_properties.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

/// "NVIDIA H200 (virtual)". Who asks judges what kernels do; of programs of one's own what the host
/// does is looked at, too.
CUDA_EXPORT const char* membound_vgpu_name() {
  static const std::string name = context().machine.name + " (virtual)";
  const std::scoped_lock lock(context().mutex);
  context().is_judged = true;
  return name.c_str();
}

/// The counters file's object for all launches since the last call that took it. Returns its size
/// with the final zero; with a null or too small buffer nothing is written and nothing is
/// forgotten.
CUDA_EXPORT std::size_t membound_vgpu_take_report(char* buffer, std::size_t size) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  const std::string text = only.log.text_since_taken();
  if (buffer == nullptr || size < text.size() + 1) return text.size() + 1;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  only.log.mark_taken();
  only.not_sampled.clear();
  return text.size() + 1;
}

/// Device memory [d_begin, d_begin + bytes) counts as never written: what a test has filled with a
/// pattern of its own, so that initcheck sees who reads it.
CUDA_EXPORT void membound_vgpu_forget_writes(const void* d_begin, std::size_t bytes) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.memory.forget_writes(reinterpret_cast<std::uint64_t>(d_begin), bytes);
}

/// The program speaks to libcudart.so.12 (cuda12_api.cpp).
CUDA_EXPORT void membound_vgpu_serve_cuda12() { serves_cuda12 = true; }

/// Launches from here on end after so many warp instructions; 0: no limit. MEMBOUND_STEP_LIMIT goes
/// before it.
CUDA_EXPORT void membound_vgpu_limit_steps(std::uint64_t warp_instructions) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.limits.warp_instructions = warp_instructions;
}

/// Launches from here on run some of their blocks, which stand for all; the seed says which. With
/// `on` 0 all blocks run again, in orders drawn from the seed where it is not 0, beside checkers
/// too; with 2 too, of launches that prepare what a sampled one needs, but
/// of large ones only some are counted. A launch that cannot be sampled, or takes too long for one
/// that prepares, is not run, nor are those after it until the report is taken: its entry there
/// has "not_sampled", and why. With 3 all blocks run and only results matter: nothing is counted,
/// no time passes; where the seed is not 0, warps take their turns in orders drawn from it. With 4
/// some blocks run as with 1, and of each only some warps: for what took too many instructions
/// with 1.
CUDA_EXPORT void membound_vgpu_sample(int on, unsigned long long seed) {
  constexpr std::uint64_t kInstructions = std::uint64_t{1} << 19;
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.sample.reset();
  only.only.reset();
  only.only_results = on == 3;
  only.order_seed.reset();
  if ((on == 0 || on == 3) && seed != 0) only.order_seed = seed;
  only.draws_beside_checkers = on == 0;
  if (on == 1 || on == 2 || on == 4)
    only.sample = membound::vgpu::exec::SampleOrder{seed, kInstructions, on == 2, on == 4};
}

/// Of launches from here on only blocks [first, first + count) run, for what they leave in memory:
/// nothing is counted or checked, no time passes. One that would take more than `most` warp
/// instructions (0: no limit) is given up in the middle, and one whose blocks may learn from each
/// other runs only as a whole; its entry in the report then has "not_sampled", and why. Each entry
/// has "drawn_bytes", which lazily generated arrays hold by then. Until membound_vgpu_sample() is
/// called. With `slice_step` not 0 `count` blocks that lie so far apart execute only what decides
/// where they store and which way they go; "kinds" then names a block of each kind, and "stored"
/// has of each block how many bytes it would store and the sum of their addresses. One alone does
/// store.
CUDA_EXPORT void membound_vgpu_run_blocks(unsigned long long first, unsigned long long count,
                                          unsigned long long most, unsigned long long slice_step) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.sample.reset();
  only.only_results = true;
  only.only = membound::vgpu::exec::BlockRange{first, count, most, slice_step};
}

/// The array at `d_array`, as cudaMalloc gave it, is this input from now on, each part of it drawn
/// when it is first touched. 0 when no array begins there.
CUDA_EXPORT int membound_vgpu_draw_input(void* d_array, const membound::base::DrawnInput* input) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  const auto source = [one = *input](std::uint64_t offset, std::byte* to, std::uint64_t bytes) {
    membound::base::draw_into(one, offset, {to, bytes});
  };
  return only.memory.generate_lazily(reinterpret_cast<std::uint64_t>(d_array), source) ? 1 : 0;
}

/// The array at `d_array`, an output, holds this word over and over from now on, made when it is
/// first touched. 0 when no array begins there.
CUDA_EXPORT int membound_vgpu_draw_word(void* d_array, unsigned word) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  std::array<unsigned, 128> words{};
  words.fill(word);
  const auto source = [words](std::uint64_t, std::byte* to, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += sizeof words)
      std::memcpy(to + at, words.data(), std::min<std::uint64_t>(sizeof words, bytes - at));
  };
  return only.memory.generate_lazily(reinterpret_cast<std::uint64_t>(d_array), source, true) ? 1
                                                                                             : 0;
}

/// Shows every part of an array of either kind that was touched: see(state, offset, bytes, count),
/// in order. 0 when the array at `d_array` is of neither.
CUDA_EXPORT int membound_vgpu_each_drawn(const void* d_array,
                                         void (*see)(void*, std::size_t, const void*, std::size_t),
                                         void* state) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  const auto address = reinterpret_cast<std::uint64_t>(d_array);
  const membound::vgpu::memory::LazyArray* const array = only.memory.lazy_at(address);
  if (array == nullptr) return 0;
  array->each_made([&](std::uint64_t offset, std::span<const std::byte> bytes) {
    see(state, offset, bytes.data(), bytes.size());
  });
  return 1;
}

/// Whether what was touched of such an array still holds what was drawn; -1 when the array at
/// `d_array` is of neither kind.
CUDA_EXPORT int membound_vgpu_is_as_drawn(const void* d_array) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  const auto* const array = only.memory.lazy_at(reinterpret_cast<std::uint64_t>(d_array));
  if (array == nullptr) return -1;
  return array->is_as_made() ? 1 : 0;
}

/// Virtual time of the host in nanoseconds: for programs that time with clocks of their own.
CUDA_EXPORT double membound_vgpu_host_ns() {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  return only.clock.host_ns();
}

/// When, in virtual nanoseconds, the latest kernel, copy or fill of this process runs; 0 and 0
/// before the first.
CUDA_EXPORT void membound_vgpu_last_work(double* start_ns, double* end_ns) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  *start_ns = only.last_work.start_ns;
  *end_ns = only.last_work.end_ns;
}

/// What kernels, copies and fills from here on touch of memory is kept until it is taken.
CUDA_EXPORT void membound_vgpu_keep_uses() {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.uses.emplace();
}

/// Shows what each of them touched since this was asked last, and forgets it: see(state, the number
/// of the operation from 0 on, whether it is written, begin, end). Of one that touched too
/// much to be kept everything is shown, read and written. Returns how many there were.
CUDA_EXPORT std::size_t membound_vgpu_take_uses(void (*see)(void*, std::size_t, int, std::uint64_t,
                                                            std::uint64_t),
                                                void* state) {
  using membound::vgpu::exec::AccessKind;
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  if (!only.uses) return 0;
  for (std::size_t i = 0; i < only.uses->size(); ++i) {
    const membound::vgpu::exec::Footprint& footprint = (*only.uses)[i];
    for (const bool written : {false, true}) {
      if (footprint.too_large) see(state, i, written ? 1 : 0, 0, kEnd);
      for (const auto& part : footprint.parts)
        if (part.kind == AccessKind::kAtomic || (part.kind == AccessKind::kLoad) != written) {
          std::uint64_t begin = 0;  // of what lies between two gaps
          part.ranges.each_gap(0, kEnd, [&](std::uint64_t gap_begin, std::uint64_t gap_end) {
            if (begin < gap_begin) see(state, i, written ? 1 : 0, begin, gap_begin);
            begin = gap_end;
          });
        }
    }
  }
  const std::size_t count = only.uses->size();
  only.uses->clear();
  return count;
}

/// When the nodes of the graph that was launched last run, in the order in which they were made:
/// start and end of each, as far as there is room. Returns how many nodes there are.
CUDA_EXPORT std::size_t membound_vgpu_graph_work(double* start_end_ns, std::size_t room) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  const std::size_t count = std::min(room / 2, only.graph_work.size());
  for (std::size_t i = 0; i < count; ++i) {
    start_end_ns[2 * i] = only.graph_work[i].start_ns;
    start_end_ns[2 * i + 1] = only.graph_work[i].end_ns;
  }
  return only.graph_work.size();
}

/// Says why and ends the program as wrong input does, with what it has printed and counted so far.
CUDA_EXPORT __attribute__((noreturn)) void membound_vgpu_stop(const char* message) {
  std::fflush(nullptr);
  membound::vgpu::runtime::messages::print(message);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): as the program's own exit would
  std::exit(membound::base::exit_code_of(membound::base::ErrorKind::kInput));
}
