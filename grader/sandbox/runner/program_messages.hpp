// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the program of a host-code lab asks of its runner beside what a test program asks: streams,
/// copies in stream order, events of streams, variables, numbers of the device. Stream 0 is the
/// default one. Place in the chain: messages -> [program_messages] -> wire.
#pragma once

#include <cstdint>
#include <string>

namespace membound::runner {

/// Answer of a request that has nothing to tell but its code.
struct NoAnswer {};

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

}  // namespace membound::runner
