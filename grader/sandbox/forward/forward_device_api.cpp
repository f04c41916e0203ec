// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Devices, errors, peers, hints, and what the harness asks beside CUDA: of the runner, and of a
/// virtual GPU that times a launch by some of its blocks (docs/counters_file.md).
#include <cstddef>
#include <cstring>

#include "grader/base/drawn_input.hpp"
#include "grader/sandbox/forward/runtime_state.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

/// Errors are kept on this side; that the program looked is for its record.
void note_error_check() {
  Connection* runner = connection();
  if (runner != nullptr && runner->device().records_calls != 0)
    static_cast<void>(runner->call(NoteErrorCheck{}));
}

bool are_devices(int a, int b) {
  return a >= 0 && b >= 0 && a < device_count() && b < device_count();
}

std::uint64_t array_number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

FORWARD_EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return remember(cudaErrorInvalidValue);
  *count = device_count();
  return *count > 0 ? cudaSuccess : remember(cudaErrorNoDevice);
}

FORWARD_EXPORT cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return remember(cudaErrorInvalidDevice);
  current_device() = device;
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return remember(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return remember(cudaErrorInvalidValue);
  return with_runner(device, [&](Connection& runner) {
    const std::vector<std::byte>& bytes = runner.device().properties;
    if (bytes.size() != sizeof(*properties)) return cudaErrorNotSupported;
    std::memcpy(properties, bytes.data(), bytes.size());
    properties->name[sizeof(properties->name) - 1] = '\0';
    return cudaSuccess;
  });
}

FORWARD_EXPORT cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  if (text == nullptr || size <= 0) return remember(cudaErrorInvalidValue);
  return with_runner(device, [&](Connection& runner) {
    const std::string& bus_id = runner.device().pci_bus_id;
    if (bus_id.empty() || bus_id.size() >= static_cast<std::size_t>(size))
      return cudaErrorInvalidValue;
    std::memcpy(text, bus_id.c_str(), bus_id.size() + 1);
    return cudaSuccess;
  });
}

FORWARD_EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  return with_runner([&](Connection& runner) {
    *version = runner.device().driver_version;
    return cudaSuccess;
  });
}

FORWARD_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  return with_runner([&](Connection& runner) {
    *version = runner.device().runtime_version;
    return cudaSuccess;
  });
}

FORWARD_EXPORT cudaError_t cudaDeviceSynchronize() {
  return with_runner(
      [](Connection& runner) { return delivered(runner, runner.call(Synchronize{})); });
}

FORWARD_EXPORT cudaError_t cudaCtxResetPersistingL2Cache() {
  return with_runner([](Connection& runner) { return runner.call(ResetPersistingL2{}); });
}

FORWARD_EXPORT cudaError_t cudaGetLastError() {
  note_error_check();
  return std::exchange(last_error(), cudaSuccess);
}

FORWARD_EXPORT cudaError_t cudaPeekAtLastError() {
  note_error_check();
  return last_error();
}

FORWARD_EXPORT const char* cudaGetErrorName(cudaError_t code) {
  switch (static_cast<int>(code)) {
#define CUDA_ERROR(name, number, text) \
  case number:                         \
    return #name;
#include "grader/device_code/cuda_api/error_table.def"
#undef CUDA_ERROR
    default:
      return "unrecognized error code";
  }
}

FORWARD_EXPORT const char* cudaGetErrorString(cudaError_t code) {
  switch (static_cast<int>(code)) {
#define CUDA_ERROR(name, number, text) \
  case number:                         \
    return text;
#include "grader/device_code/cuda_api/error_table.def"
#undef CUDA_ERROR
    default:
      return "unrecognized error code";
  }
}

/// The current device's; "" for a GPU.
FORWARD_EXPORT const char* membound_vgpu_name() {
  const Connection* runner = connection();
  return runner == nullptr ? "" : runner->device().virtual_name.c_str();
}

/// The current device's report since the last one. As the virtual GPU's own function: with too
/// little room nothing is written and nothing is forgotten.
FORWARD_EXPORT std::size_t membound_vgpu_take_report(char* buffer, std::size_t size) {
  static std::string text;  // taken from the runner, not yet by the caller
  Connection* runner = connection();
  if (text.empty() && runner != nullptr) text = runner->take_report();
  const std::size_t bytes = text.size() + 1;
  if (buffer == nullptr || size < bytes) return bytes;
  std::memcpy(buffer, text.c_str(), bytes);
  text.clear();
  return bytes;
}

