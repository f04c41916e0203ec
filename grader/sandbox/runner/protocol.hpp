// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Frames and their content: a request or an answer to bytes and back, every number of the other
/// side checked before it is used.
/// Place in the chain: client, server -> [protocol] -> messages, wire. Left out: the socket
/// (channel.hpp).
///
/// A frame is a header of 16 bytes and `length` bytes of payload. Requests and answers alternate:
/// an answer carries the sequence number of its request, so that none can be given twice or early.
///   | magic + version | length | sequence | kind |      four 32-bit numbers
/// `kind` is the request's number; an answer sets its highest bit and starts with the CUDA code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/runner/messages.hpp"
#include "grader/sandbox/runner/wire.hpp"

namespace membound::runner {

/// "MBR" and the version: both sides come from the same build, so another version is an error.
inline constexpr std::uint32_t kMagic = 0x0152424DU;
inline constexpr std::uint32_t kAnswerBit = 0x80000000U;
/// Largest payload of a frame; bulk data is in the shared buffer.
inline constexpr std::uint32_t kMaxPayloadBytes = 1U << 20;
/// Size of the shared buffer; larger copies go in pieces.
inline constexpr std::uint64_t kSharedBytes = std::uint64_t{16} << 20;
/// Uploads up to this size travel in the request.
inline constexpr std::size_t kInlineBytes = 4096;
inline constexpr std::size_t kMaxBatch = 256;
/// Most ranges of one TouchedAnswer.
inline constexpr std::size_t kMaxRanges = 1 << 15;
/// CUDA's own limit on the parameters of a kernel from compute capability 7.0 on.
inline constexpr std::uint32_t kMaxParameterBytes = 32764;

/// The first 16 bytes of a frame.
struct FrameHeader {
  std::uint32_t magic = kMagic, length = 0, sequence = 0, kind = 0;
};
inline constexpr std::size_t kHeaderBytes = 16;

/// The header in `bytes`, or what is wrong with it.
[[nodiscard]] base::Result<FrameHeader> decode_header(std::span<const std::byte> bytes);

/// A whole frame.
[[nodiscard]] std::vector<std::byte> encode_frame(std::uint32_t sequence, std::uint32_t kind,
                                                  std::span<const std::byte> payload);

/// The request's number on the wire.
template <typename T>
[[nodiscard]] constexpr std::uint32_t kind_of() {
  std::uint32_t kind = 0;
  [&]<typename... All>(const std::variant<All...>*) {
    static_cast<void>(((std::is_same_v<T, All> ? true : (++kind, false)) || ...));
  }(static_cast<const Request*>(nullptr));
  return kind;
}

/// Number and fields, as a Batch holds them.
[[nodiscard]] std::vector<std::byte> encode_for_batch(const Request& request);
/// One element of a Batch; also says whether it may stand there.
[[nodiscard]] base::Result<Request> decode_from_batch(std::span<const std::byte> bytes);

/// The payload of a request's frame.
[[nodiscard]] std::vector<std::byte> encode(const Request& request);
/// The request of that number with these fields and nothing more.
[[nodiscard]] base::Result<Request> decode_request(std::uint32_t kind,
                                                   std::span<const std::byte> payload);

/// "request Launch" for messages; the number for one that does not exist.
[[nodiscard]] std::string name_of(std::uint32_t kind);

/// The payload of an answer's frame.
template <typename Answer>
[[nodiscard]] std::vector<std::byte> encode_answer(std::int32_t code, const Answer& answer) {
  Writer writer;
  writer(code);
  writer(answer);
  return writer.take();
}

/// An answer: the CUDA code, and fields that only mean something when it is 0.
template <typename Answer>
struct Decoded {
  std::int32_t code = 0;
  Answer answer;
};

/// Nothing when the bytes are not exactly such an answer or break a rule of check_answer().
template <typename Answer>
[[nodiscard]] std::optional<Decoded<Answer>> decode_answer(std::span<const std::byte> payload);

/// Rules beyond the form: parameters in order and within CUDA's limit, and so on.
[[nodiscard]] bool check_answer(const ModuleAnswer& answer);
[[nodiscard]] bool check_answer(const ReportAnswer& answer);
[[nodiscard]] bool check_answer(const TouchedAnswer& answer);
template <typename Answer>
[[nodiscard]] bool check_answer(const Answer&) {
  return true;
}

template <typename Answer>
std::optional<Decoded<Answer>> decode_answer(std::span<const std::byte> payload) {
  Decoded<Answer> decoded;
  Reader reader(payload);
  reader(decoded.code);
  reader(decoded.answer);
  if (!reader.finished() || !check_answer(decoded.answer)) return std::nullopt;
  return decoded;
}

/// Bytes that a kernel's parameters take in a launch.
[[nodiscard]] std::uint32_t parameter_bytes(const KernelInfo& kernel);

}  // namespace membound::runner
