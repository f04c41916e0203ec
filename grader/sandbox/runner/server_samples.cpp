// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The requests by which a launch is timed by some of its blocks.
#include <algorithm>
#include <cstring>

#include "grader/base/drawn_input.hpp"
#include "grader/sandbox/runner/protocol.hpp"
#include "grader/sandbox/runner/server.hpp"
#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {

bool Server::can_be_drawn(std::uint64_t address) const {
  return recorder_ == nullptr && allocations_.all().contains(address);
}

cudaError_t Server::handle(const SampleLaunches& request, NoAnswer&) {
  if (recorder_ != nullptr || !sample_virtual_launches(request)) return cudaErrorNotSupported;
  return cudaSuccess;
}

cudaError_t Server::handle(const DrawWord& request, NoAnswer&) {
  if (!can_be_drawn(request.address)) return cudaErrorInvalidValue;
  return draw_virtual_word(request.address, request.word) ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t Server::handle(const DrawInput& request, NoAnswer&) {
  const base::Draw& how = request.how;
  if (!can_be_drawn(request.address) || request.type >= base::kElementTypes || how.low > how.high)
    return cudaErrorInvalidValue;
  return draw_virtual_input(request) ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t Server::handle(const AskAsDrawn& request, AsDrawnAnswer& answer) {
  const auto is_as_drawn = is_virtual_input_as_drawn(request.address);
  if (!can_be_drawn(request.address) || !is_as_drawn) return cudaErrorInvalidValue;
  answer.is_as_drawn = *is_as_drawn ? 1 : 0;
  return cudaSuccess;
}

cudaError_t Server::handle(const AskTouched& request, TouchedAnswer& answer) {
  if (!can_be_drawn(request.address)) return cudaErrorInvalidValue;
  std::uint64_t used = 0;
  const auto see = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    if (answer.more != 0 || offset + bytes.size() <= request.from) return;
    if (offset < request.from) {
      bytes = bytes.subspan(request.from - offset);
      offset = request.from;
    }
    const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), kSharedBytes - used);
    answer.more = count < bytes.size() || answer.ranges.size() + 1 == kMaxRanges ? 1 : 0;
    if (count == 0) return;
    std::memcpy(buffer_->data() + used, bytes.data(), count);
    answer.ranges.push_back({offset, count});
    used += count;
  };
  return each_virtual_touched(request.address, see) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace membound::runner
