// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/call_record.hpp"

#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

namespace membound::runner {
namespace {

constexpr std::array kWords = std::to_array<std::pair<CallKind, std::string_view>>(
    {{CallKind::kLaunch, "launch"},
     {CallKind::kCopyIn, "copy-in"},
     {CallKind::kCopyOut, "copy-out"},
     {CallKind::kCopyOnDevice, "copy-on-device"},
     {CallKind::kFill, "fill"},
     {CallKind::kAllocate, "allocate"},
     {CallKind::kFree, "free"},
     {CallKind::kCreateStream, "create-stream"},
     {CallKind::kDestroyStream, "destroy-stream"},
     {CallKind::kCreateEvent, "create-event"},
     {CallKind::kDestroyEvent, "destroy-event"},
     {CallKind::kRecordEvent, "record-event"},
     {CallKind::kStreamWaits, "stream-waits"},
     {CallKind::kElapsed, "elapsed"},
     {CallKind::kWaitStream, "wait-stream"},
     {CallKind::kWaitEvent, "wait-event"},
     {CallKind::kWaitDevice, "wait-device"},
     {CallKind::kFreeOfHost, "free-of-host"},
     {CallKind::kAskStream, "ask-stream"},
     {CallKind::kAskEvent, "ask-event"},
     {CallKind::kErrorCheck, "error-check"},
     {CallKind::kAllocateInOrder, "allocate-in-order"},
     {CallKind::kFreeInOrder, "free-in-order"},
     {CallKind::kBeginCapture, "begin-capture"},
     {CallKind::kEndCapture, "end-capture"},
     {CallKind::kInstantiateGraph, "instantiate-graph"},
     {CallKind::kLaunchGraph, "launch-graph"},
     {CallKind::kDestroyGraph, "destroy-graph"},
     {CallKind::kDestroyExecutable, "destroy-executable"}});

CallKind kind_from(std::string_view word) {
  for (const auto& [kind, text] : kWords)
    if (text == word) return kind;
  return CallKind::kNone;
}

}  // namespace

std::string_view to_string(CallKind kind) {
  for (const auto& [known, text] : kWords)
    if (known == kind) return text;
  return "";
}

std::string to_line(const Call& call) {
  nlohmann::json json = {
      {"call", to_string(call.kind)}, {"code", call.code},     {"waits", call.host_waits},
      {"stream", call.stream},        {"event", call.event},   {"second_event", call.second_event},
      {"address", call.address},      {"bytes", call.bytes},   {"kernel", call.kernel},
      {"start_ns", call.start_ns},    {"end_ns", call.end_ns}, {"non_blocking", call.non_blocking},
      {"arguments", call.arguments},  {"graph", call.graph}};
  if (call.kind == CallKind::kLaunch) {
    json["grid"] = call.grid;
    json["block"] = call.block;
    json["shared_bytes"] = call.shared_bytes;
  }
  for (const MemoryUse& use : call.uses) json["uses"].push_back({use.begin, use.end, use.writes});
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

base::Result<std::vector<Call>> calls_from_text(std::string_view text) {
  std::vector<Call> calls;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const auto json = nlohmann::json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(end + 1);
    Call call;
    try {
      call = {kind_from(json.at("call").get<std::string>()),
              json.at("code"),
              json.at("waits"),
              json.at("stream"),
              json.at("event"),
              json.at("second_event"),
              json.at("address"),
              json.at("bytes"),
              json.at("kernel"),
              json.at("start_ns"),
              json.at("end_ns"),
              json.at("non_blocking"),
              json.at("arguments").get<std::vector<std::uint64_t>>(),
              json.at("graph"),
              {}};
      for (const auto& use : json.value("uses", nlohmann::json::array()))
        call.uses.push_back({use.at(0), use.at(1), use.at(2)});
      if (call.kind == CallKind::kLaunch) {
        call.grid = json.at("grid");
        call.block = json.at("block");
        call.shared_bytes = json.at("shared_bytes");
      }
    } catch (const nlohmann::json::exception&) {
      call.kind = CallKind::kNone;
    }
    if (call.kind == CallKind::kNone)
      return base::Error{base::ErrorKind::kMachine, "a runner's record of calls",
                         "line " + std::to_string(calls.size() + 1) + " cannot be read",
                         "one call a line", "runner and test program of the same build"};
    calls.push_back(std::move(call));
  }
  return calls;
}

void CallRecorder::add(const Call& call) {
  ++count_;
  const std::string line = to_line(call);
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t now = write(fd_, left.data(), left.size());
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return;  // what is missing earns nothing
    left.remove_prefix(static_cast<std::size_t>(now));
  }
}

namespace {

struct Head {
  std::uint32_t kind = 0, payload_bytes = 0, answer_bytes = 0, is_end = 0;
  std::uint64_t copied_bytes = 0;
};

}  // namespace

void RequestLog::write_all(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t now = write(fd_, bytes.data(), bytes.size());
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return;  // what is missing earns nothing
    bytes = bytes.subspan(static_cast<std::size_t>(now));
  }
}

void RequestLog::add(const ServedRequest& request) {
  if (is_full_) return;
  bytes_ += sizeof(Head) + request.payload.size() + request.answer.size() + request.copied.size();
  is_full_ = bytes_ > kMostBytes;
  const Head head{request.kind, static_cast<std::uint32_t>(request.payload.size()),
                  static_cast<std::uint32_t>(request.answer.size()), is_full_ ? 1U : 0U,
                  request.copied.size()};
  write_all(std::as_bytes(std::span(&head, 1)));
  if (is_full_) return;
  write_all(request.payload);
  write_all(request.answer);
  write_all(request.copied);
}

base::Result<ServedRequests> requests_of(std::span<const std::byte> log) {
  ServedRequests requests;
  while (!log.empty()) {
    const auto take = [&](std::uint64_t bytes, std::span<const std::byte>& part) {
      if (bytes > log.size()) return false;
      part = log.first(bytes);
      log = log.subspan(bytes);
      return true;
    };
    std::span<const std::byte> start;
    Head head;
    ServedRequest request;
    if (take(sizeof head, start)) std::memcpy(&head, start.data(), sizeof head);
    if (!start.empty() && head.is_end != 0) {
      requests.is_whole = false;
      return requests;
    }
    if (start.empty() || !take(head.payload_bytes, request.payload) ||
        !take(head.answer_bytes, request.answer) || !take(head.copied_bytes, request.copied))
      return base::Error{base::ErrorKind::kMachine, "a runner's log of requests",
                         "entry " + std::to_string(requests.all.size() + 1) + " is cut off",
                         "whole entries", "look whether the disk or the memory is full"};
    request.kind = head.kind;
    requests.all.push_back(request);
  }
  return requests;
}

}  // namespace membound::runner
