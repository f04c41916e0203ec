// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fuzz target: what a hostile runner may send the judge, and a hostile judge a runner. Any bytes
/// give a message or are refused; a message is written back as the same bytes.
#include <cstddef>
#include <cstdint>
#include <span>

#include "grader/base/result.hpp"
#include "grader/sandbox/runner/protocol.hpp"
#include "grader/sandbox/runner/runner_limits.hpp"

namespace {

using namespace membound::runner;

template <typename Answer>
void try_answer(std::span<const std::byte> bytes) {
  if (const auto decoded = decode_answer<Answer>(bytes)) {
    const std::vector<std::byte> again = encode_answer(decoded->code, decoded->answer);
    MEMBOUND_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  static_cast<void>(decode_header(bytes.first(std::min(size, kHeaderBytes))));
  const auto request = decode_request(data[0], bytes.subspan(1));
  if (request) {
    const std::vector<std::byte> again = encode(*request);
    MEMBOUND_CHECK(std::equal(again.begin(), again.end(), bytes.begin() + 1, bytes.end()));
    if (const auto* launch = std::get_if<Launch>(&*request))
      static_cast<void>(launch_is_legal(*launch, {"k", {{0, 8}}}, {}));
    if (const auto* batch = std::get_if<Batch>(&*request))
      for (const auto& one : batch->requests) static_cast<void>(decode_from_batch(one));
  }
  try_answer<TouchedAnswer>(bytes);
  try_answer<ModuleAnswer>(bytes);
  try_answer<DeviceAnswer>(bytes);
  try_answer<CodesAnswer>(bytes);
  try_answer<AttributesAnswer>(bytes);
  try_answer<ReportAnswer>(bytes);
  return 0;
}
