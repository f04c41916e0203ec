// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the judge's side may ask of a runner, and what comes back: one struct each, whose fields go
/// over the wire in their order. A request names its answer's type. Programs of host-code labs ask
/// for streams, graphs and variables besides; test programs, to time a launch by some of its
/// blocks. Bulk data travels in the shared buffer (channel.hpp); requests only say how much of it
/// is meant.
///
/// Device addresses are numbers here: the judge's side never follows one, and the runner holds each
/// against its list of allocations. Modules, kernels and events are indices into the runner's
/// lists; stream 0 is the default one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "grader/base/values.cuh"

namespace membound::runner {

/// Answer of a request that has nothing to tell but its code.
struct NoAnswer {};

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
  std::uint32_t cooperative = 0;  ///< 1: all blocks at the same time
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

// What the program of a host-code lab asks besides: streams, copies in stream order, events of
// streams, variables, graphs, numbers of the device.

struct StreamAnswer {
  std::uint32_t stream = 0;
};
struct CreateStream {
  using Answer = StreamAnswer;
  std::uint32_t flags = 0;
  std::int32_t priority = 0;
};
struct DestroyStream {
  using Answer = NoAnswer;
  std::uint32_t stream = 0;
};
struct WaitForStream {
  using Answer = NoAnswer;
  std::uint32_t stream = 0;
};
struct AskStream {
  using Answer = NoAnswer;
  std::uint32_t stream = 0;
};
struct AskEvent {
  using Answer = NoAnswer;
  std::uint32_t event = 0;
};
/// The stream goes on when the event has come.
struct StreamWaitsForEvent {
  using Answer = NoAnswer;
  std::uint32_t stream = 0, event = 0;
};

/// The first `bytes` of the shared buffer to the device, in stream order. From pinned memory the
/// copy is only begun.
struct CopyIn {
  using Answer = NoAnswer;
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t stream = 0;
  std::uint8_t pinned = 0;
};
/// From the device, in stream order: to the start of the shared buffer, or, into pinned memory, to
/// where TakeCopy finds it by its ticket once it is done.
struct TicketAnswer {
  std::uint32_t ticket = 0;
};
struct CopyOut {
  using Answer = TicketAnswer;
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t stream = 0;
  std::uint8_t pinned = 0;
};
/// cudaErrorNotReady while the copy is under way; once it is there, it is given once.
struct TakeCopy {
  using Answer = NoAnswer;
  std::uint32_t ticket = 0;
};
/// Where a variable of a module is; from then on it may be copied to and from.
struct VariableAnswer {
  std::uint64_t address = 0, bytes = 0;
};
struct FindVariable {
  using Answer = VariableAnswer;
  std::uint32_t module = 0;
  std::string name;  ///< mangled
};

struct NumberAnswer {
  std::int32_t number = 0;
};
/// A cudaDeviceAttr.
struct AskAttribute {
  using Answer = NumberAnswer;
  std::int32_t attribute = 0;
};
struct PrioritiesAnswer {
  std::int32_t least = 0, greatest = 0;
};
struct AskStreamPriorities {
  using Answer = PrioritiesAnswer;
};

/// From here on work in the stream becomes part of a graph, as the mode says. Copies between host
/// and device do not: their memory is in another process.
struct BeginCapture {
  using Answer = NoAnswer;
  std::uint32_t stream = 0;
  std::int32_t mode = 0;
};
struct GraphAnswer {
  std::uint32_t graph = 0;
};
struct EndCapture {
  using Answer = GraphAnswer;
  std::uint32_t stream = 0;
};
/// A cudaStreamCaptureStatus.
struct AskCapture {
  using Answer = NumberAnswer;
  std::uint32_t stream = 0;
};
/// The answer is the number of a graph that can be launched; its own kind of number.
struct InstantiateGraph {
  using Answer = GraphAnswer;
  std::uint32_t graph = 0;
};
struct LaunchGraph {
  using Answer = NoAnswer;
  std::uint32_t executable = 0, stream = 0;
};
struct DestroyGraph {
  using Answer = NoAnswer;
  std::uint32_t graph = 0;
};
struct DestroyExecutable {
  using Answer = NoAnswer;
  std::uint32_t executable = 0;
};

/// The program looked at its last error. Where errors are kept is the program's side; this is for
/// the record of calls alone.
struct NoteErrorCheck {
  using Answer = NoAnswer;
};

// What a test program asks of a virtual GPU's runner to time a launch by some of its blocks. Inputs
// are drawn in the runner, where they are touched. Their seed says no more than the input itself
// would: all seeds follow from a key that the judge keeps.

/// Arrays are drawn and looked at in chunks of so many bytes; the last one may be shorter.
inline constexpr std::uint64_t kChunkBytes = 512;

/// Launches from here on run some of their blocks, as the seed says; with `on` 0 all of them, with
/// 2 all of those that prepare what a sampled one needs; with 3 all, and nothing is counted; with
/// kBlockRange likewise, but only blocks [first, first + count), in at most so many instructions.
struct SampleLaunches {
  using Answer = NoAnswer;
  static constexpr std::uint8_t kBlockRange = 5;
  std::uint8_t on = 0;
  std::uint64_t seed = 0;
  std::uint64_t first = 0, count = 0, most_instructions = 0;
  std::uint64_t slice_step = 0;  ///< not 0: as membound_vgpu_run_blocks says
  bool operator==(const SampleLaunches&) const = default;
};
/// The allocation at `address` holds this word over and over until something else is written.
struct DrawWord {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
  std::uint32_t word = 0;
};
/// It is this input, drawn when it is first touched.
struct DrawInput {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
  std::uint32_t type = 0;  ///< a base::ElementType
  base::Draw how{};
};
struct AsDrawnAnswer {
  std::uint8_t is_as_drawn = 0;
};
/// Whether what was touched of it still holds what was drawn.
struct AskAsDrawn {
  using Answer = AsDrawnAnswer;
  std::uint64_t address = 0;
};

struct TouchedRange {
  std::uint64_t offset = 0, bytes = 0;  ///< whole chunks
};
/// The ranges' bytes stand in the shared buffer, one range after the other.
struct TouchedAnswer {
  std::vector<TouchedRange> ranges;
  std::uint8_t more = 0;  ///< there are some after the last of these
};
/// What was touched, at or after offset `from`, of an array that is drawn.
struct AskTouched {
  using Answer = TouchedAnswer;
  std::uint64_t address = 0, from = 0;
};

// Pictures that kernels of a lab read through a texture: arrays of floats and texture objects over
// them, both by numbers of the runner's lists but for the object's handle, which kernels take.

struct ArrayAnswer {
  std::uint32_t array = 0;
};
struct AllocateArray {
  using Answer = ArrayAnswer;
  std::uint64_t width = 0, height = 0;
};
struct FreeArray {
  using Answer = NoAnswer;
  std::uint32_t array = 0;
};
/// All of its rows, from device memory.
struct FillArray {
  using Answer = NoAnswer;
  std::uint32_t array = 0;
  std::uint64_t from = 0;
};
struct TextureAnswer {
  std::uint64_t handle = 0;
};
/// Of unnormalised coordinates, without a filter; outside the picture, its nearest pixel.
struct CreateTexture {
  using Answer = TextureAnswer;
  std::uint32_t array = 0;
};
struct DestroyTexture {
  using Answer = NoAnswer;
  std::uint64_t handle = 0;
};

/// Every request there is. Its number on the wire is its place here: append, never reorder.
using Request =
    std::variant<DescribeDevice, AskMemory, Synchronize, Allocate, Free, SetBytes, Upload,
                 UploadInline, Download, CopyOnDevice, LoadModule, UnloadModule,
                 AskKernelAttributes, AllowSharedBytes, AskOccupancy, Launch, CreateEvent,
                 DestroyEvent, RecordEvent, WaitForEvent, AskElapsed, ResetPersistingL2, TakeReport,
                 Batch, Goodbye, CreateStream, DestroyStream, WaitForStream, AskStream, AskEvent,
                 StreamWaitsForEvent, CopyIn, CopyOut, TakeCopy, NoteErrorCheck, FindVariable,
                 AskAttribute, AskStreamPriorities, BeginCapture, EndCapture, AskCapture,
                 InstantiateGraph, LaunchGraph, DestroyGraph, DestroyExecutable, AllocateAsync,
                 FreeAsync, SampleLaunches, DrawWord, DrawInput, AskTouched, AskAsDrawn, FreeOfHost,
                 AllocateArray, FreeArray, FillArray, CreateTexture, DestroyTexture>;

/// Whether a request may stand in a Batch: its answer is a code and it waits for nothing.
template <typename T>
inline constexpr bool kMayBeBatched =
    std::is_same_v<T, SetBytes> || std::is_same_v<T, CopyOnDevice> || std::is_same_v<T, Launch> ||
    std::is_same_v<T, RecordEvent> || std::is_same_v<T, AllowSharedBytes> ||
    std::is_same_v<T, ResetPersistingL2> || std::is_same_v<T, SampleLaunches> ||
    std::is_same_v<T, DrawWord> || std::is_same_v<T, DrawInput> || std::is_same_v<T, FillArray>;

/// Whether it becomes part of a graph where its stream is captured.
template <typename T>
inline constexpr bool kBecomesANode =
    std::is_same_v<T, SetBytes> || std::is_same_v<T, CopyOnDevice> || std::is_same_v<T, Launch> ||
    std::is_same_v<T, RecordEvent> || std::is_same_v<T, StreamWaitsForEvent>;

}  // namespace membound::runner
