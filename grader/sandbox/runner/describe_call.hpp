// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A request and its answer as a line of the record. Requests that say nothing about what a program
/// does with its device (questions, modules) give a Call of kind kNone.
/// Place in the chain: server -> [describe_call] -> call_record.
#pragma once

#include "grader/sandbox/runner/call_record.hpp"
#include "grader/sandbox/runner/messages.hpp"

namespace membound::runner {

template <typename Query, typename Answer>
[[nodiscard]] Call describe(const Query&, const Answer&) {
  return {};
}
// The kernel's name and what its parameters point to are for the server to fill in.
inline Call describe(const Launch& q, const NoAnswer&) {
  return {.kind = CallKind::kLaunch, .stream = q.stream};
}
inline Call describe(const Allocate& q, const AddressAnswer& a) {
  return {.kind = CallKind::kAllocate, .address = a.address, .bytes = q.bytes};
}
inline Call describe(const Free& q, const NoAnswer&) {
  return {.kind = CallKind::kFree, .address = q.address};
}
inline Call describe(const SetBytes& q, const NoAnswer&) {
  return {.kind = CallKind::kFill, .stream = q.stream, .address = q.address, .bytes = q.bytes};
}
inline Call describe(const Upload& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyIn, .host_waits = true, .address = q.address, .bytes = q.bytes};
}
inline Call describe(const UploadInline& q, const NoAnswer&) {
  return {
      .kind = CallKind::kCopyIn, .host_waits = true, .address = q.address, .bytes = q.data.size()};
}
inline Call describe(const Download& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyOut, .host_waits = true, .address = q.address, .bytes = q.bytes};
}
inline Call describe(const CopyIn& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyIn,
          .host_waits = q.pinned == 0,
          .stream = q.stream,
          .address = q.address,
          .bytes = q.bytes};
}
inline Call describe(const CopyOut& q, const TicketAnswer&) {
  return {.kind = CallKind::kCopyOut,
          .host_waits = q.pinned == 0,
          .stream = q.stream,
          .address = q.address,
          .bytes = q.bytes};
}
inline Call describe(const CopyOnDevice& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyOnDevice,
          .stream = q.stream,
          .address = q.to,
          .bytes = q.bytes,
          .arguments = {q.from}};
}
inline Call describe(const CreateStream& q, const StreamAnswer& a) {
  return {.kind = CallKind::kCreateStream,
          .stream = a.stream,
          .non_blocking = (q.flags & cudaStreamNonBlocking) != 0};
}
inline Call describe(const DestroyStream& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyStream, .stream = q.stream};
}
inline Call describe(const CreateEvent&, const EventAnswer& a) {
  return {.kind = CallKind::kCreateEvent, .event = a.event};
}
inline Call describe(const DestroyEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyEvent, .event = q.event};
}
inline Call describe(const RecordEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kRecordEvent, .stream = q.stream, .event = q.event};
}
inline Call describe(const StreamWaitsForEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kStreamWaits, .stream = q.stream, .event = q.event};
}
inline Call describe(const AskElapsed& q, const ElapsedAnswer& a) {
  constexpr double kNsPerMs = 1e6;
  return {.kind = CallKind::kElapsed,
          .event = q.start,
          .second_event = q.stop,
          .end_ns = a.milliseconds * kNsPerMs};
}
inline Call describe(const WaitForStream& q, const NoAnswer&) {
  return {.kind = CallKind::kWaitStream, .host_waits = true, .stream = q.stream};
}
inline Call describe(const WaitForEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kWaitEvent, .host_waits = true, .event = q.event};
}
inline Call describe(const AskStream& q, const NoAnswer&) {
  return {.kind = CallKind::kAskStream, .stream = q.stream};
}
inline Call describe(const AskEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kAskEvent, .event = q.event};
}
inline Call describe(const Synchronize&, const NoAnswer&) {
  return {.kind = CallKind::kWaitDevice, .host_waits = true};
}
inline Call describe(const FreeOfHost&, const NoAnswer&) {
  return {.kind = CallKind::kFreeOfHost, .host_waits = true};
}
inline Call describe(const AllocateAsync& q, const AddressAnswer& a) {
  return {.kind = CallKind::kAllocateInOrder,
          .stream = q.stream,
          .address = a.address,
          .bytes = q.bytes};
}
// How many bytes those are is for the server to fill in.
inline Call describe(const FreeAsync& q, const NoAnswer&) {
  return {.kind = CallKind::kFreeInOrder, .stream = q.stream, .address = q.address};
}
inline Call describe(const BeginCapture& q, const NoAnswer&) {
  return {.kind = CallKind::kBeginCapture, .stream = q.stream};
}
inline Call describe(const EndCapture& q, const GraphAnswer& a) {
  return {.kind = CallKind::kEndCapture, .stream = q.stream, .graph = a.graph};
}
inline Call describe(const InstantiateGraph&, const GraphAnswer& a) {
  return {.kind = CallKind::kInstantiateGraph, .graph = a.graph};
}
inline Call describe(const LaunchGraph& q, const NoAnswer&) {
  return {.kind = CallKind::kLaunchGraph, .stream = q.stream, .graph = q.executable};
}
inline Call describe(const DestroyGraph& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyGraph, .graph = q.graph};
}
inline Call describe(const DestroyExecutable& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyExecutable, .graph = q.executable};
}
inline Call describe(const NoteErrorCheck&, const NoAnswer&) {
  return {.kind = CallKind::kErrorCheck};
}

}  // namespace membound::runner
