// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the server that has to do with device memory, and with launches timed by some of
/// their blocks, whose arrays are drawn where they are touched.
#include <algorithm>
#include <cstring>

#include "grader/base/drawn_input.hpp"
#include "grader/sandbox/runner/protocol.hpp"
#include "grader/sandbox/runner/server.hpp"
#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {
namespace {

/// Whether the shared buffer has all of these bytes.
bool is_shared(std::uint64_t at, std::uint64_t bytes) {
  return at <= kSharedBytes && bytes <= kSharedBytes - at;
}

}  // namespace

cudaError_t Server::handle(const AskMemory&, MemoryAnswer& answer) {
  std::size_t free_bytes = 0, total_bytes = 0;
  const cudaError_t code = cudaMemGetInfo(&free_bytes, &total_bytes);
  answer = {free_bytes + memory_.kept_bytes(), total_bytes};
  return code;
}

cudaError_t Server::handle(const Allocate& request, AddressAnswer& answer) {
  if (!allocations_.fits(request.bytes)) return cudaErrorMemoryAllocation;
  void* data = nullptr;
  if (const cudaError_t code = memory_.allocate(request.bytes, data); code != cudaSuccess)
    return code;
  answer.address = reinterpret_cast<std::uintptr_t>(data);
  if (data != nullptr) allocations_.add(answer.address, request.bytes);
  return cudaSuccess;
}

cudaError_t Server::handle(const Free& request, NoAnswer&) {
  if (request.address == 0) return cudaSuccess;
  const auto bytes = allocations_.remove(request.address);
  if (!bytes) return cudaErrorInvalidValue;
  return memory_.free(reinterpret_cast<void*>(request.address), *bytes);
}

cudaError_t Server::handle(const SetBytes& request, NoAnswer&) {
  if (!holds(request.address, request.bytes)) return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (request.bytes == 0) return cudaSuccess;
  return cudaMemsetAsync(reinterpret_cast<void*>(request.address), request.value, request.bytes,
                         in);
}

cudaError_t Server::handle(const Upload& request, NoAnswer&) {
  if (!is_shared(request.at, request.bytes) || !holds(request.address, request.bytes))
    return cudaErrorInvalidValue;
  return cudaMemcpy(reinterpret_cast<void*>(request.address),
                    from_buffer(request.at, request.bytes), request.bytes, cudaMemcpyHostToDevice);
}

cudaError_t Server::handle(const UploadInline& request, NoAnswer&) {
  if (!holds(request.address, request.data.size())) return cudaErrorInvalidValue;
  return cudaMemcpy(reinterpret_cast<void*>(request.address), request.data.data(),
                    request.data.size(), cudaMemcpyHostToDevice);
}

cudaError_t Server::handle(const Download& request, NoAnswer&) {
  if (!is_shared(request.at, request.bytes) || !holds(request.address, request.bytes))
    return cudaErrorInvalidValue;
  const cudaError_t code = cudaMemcpy(room_for_copy(request.at, request.bytes),
                                      reinterpret_cast<const void*>(request.address), request.bytes,
                                      cudaMemcpyDeviceToHost);
  to_buffer(request.at, request.bytes);
  return code;
}

const std::byte* Server::from_buffer(std::uint64_t at, std::uint64_t bytes) {
  const std::byte* const start = buffer_->data() + at;
  if (log_ == nullptr) return start;
  copied_.assign(start, start + bytes);
  return copied_.data();
}

std::byte* Server::room_for_copy(std::uint64_t at, std::uint64_t bytes) {
  if (log_ == nullptr) return buffer_->data() + at;
  copied_.resize(bytes);
  return copied_.data();
}

void Server::to_buffer(std::uint64_t at, std::uint64_t bytes) {
  std::byte* const to = buffer_->data() + at;
  if (log_ != nullptr) std::copy(copied_.begin(), copied_.end(), to);
  if (changed_bits_ == 0) return;
  for (std::uint64_t done = 0; done + sizeof changed_bits_ <= bytes; done += sizeof changed_bits_) {
    std::uint32_t word = 0;
    std::memcpy(&word, to + done, sizeof word);
    word ^= changed_bits_;
    std::memcpy(to + done, &word, sizeof word);
  }
}

