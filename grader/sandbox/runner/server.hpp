// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The runner's end of the connection: does what is asked with the CUDA runtime it is linked to,
/// the GPU's or the virtual GPU's, and nothing else.
///
/// It holds no secret: no seed of another run, no expected output, no clock that counts. What it
/// says is checked on the judge's side.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/runner/call_record.hpp"
#include "grader/sandbox/runner/channel.hpp"
#include "grader/sandbox/runner/device_memory.hpp"
#include "grader/sandbox/runner/runner_limits.hpp"

namespace membound::runner {

/// How the conversation ended.
enum class ServerEnd { kGoodbye, kJudgeGone, kBrokenProtocol };

/// Who notes what a program asks for; each may be null.
struct Recorders {
  CallRecorder* calls = nullptr;   ///< the other side is a whole program: every call is noted
  RequestLog* requests = nullptr;  ///< with it: every request is kept, with the bytes of copies
  bool follows_data = false;       ///< with calls: what each launch reads and writes is noted
  /// Every word that a copy brings to the host is changed by these bits; 0: it is what it was.
  std::uint32_t changed_bits = 0;
};

/// Serves one judge on the current device.
class Server {
 public:
  /// `is_busy` is true while a request is being worked on, for whoever watches the connection.
  Server(Descriptor socket, std::atomic<bool>& is_busy, Recorders recorders = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Until the judge says goodbye, disappears or breaks the protocol (said on standard error).
  [[nodiscard]] ServerEnd serve();

 private:
  /// A picture of floats.
  struct Picture {
    cudaArray_t array = nullptr;
    std::uint64_t width = 0, height = 0;
  };
  struct Module {
    cudaLibrary_t library = nullptr;
    std::vector<std::byte> code;  // kept as long as the library: not every runtime copies it
  };
  struct Kernel {
    cudaKernel_t function = nullptr;
    KernelInfo info;
    std::uint32_t module = 0;
  };

  /// What a graph does, as its calls were made.
  struct Captured {
    std::uint32_t origin = 0;  ///< the stream in which the capture began
    std::vector<Call> calls;
  };
  struct Graph {
    cudaGraph_t handle = nullptr;
    Captured captured;
  };
  /// Of its calls those in the origin count for the stream it is launched in; other streams and all
  /// events have numbers of their own.
  struct Executable {
    cudaGraphExec_t handle = nullptr;
    Captured captured;
    std::uint32_t done = 0;  ///< the event that its latest launch ends with
  };

  [[nodiscard]] base::Status receive_buffer();
  /// `bytes` of the shared buffer from `at` on for a copy to the device. Where requests are kept it
  /// is our own copy of them: the program could still write to the buffer.
  [[nodiscard]] const std::byte* from_buffer(std::uint64_t at, std::uint64_t bytes);
  /// Where a copy from the device is to put `bytes`, which to_buffer() then hands over.
  [[nodiscard]] std::byte* room_for_copy(std::uint64_t at, std::uint64_t bytes);
  void to_buffer(std::uint64_t at, std::uint64_t bytes);
  [[nodiscard]] std::vector<std::byte> respond(const Request& request);
  [[nodiscard]] const Kernel* kernel(std::uint32_t index) const;
  [[nodiscard]] cudaError_t event(std::uint32_t index, cudaEvent_t& out) const;
  [[nodiscard]] cudaError_t stream(std::uint32_t index, cudaStream_t& out) const;
  /// Whether all of these bytes are the other side's: of one allocation or one variable.
  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const;
  /// For each parameter the address it holds, where that is memory of the device; else 0.
  [[nodiscard]] std::vector<std::uint64_t> memory_of(const Launch& launch,
                                                     const KernelInfo& kernel) const;
  /// Gives the call to the recorder, with its result and its place on the timeline; or keeps it
  /// with the graph that its stream is captured into.
  void record(Call call, cudaError_t code);
  /// What the graph that was launched last has done.
  void record_graph(std::uint32_t executable, std::uint32_t launched_in);
  /// The capture that work of the stream goes into; null where it is done at once.
  [[nodiscard]] Captured* capture_of(std::uint32_t stream);
  [[nodiscard]] bool capture_is_full(std::uint32_t stream);

  // One overload per request; the answer's fields are only sent when the code is cudaSuccess.
  cudaError_t handle(const DescribeDevice& request, DeviceAnswer& answer);
  cudaError_t handle(const AskMemory& request, MemoryAnswer& answer);
  cudaError_t handle(const Synchronize& request, NoAnswer& answer);
  cudaError_t handle(const FreeOfHost& request, NoAnswer& answer);
  cudaError_t handle(const Allocate& request, AddressAnswer& answer);
  cudaError_t handle(const Free& request, NoAnswer& answer);
  cudaError_t handle(const SetBytes& request, NoAnswer& answer);
  cudaError_t handle(const Upload& request, NoAnswer& answer);
  cudaError_t handle(const UploadInline& request, NoAnswer& answer);
  cudaError_t handle(const Download& request, NoAnswer& answer);
  cudaError_t handle(const CopyOnDevice& request, NoAnswer& answer);
  cudaError_t handle(const LoadModule& request, ModuleAnswer& answer);
  cudaError_t handle(const UnloadModule& request, NoAnswer& answer);
  cudaError_t handle(const AskKernelAttributes& request, AttributesAnswer& answer);
  cudaError_t handle(const AllowSharedBytes& request, NoAnswer& answer);
  cudaError_t handle(const AskOccupancy& request, OccupancyAnswer& answer);
  cudaError_t handle(const Launch& request, NoAnswer& answer);
  cudaError_t handle(const CreateEvent& request, EventAnswer& answer);
  cudaError_t handle(const DestroyEvent& request, NoAnswer& answer);
  cudaError_t handle(const RecordEvent& request, NoAnswer& answer);
  cudaError_t handle(const WaitForEvent& request, NoAnswer& answer);
  cudaError_t handle(const AskElapsed& request, ElapsedAnswer& answer);
  cudaError_t handle(const ResetPersistingL2& request, NoAnswer& answer);
  cudaError_t handle(const TakeReport& request, ReportAnswer& answer);
  cudaError_t handle(const Batch& request, CodesAnswer& answer);
  cudaError_t handle(const Goodbye& request, NoAnswer& answer);
  cudaError_t handle(const CreateStream& request, StreamAnswer& answer);
  cudaError_t handle(const DestroyStream& request, NoAnswer& answer);
  cudaError_t handle(const WaitForStream& request, NoAnswer& answer);
  cudaError_t handle(const AskStream& request, NoAnswer& answer);
  cudaError_t handle(const AskEvent& request, NoAnswer& answer);
  cudaError_t handle(const StreamWaitsForEvent& request, NoAnswer& answer);
  cudaError_t handle(const CopyIn& request, NoAnswer& answer);
  cudaError_t handle(const CopyOut& request, TicketAnswer& answer);
  cudaError_t handle(const TakeCopy& request, NoAnswer& answer);
  cudaError_t handle(const NoteErrorCheck& request, NoAnswer& answer);
  cudaError_t handle(const FindVariable& request, VariableAnswer& answer);
  cudaError_t handle(const AskAttribute& request, NumberAnswer& answer);
  cudaError_t handle(const AskStreamPriorities& request, PrioritiesAnswer& answer);
  cudaError_t handle(const BeginCapture& request, NoAnswer& answer);
  cudaError_t handle(const EndCapture& request, GraphAnswer& answer);
  cudaError_t handle(const AskCapture& request, NumberAnswer& answer);
  cudaError_t handle(const InstantiateGraph& request, GraphAnswer& answer);
  cudaError_t handle(const LaunchGraph& request, NoAnswer& answer);
  cudaError_t handle(const DestroyGraph& request, NoAnswer& answer);
  cudaError_t handle(const DestroyExecutable& request, NoAnswer& answer);
  cudaError_t handle(const AllocateAsync& request, AddressAnswer& answer);
  cudaError_t handle(const FreeAsync& request, NoAnswer& answer);
  cudaError_t handle(const SampleLaunches& request, NoAnswer& answer);
  cudaError_t handle(const DrawWord& request, NoAnswer& answer);
  cudaError_t handle(const DrawInput& request, NoAnswer& answer);
  cudaError_t handle(const AskAsDrawn& request, AsDrawnAnswer& answer);
  cudaError_t handle(const AskTouched& request, TouchedAnswer& answer);
  cudaError_t handle(const AllocateArray& request, ArrayAnswer& answer);
  cudaError_t handle(const FreeArray& request, NoAnswer& answer);
  cudaError_t handle(const FillArray& request, NoAnswer& answer);
  cudaError_t handle(const CreateTexture& request, TextureAnswer& answer);
  cudaError_t handle(const DestroyTexture& request, NoAnswer& answer);
  /// Whether an allocation begins there and the other side is no program, whose launches are never
  /// sampled.
  [[nodiscard]] bool can_be_drawn(std::uint64_t address) const;

  Channel channel_;
  std::optional<SharedBuffer> buffer_;
  std::atomic<bool>& is_busy_;
  CallRecorder* recorder_;
  RequestLog* log_;
  bool follows_data_;
  std::uint32_t changed_bits_;
  std::vector<std::byte> copied_;  // by the request that is served, where requests are kept
  Allocations allocations_{0};
  DeviceMemory memory_;
  std::map<std::uint32_t, Allocations> variables_;  // by module: those that were asked for
  LaunchLimits limits_;
  std::map<std::uint32_t, Module> modules_;
  std::vector<Kernel> kernels_;
  std::map<std::uint32_t, Picture> pictures_;
  std::set<std::uint64_t> textures_;  // their handles
  std::map<std::uint32_t, cudaEvent_t> events_;
  std::map<std::uint32_t, cudaStream_t> streams_;
  Staging staging_;
  std::uint64_t freed_bytes_ = 0;                    // by the latest FreeAsync
  std::map<unsigned long long, Captured> captures_;  // under way, by the runtime's number
  std::map<std::uint32_t, Graph> graphs_;
  std::map<std::uint32_t, Executable> executables_;
  std::uint32_t next_module_ = 0, next_event_ = 0, next_stream_ = 1, next_graph_ = 1,
                next_picture_ = 0;
};

/// Writes zeros over all device memory that can be had, so that neither what ran before is read nor
/// what ran here is left behind; the bytes written. Nothing to do on the virtual GPU, whose memory
/// is this process's.
[[nodiscard]] std::uint64_t scrub_device();

}  // namespace membound::runner
