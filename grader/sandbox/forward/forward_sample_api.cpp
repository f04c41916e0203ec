// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the harness asks a virtual GPU to time a launch by some of its blocks, as the virtual GPU's
/// own functions (docs/counters_file.md).
#include <cstddef>

#include "grader/base/drawn_input.hpp"
#include "grader/sandbox/forward/devices.hpp"
#include "grader/sandbox/forward/host_memory.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

std::uint64_t array_number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

FORWARD_EXPORT void membound_vgpu_sample(int on, unsigned long long seed) {
  if (Connection* const runner = connection())
    runner->sample_launches({static_cast<std::uint8_t>(on), seed});
}

FORWARD_EXPORT void membound_vgpu_run_blocks(unsigned long long first, unsigned long long count,
                                             unsigned long long most) {
  if (Connection* const runner = connection())
    runner->sample_launches({SampleLaunches::kBlockRange, 0, first, count, most});
}

FORWARD_EXPORT int membound_vgpu_draw_input(void* d_array,
                                            const membound::base::DrawnInput* input) {
  Connection* runner = connection();
  if (runner == nullptr) return 0;
  const DrawInput request{array_number(d_array), static_cast<std::uint32_t>(input->type),
                          input->how};
  return runner->call(request) == 0 ? 1 : 0;
}

FORWARD_EXPORT int membound_vgpu_is_as_drawn(const void* d_array) {
  Connection* runner = connection();
  AsDrawnAnswer answer;
  if (runner == nullptr || runner->call(AskAsDrawn{array_number(d_array)}, &answer) != 0) return -1;
  return answer.is_as_drawn;
}

FORWARD_EXPORT int membound_vgpu_draw_word(void* d_array, unsigned word) {
  Connection* runner = connection();
  return runner != nullptr && runner->call(DrawWord{array_number(d_array), word}) == 0 ? 1 : 0;
}

FORWARD_EXPORT int membound_vgpu_each_drawn(
    const void* d_array, void (*see)(void*, std::size_t, const void*, std::size_t), void* state) {
  Connection* runner = connection();
  if (runner == nullptr) return 0;
  const auto pass_on = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    see(state, offset, bytes.data(), bytes.size());
  };
  const std::int32_t code =
      runner->each_touched(array_number(d_array), device_memory_bytes(d_array), pass_on);
  return remember(code) == cudaSuccess ? 1 : 0;
}
