// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the judge's side may ask of a runner, and what comes back: one struct each, whose
/// fields go over the wire in their order. A request names its answer's type.
/// Place in the chain: client, server -> [messages] -> wire. Left out: bulk data, which travels in
/// the shared buffer (shared_buffer.hpp); requests only say how much of it is meant.
///
/// Device addresses are numbers here: the judge's side never follows one, and the runner holds each
/// against its list of allocations. Modules, kernels and events are indices into the runner's
/// lists.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "grader/sandbox/runner/program_messages.hpp"
#include "grader/sandbox/runner/sample_messages.hpp"

namespace membound::runner {

/// What a runner is; the first request on every connection.
struct DeviceAnswer {
  std::vector<std::byte> properties;  ///< a cudaDeviceProp
  std::int32_t driver_version = 0, runtime_version = 0;
  std::string pci_bus_id;
  std::string virtual_name;             ///< of the virtual GPU, else empty
  std::uint8_t pageable_access = 0;     ///< kernels can reach all of the runner's memory (HMM, ATS)
  std::uint64_t allocatable_bytes = 0;  ///< what the runner will hand out at most
  std::uint8_t records_calls = 0;       ///< a host-code lab's program is at the other end
};
struct DescribeDevice {
  using Answer = DeviceAnswer;
};

struct MemoryAnswer {
  std::uint64_t free_bytes = 0, total_bytes = 0;
};
struct AskMemory {
  using Answer = MemoryAnswer;
};

struct Synchronize {
  using Answer = NoAnswer;
};
/// The program frees pinned memory, which lies on its side; the device's work is done before.
struct FreeOfHost {
  using Answer = NoAnswer;
};

struct AddressAnswer {
  std::uint64_t address = 0;
};
struct Allocate {
  using Answer = AddressAnswer;
  std::uint64_t bytes = 0;
};
struct Free {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
};
/// In stream order.
struct AllocateAsync {
  using Answer = AddressAnswer;
  std::uint64_t bytes = 0;
  std::uint32_t stream = 0;
};
struct FreeAsync {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
  std::uint32_t stream = 0;
};
struct SetBytes {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
  std::int32_t value = 0;
  std::uint64_t bytes = 0;
  std::uint32_t stream = 0;
};
/// `bytes` of the shared buffer, from the place `at` on, to the device.
struct Upload {
  using Answer = NoAnswer;
  std::uint64_t address = 0, bytes = 0, at = 0;
};
/// As Upload for a few bytes, which are in the request: no trip through the shared buffer.
struct UploadInline {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
  std::vector<std::byte> data;
};
/// From the device to the place `at` of the shared buffer.
struct Download {
  using Answer = NoAnswer;
  std::uint64_t address = 0, bytes = 0, at = 0;
};
struct CopyOnDevice {
  using Answer = NoAnswer;
  std::uint64_t to = 0, from = 0, bytes = 0;
  std::uint32_t stream = 0;
};

/// One parameter of a kernel, as the module says.
struct Parameter {
  std::uint32_t offset_bytes = 0, size_bytes = 0;
};
struct KernelInfo {
  std::string name;  ///< mangled
  std::vector<Parameter> parameters;
};
/// Kernels are numbered from `first_kernel` on, in this order.
struct ModuleAnswer {
  std::uint32_t module = 0, first_kernel = 0;
  std::vector<KernelInfo> kernels;
};
/// Loads the fatbin, cubin or PTX text that stands in the first `bytes` of the shared buffer.
struct LoadModule {
  using Answer = ModuleAnswer;
  std::uint64_t bytes = 0;
};
struct UnloadModule {
  using Answer = NoAnswer;
  std::uint32_t module = 0;
};

struct AttributesAnswer {
  std::vector<std::byte> attributes;  ///< a cudaFuncAttributes
};
struct AskKernelAttributes {
  using Answer = AttributesAnswer;
  std::uint32_t kernel = 0;
};
/// The one attribute a launch may need: more than 48 KiB of shared memory.
struct AllowSharedBytes {
  using Answer = NoAnswer;
  std::uint32_t kernel = 0;
  std::int32_t bytes = 0;
};
struct OccupancyAnswer {
  std::int32_t blocks = 0;
};
struct AskOccupancy {
  using Answer = OccupancyAnswer;
  std::uint32_t kernel = 0;
  std::int32_t threads = 0;
  std::uint64_t shared_bytes = 0;
};
struct Launch {
  using Answer = NoAnswer;
  std::uint32_t kernel = 0;
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t shared_bytes = 0;
  std::vector<std::byte> parameters;  ///< all parameters at their offsets
  std::uint32_t stream = 0;
};

struct EventAnswer {
  std::uint32_t event = 0;
};
struct CreateEvent {
  using Answer = EventAnswer;
  std::uint32_t flags = 0;
};
struct DestroyEvent {
  using Answer = NoAnswer;
  std::uint32_t event = 0;
};
struct RecordEvent {
  using Answer = NoAnswer;
  std::uint32_t event = 0, stream = 0;
};
struct WaitForEvent {
  using Answer = NoAnswer;
  std::uint32_t event = 0;
};
struct ElapsedAnswer {
  float milliseconds = 0;
};
struct AskElapsed {
  using Answer = ElapsedAnswer;
  std::uint32_t start = 0, stop = 0;
};
struct ResetPersistingL2 {
  using Answer = NoAnswer;
};

/// The virtual GPU's report since the last one, at the start of the shared buffer.
struct ReportAnswer {
  std::uint64_t bytes = 0;
};
struct TakeReport {
  using Answer = ReportAnswer;
};

/// Several requests whose answers are codes only, done one after the other until one fails.
struct CodesAnswer {
  std::vector<std::int32_t> codes;
};
struct Batch {
  using Answer = CodesAnswer;
  std::vector<std::vector<std::byte>> requests;  ///< each as encode() makes it
};

/// The judge is done: the runner scrubs its memory and ends.
struct Goodbye {
  using Answer = NoAnswer;
};

/// Every request there is. Its number on the wire is its place here: append, never reorder.
using Request = std::variant<
    DescribeDevice, AskMemory, Synchronize, Allocate, Free, SetBytes, Upload, UploadInline,
    Download, CopyOnDevice, LoadModule, UnloadModule, AskKernelAttributes, AllowSharedBytes,
    AskOccupancy, Launch, CreateEvent, DestroyEvent, RecordEvent, WaitForEvent, AskElapsed,
    ResetPersistingL2, TakeReport, Batch, Goodbye, CreateStream, DestroyStream, WaitForStream,
    AskStream, AskEvent, StreamWaitsForEvent, CopyIn, CopyOut, TakeCopy, NoteErrorCheck,
    FindVariable, AskAttribute, AskStreamPriorities, BeginCapture, EndCapture, AskCapture,
    InstantiateGraph, LaunchGraph, DestroyGraph, DestroyExecutable, AllocateAsync, FreeAsync,
    SampleLaunches, DrawWord, DrawInput, AskTouched, AskAsDrawn, FreeOfHost>;

/// Whether a request may stand in a Batch: its answer is a code and it waits for nothing.
template <typename T>
inline constexpr bool kMayBeBatched =
    std::is_same_v<T, SetBytes> || std::is_same_v<T, CopyOnDevice> || std::is_same_v<T, Launch> ||
    std::is_same_v<T, RecordEvent> || std::is_same_v<T, AllowSharedBytes> ||
    std::is_same_v<T, ResetPersistingL2> || std::is_same_v<T, SampleLaunches> ||
    std::is_same_v<T, DrawWord> || std::is_same_v<T, DrawInput>;

/// Whether it becomes part of a graph where its stream is captured.
template <typename T>
inline constexpr bool kBecomesANode =
    std::is_same_v<T, SetBytes> || std::is_same_v<T, CopyOnDevice> || std::is_same_v<T, Launch> ||
    std::is_same_v<T, RecordEvent> || std::is_same_v<T, StreamWaitsForEvent>;

}  // namespace membound::runner