/// What became of the device's runner; "" while all is well. Valid until the next call.
FORWARD_EXPORT const char* membound_remote_problem(int device) {
  thread_local std::string text;
  text = problem_of(device);
  return text.c_str();
}

/// Whether the runner ended, or answered nonsense, after it had launched code of a module: what a
/// kernel does to its runner may show at any later request.
FORWARD_EXPORT int membound_remote_lost_after_launch(int device) {
  const Connection* runner = connection(device);
  return runner != nullptr && !runner->problem().empty() && runner->has_launched() ? 1 : 0;
}

/// Whether kernels on the device can reach the runner's own memory (HMM, ATS).
FORWARD_EXPORT int membound_remote_pageable_access(int device) {
  const Connection* runner = connection(device);
  return runner != nullptr && runner->device().pageable_access != 0 ? 1 : 0;
}

/// Launches, copies and records on the current device are kept back until end_batch().
FORWARD_EXPORT void membound_remote_begin_batch() {
  if (Connection* runner = connection()) runner->begin_batch();
}

/// Sends them; the first code that is not cudaSuccess.
FORWARD_EXPORT cudaError_t membound_remote_end_batch() {
  return with_runner([](Connection& runner) { return runner.end_batch(); });
}

FORWARD_EXPORT cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                                  int device) {
  if (value == nullptr) return remember(cudaErrorInvalidValue);
  if (!are_devices(device, device)) return remember(cudaErrorInvalidDevice);
  return with_runner(device, [&](Connection& runner) {
    NumberAnswer answer;
    const std::int32_t code = runner.call(AskAttribute{attribute}, &answer);
    if (code == 0) *value = answer.number;
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return with_runner([&](Connection& runner) {
    PrioritiesAnswer answer;
    const std::int32_t code = runner.call(AskStreamPriorities{}, &answer);
    if (least != nullptr) *least = answer.least;
    if (greatest != nullptr) *greatest = answer.greatest;
    return code;
  });
}

// What cudaOccupancyMaxPotentialBlockSize() in NVIDIA's header calls. The one flag there is speaks
// of caching in L1, which no machine since Maxwell takes from occupancy.
FORWARD_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t shared_bytes, unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

FORWARD_EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                    unsigned int) {
  return cudaEventRecord(event, stream);
}

// Runners are processes of their own: no device reaches another's memory.
FORWARD_EXPORT cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (can == nullptr) return remember(cudaErrorInvalidValue);
  if (!are_devices(device, peer)) return remember(cudaErrorInvalidDevice);
  *can = 0;
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int) {
  return remember(are_devices(peer, peer) ? cudaErrorPeerAccessUnsupported
                                          : cudaErrorInvalidDevice);
}

FORWARD_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return remember(are_devices(peer, peer) ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

// All memory is freed; streams and events stay with the runner, which ends soon.
FORWARD_EXPORT cudaError_t cudaDeviceReset() {
  cudaError_t code = cudaDeviceSynchronize();
  for (void* data : device_memory())
    if (code == cudaSuccess) code = cudaFree(data);
  last_error() = cudaSuccess;
  return code;
}

// Hints without a meaning here.
FORWARD_EXPORT cudaError_t cudaSetDeviceFlags(unsigned int) { return cudaSuccess; }
FORWARD_EXPORT cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
FORWARD_EXPORT cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return cudaSuccess;
}
FORWARD_EXPORT cudaError_t cudaProfilerStart() { return cudaSuccess; }
FORWARD_EXPORT cudaError_t cudaProfilerStop() { return cudaSuccess; }

FORWARD_EXPORT void membound_vgpu_sample(int on, unsigned long long seed) {
  if (Connection* const runner = connection())
    runner->sample_launches({static_cast<std::uint8_t>(on), seed});
}

FORWARD_EXPORT void membound_vgpu_run_blocks(unsigned long long first, unsigned long long count,
                                             unsigned long long most,
                                             unsigned long long slice_step) {
  if (Connection* const runner = connection())
    runner->sample_launches({SampleLaunches::kBlockRange, 0, first, count, most, slice_step});
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
