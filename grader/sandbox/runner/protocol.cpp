// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/protocol.hpp"

#include <utility>

namespace membound::runner {
namespace {

template <typename... All>
std::string_view name_in(std::uint32_t kind, const std::variant<All...>*) {
  constexpr std::string_view kNames[] = {type_name<All>()...};
  return kind < std::size(kNames) ? kNames[kind] : "";
}

base::Error broken(std::string found, std::string expected) {
  return {base::ErrorKind::kMachine, "a message between judge and runner", std::move(found),
          std::move(expected), "judge and runner of the same build"};
}

template <std::size_t... index>
bool read_fields(std::uint32_t kind, Reader& reader, Request& request,
                 std::index_sequence<index...>) {
  const auto one = [&]<std::size_t i>() {
    if (kind != i) return false;
    reader(request.emplace<i>());
    return true;
  };
  return (one.template operator()<index>() || ...);
}

constexpr auto kAllRequests = std::make_index_sequence<std::variant_size_v<Request>>{};

}  // namespace

std::string name_of(std::uint32_t kind) {
  const std::string_view name = name_in(kind, static_cast<const Request*>(nullptr));
  return name.empty() ? "request number " + std::to_string(kind) : "request " + std::string(name);
}

base::Result<FrameHeader> decode_header(std::span<const std::byte> bytes) {
  FrameHeader header;
  Reader reader(bytes);
  reader(header);
  if (!reader.finished())
    return broken("a header of " + std::to_string(bytes.size()) + " bytes",
                  std::to_string(kHeaderBytes) + " bytes");
  if (header.magic != kMagic)
    return broken("a frame that starts with " + std::to_string(header.magic),
                  std::to_string(kMagic) + ", this build's version");
  if (header.length > kMaxPayloadBytes)
    return broken("a frame of " + std::to_string(header.length) + " bytes",
                  "at most " + std::to_string(kMaxPayloadBytes));
  return header;
}

std::vector<std::byte> encode_frame(std::uint32_t sequence, std::uint32_t kind,
                                    std::span<const std::byte> payload) {
  Writer writer;
  writer(FrameHeader{kMagic, static_cast<std::uint32_t>(payload.size()), sequence, kind});
  writer.raw(payload);
  return writer.take();
}

std::vector<std::byte> encode(const Request& request) {
  Writer writer;
  std::visit([&](const auto& one) { writer(one); }, request);
  return writer.take();
}

base::Result<Request> decode_request(std::uint32_t kind, std::span<const std::byte> payload) {
  Request request;
  Reader reader(payload);
  if (!read_fields(kind, reader, request, kAllRequests))
    return broken(name_of(kind), "one of the requests of messages.hpp");
  if (!reader.finished())
    return broken(name_of(kind) + " with " + std::to_string(payload.size()) + " bytes",
                  "exactly its fields");
  return request;
}

std::vector<std::byte> encode_for_batch(const Request& request) {
  Writer writer;
  writer(static_cast<std::uint32_t>(request.index()));
  std::visit([&](const auto& one) { writer(one); }, request);
  return writer.take();
}

base::Result<Request> decode_from_batch(std::span<const std::byte> bytes) {
  std::uint32_t kind = 0;
  if (bytes.size() < sizeof(kind)) return broken("a batch with an empty entry", "requests");
  Reader reader(bytes.first(sizeof(kind)));
  reader(kind);
  auto request = decode_request(kind, bytes.subspan(sizeof(kind)));
  if (!request) return request;
  const bool allowed = std::visit([]<typename T>(const T&) { return kMayBeBatched<T>; }, *request);
  if (!allowed) return broken(name_of(kind) + " in a batch", "a request that only has a code");
  return request;
}

std::uint32_t parameter_bytes(const KernelInfo& kernel) {
  if (kernel.parameters.empty()) return 0;
  return kernel.parameters.back().offset_bytes + kernel.parameters.back().size_bytes;
}

bool check_answer(const ModuleAnswer& answer) {
  for (const KernelInfo& kernel : answer.kernels) {
    std::uint64_t end = 0;
    for (const Parameter& parameter : kernel.parameters) {
      if (parameter.offset_bytes < end || parameter.size_bytes == 0) return false;
      end = std::uint64_t{parameter.offset_bytes} + parameter.size_bytes;
      if (end > kMaxParameterBytes) return false;
    }
    if (kernel.name.empty() || kernel.name.find('\0') != std::string::npos) return false;
  }
  return answer.kernels.size() <= UINT32_MAX - answer.first_kernel;
}

bool check_answer(const ReportAnswer& answer) { return answer.bytes <= kSharedBytes; }

bool check_answer(const TouchedAnswer& answer) {
  std::uint64_t end = 0, room = kSharedBytes;
  for (const auto& [offset, bytes] : answer.ranges) {
    // The last chunk of an array may be short; whoever knows its size looks at that.
    if (offset < end || offset % kChunkBytes != 0 || bytes == 0 || bytes > room) return false;
    if (offset > UINT64_MAX - bytes) return false;
    end = offset + bytes;
    room -= bytes;
  }
  return answer.more == 0 || !answer.ranges.empty();
}

}  // namespace membound::runner
