// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/state/missed_array.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::Allocation;

/// So near an address belongs to the nearest array, whatever a parameter points to.
constexpr std::uint64_t kNearBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kFarBytes = std::uint64_t{1} << 30;
/// An index of 32 bits and an element of 16 bytes lead no further.
constexpr std::uint64_t kReachBytes = std::uint64_t{1} << 36;
constexpr std::uint64_t kWrapElements = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostWraps = 8;

std::uint64_t distance(const Allocation& array, std::uint64_t address) {
  const std::uint64_t end = array.address + array.size_bytes;
  return address < array.address ? array.address - address : address < end ? 0 : address - end;
}

bool holds(const Allocation& array, std::uint64_t address) {
  return address - array.address < array.size_bytes;
}

/// What the kernel's parameters, words of 8 bytes, point to.
struct Pointers {
  std::vector<Allocation> arrays;
  std::vector<std::uint64_t> others;  ///< what may be pointers, and point to no array
};

Pointers pointers_of(const LaunchRequest& request) {
  Pointers found;
  for (std::size_t at = 0; at + 8 <= request.parameters.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, request.parameters.data() + at, sizeof word);
    if (word < kNullPage) continue;
    if (auto array = request.memory->find(word))
      found.arrays.push_back(*std::move(array));
    else
      found.others.push_back(word);
  }
  return found;
}

/// Does the address lie where an index into `array` leads that has wrapped?
std::optional<Miss> wrap_into(const Allocation& array, std::uint64_t address,
                              std::uint32_t access_bytes) {
  for (std::uint64_t element : {std::uint64_t{access_bytes}, std::uint64_t{1}, std::uint64_t{2},
                                std::uint64_t{4}, std::uint64_t{8}, std::uint64_t{16}}) {
    const std::uint64_t wrap = kWrapElements * element;
    // No index into a smaller one reaches 2^31.
    if (array.size_bytes > wrap / 2)
      for (std::uint64_t times = 1; times <= kMostWraps; ++times)
        if (holds(array, address + times * wrap)) return Miss::kWrapped;
    const std::uint64_t below = array.address - (address - wrap);
    if (address > array.address && below != 0 && below <= kNearBytes) return Miss::kBelowZero;
  }
  return std::nullopt;
}

const Allocation* nearest_of(const std::vector<Allocation>& arrays, std::uint64_t address) {
  const auto nearer = [&](const Allocation& one, const Allocation& other) {
    return distance(one, address) < distance(other, address);
  };
  const auto found = std::min_element(arrays.begin(), arrays.end(), nearer);
  return found == arrays.end() ? nullptr : &*found;
}

/// Is what a parameter holds, and no array, nearer?
bool is_from_elsewhere(const Pointers& pointers, std::uint64_t address, std::uint64_t bytes) {
  return std::any_of(pointers.others.begin(), pointers.others.end(), [&](std::uint64_t other) {
    return (address > other ? address - other : other - address) < bytes;
  });
}

}  // namespace

std::optional<MissedArray> missed_array(const Warp& w, const WarpAccess& access,
                                        std::uint32_t lane) {
  const std::uint64_t address = access.addresses[lane];
  const memory::AddressSpace& space = *w.launch->request->memory;
  if (address < kNullPage) return std::nullopt;
  const auto near = space.nearest(address);
  if (!near) return std::nullopt;
  const std::uint64_t apart = distance(*near, address);
  const Pointers pointers = pointers_of(*w.launch->request);
  const std::vector<Allocation> likely = pointers.arrays.empty() ? space.live() : pointers.arrays;
  for (const Allocation& array : likely)
    if (const auto miss = wrap_into(array, address, access.bytes)) return MissedArray{array, *miss};
  if (apart < kNearBytes && !is_from_elsewhere(pointers, address, apart))
    return MissedArray{*near, Miss::kNear};
  const Allocation* const best = nearest_of(likely, address);
  const std::uint64_t most = distance(*best, address);
  const bool is_likely = !pointers.arrays.empty() && most <= kReachBytes &&
                         !is_from_elsewhere(pointers, address, most);
  if (is_likely) return MissedArray{*best, most < kFarBytes ? Miss::kNear : Miss::kFar};
  if (!space.is_device_address(address)) return std::nullopt;
  return MissedArray{*near, Miss::kNear};
}

std::string where_from(const Allocation& array, std::uint64_t address) {
  const std::uint64_t end = array.address + array.size_bytes;
  const auto bytes = [](std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " byte " : " bytes ");
  };
  if (address == end) return "right after ";
  if (address > end) return bytes(address - end) + "past the end of ";
  if (address < array.address) return bytes(array.address - address) + "before ";
  return "across the end of ";
}

std::string name_of_array(const Warp& w, const WarpAccess& access, std::uint32_t lane) {
  const std::uint64_t address = access.addresses[lane];
  if (access.space == ptx::StateSpace::kShared) return name_of_shared(w, address);
  if (access.space != ptx::StateSpace::kGlobal) return "local memory";
  const memory::AddressSpace& space = *w.launch->request->memory;
  const auto number = [](const Allocation& array) { return std::to_string(array.serial); };
  if (const auto held = space.find(address)) return number(*held);
  if (const auto freed = space.find_freed(address)) return number(*freed);
  const auto missed = missed_array(w, access, lane);
  return missed ? number(missed->array) : "";
}

}  // namespace membound::vgpu::exec