cudaError_t Server::handle(const CopyOnDevice& request, NoAnswer&) {
  if (!holds(request.to, request.bytes) || !holds(request.from, request.bytes))
    return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (request.bytes == 0) return cudaSuccess;
  return cudaMemcpyAsync(reinterpret_cast<void*>(request.to),
                         reinterpret_cast<const void*>(request.from), request.bytes,
                         cudaMemcpyDeviceToDevice, in);
}

bool Server::holds(std::uint64_t address, std::uint64_t bytes) const {
  // Of nothing there is enough everywhere: programs copy 0 bytes to where 0 bytes were allocated.
  return bytes == 0 || allocations_.contain(address, bytes) ||
         std::any_of(variables_.begin(), variables_.end(),
                     [&](const auto& one) { return one.second.contain(address, bytes); });
}

cudaError_t Server::handle(const AllocateArray& request, ArrayAnswer& answer) {
  // A whole program has the messages that tell it how to do without (forward_memory_api.cpp).
  if (recorder_ != nullptr) return cudaErrorNotSupported;
  constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 31;
  const bool is_picture =
      request.width != 0 && request.height != 0 && request.width <= kMostPixels / request.height;
  if (!is_picture) return cudaErrorInvalidValue;
  std::uint64_t bytes = request.width * request.height * sizeof(float);
  for (const auto& [index, each] : pictures_) bytes += each.width * each.height * sizeof(float);
  if (!allocations_.fits(bytes)) return cudaErrorMemoryAllocation;
  Picture picture{nullptr, request.width, request.height};
  const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
  const cudaError_t code =
      cudaMallocArray(&picture.array, &floats, request.width, request.height, 0);
  if (code != cudaSuccess) return code;
  answer.array = next_picture_++;
  pictures_.emplace(answer.array, picture);
  return cudaSuccess;
}

cudaError_t Server::handle(const FreeArray& request, NoAnswer&) {
  const auto found = pictures_.find(request.array);
  if (found == pictures_.end()) return cudaErrorInvalidValue;
  const cudaError_t code = cudaFreeArray(found->second.array);
  pictures_.erase(found);
  return code;
}

cudaError_t Server::handle(const FillArray& request, NoAnswer&) {
  const auto found = pictures_.find(request.array);
  if (found == pictures_.end()) return cudaErrorInvalidValue;
  const Picture& picture = found->second;
  const std::uint64_t row_bytes = picture.width * sizeof(float);
  if (!holds(request.from, row_bytes * picture.height)) return cudaErrorInvalidValue;
  return cudaMemcpy2DToArray(picture.array, 0, 0, reinterpret_cast<const void*>(request.from),
                             row_bytes, row_bytes, picture.height, cudaMemcpyDeviceToDevice);
}

cudaError_t Server::handle(const CreateTexture& request, TextureAnswer& answer) {
  const auto found = pictures_.find(request.array);
  if (found == pictures_.end()) return cudaErrorInvalidValue;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = found->second.array;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t object = 0;
  const cudaError_t code = cudaCreateTextureObject(&object, &resource, &how, nullptr);
  if (code != cudaSuccess) return code;
  textures_.insert(object);
  answer.handle = object;
  return cudaSuccess;
}

cudaError_t Server::handle(const DestroyTexture& request, NoAnswer&) {
  if (textures_.erase(request.handle) == 0) return cudaErrorInvalidValue;
  return cudaDestroyTextureObject(request.handle);
}

std::uint64_t scrub_device() {
  if (!virtual_gpu_name().empty()) return 0;
  std::vector<void*> blocks;
  std::uint64_t scrubbed = 0;
  // Large blocks first: what is left between them is taken by smaller ones.
  for (std::size_t bytes = std::size_t{1} << 32; bytes >= std::size_t{1} << 21; bytes >>= 1) {
    void* block = nullptr;
    while (cudaMalloc(&block, bytes) == cudaSuccess) {
      blocks.push_back(block);
      if (cudaMemset(block, 0, bytes) == cudaSuccess) scrubbed += bytes;
    }
    static_cast<void>(cudaGetLastError());
  }
  static_cast<void>(cudaDeviceSynchronize());
  for (void* block : blocks) static_cast<void>(cudaFree(block));
  return scrubbed;
}

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
