// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/state/fault_messages.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

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

namespace {

const char* verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad:
      return "read";
    case AccessKind::kStore:
      return "write";
    default:
      return "atomic access";
  }
}

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

bool has_word(const program::Instruction& in, std::string_view word) {
  return in.mnemonic.find(word) != std::string_view::npos;
}

bool is_bulk_copy(const program::Instruction& in) {
  return in.opcode == program::Opcode::kCpAsync && has_word(in, ".bulk");
}

bool is_cluster_barrier(const program::Instruction& in) {
  return in.opcode == program::Opcode::kBarrier && has_word(in, ".cluster");
}

/// What the virtual GPU lacks for it, and the way out.
std::string_view what_it_would_take(const program::Instruction& in) {
  using program::Opcode;
  if (in.unit == program::Unit::kTensor)
    return "it would take a model of the tensor cores' fragment layouts and rounding. "
           "Use ordinary fma code, or run this kernel on a GPU";
  if (is_bulk_copy(in) || in.opcode == Opcode::kTensormap)
    return "it would take more of the tensor memory accelerator than copies in one dimension. Copy "
           "with cp.async "
           "(cuda::memcpy_async of a thread), compile for an older GPU, whose libraries do without "
           "it (nvcc -arch=compute_80), or run this kernel on a GPU";
  switch (in.opcode) {
    case Opcode::kMapa:
    case Opcode::kGetctarank:
    case Opcode::kClusterlaunchcontrol:
    case Opcode::kBarrier:
      return "it would take a model of thread block clusters. Run this kernel on a GPU";
    case Opcode::kMov:
      return "what it reads is not modelled, such as the reserved shared memory in which "
             "cooperative "
             "groups' tiles of more than 32 threads meet. Use tiles of at most 32 threads and "
             "__syncthreads(), or run this kernel on a GPU";
    case Opcode::kMultimem:
      return "it would take several GPUs. Run this kernel on them";
    case Opcode::kIstypep:
      return "it would take texture references, which CUDA 12 removed. Use texture objects";
    case Opcode::kTex:
    case Opcode::kTld4:
      return "a sampler apart from its texture, multisampling and gradients in three dimensions "
             "are not modelled. Use a texture object, or run this kernel on a GPU";
    default:
      break;
  }
  if (program::info_of(in.opcode).section == "Video Instructions")
    return "it would take its byte selectors and merging. Write the same with ordinary integer "
           "code or CUDA's SIMD intrinsics, or run this kernel on a GPU";
  return "compile for compute_80 or run this kernel on a GPU";
}

}  // namespace

std::string hex(std::uint64_t value) {
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string describe(const memory::Allocation& allocation) {
  using memory::AllocationKind;
  std::string text = "the " + bytes_text(allocation.size_bytes) + " at " + hex(allocation.address) +
                     " (allocation " + std::to_string(allocation.serial);
  const AllocationKind kind = allocation.info.kind;
  if (kind == AllocationKind::kManaged) text += ", managed array";
  if (kind == AllocationKind::kHost) text += ", pinned array";
  if (kind == AllocationKind::kManagedVariable) text += ", managed variable";
  if (allocation.info.name.empty()) return text + ")";
  const bool is_array = kind == AllocationKind::kManaged || kind == AllocationKind::kHost;
  text += is_array ? " of " : kind == AllocationKind::kManagedVariable ? " " : ", ";
  return text + allocation.info.name + ")";
}

namespace {

/// The address in its space, and what lies there.
std::string place_in_memory(const Warp& w, const WarpAccess& access, std::uint64_t address) {
  if (access.space == ptx::StateSpace::kShared) return describe_shared(w, address);
  if (access.space == ptx::StateSpace::kLocal)
    return "local-memory offset " + std::to_string(address);
  const auto held = w.launch->request->memory->find(address);
  return hex(address) + (held ? ", in " + describe(*held) : "");
}

/// An array of shared memory that itself begins where the access may not.
bool array_is_misaligned(const Warp& w, const WarpAccess& access, std::uint64_t address) {
  return access.space == ptx::StateSpace::kShared &&
         begin_of_shared(w, address) % alignment_of(access.bytes) != 0;
}

}  // namespace

std::string describe_bad_access(const Warp& w, const WarpAccess& access, FaultKind kind,
                                std::uint32_t lane) {
  const std::uint64_t address = access.addresses[lane];
  const std::string what = std::string(verb(access.kind)) + " of " + bytes_text(access.bytes);
  if (kind == FaultKind::kMisalignedAddress)
    return what + " at " + place_in_memory(w, access, address) +
           (array_is_misaligned(w, access, address) ? ", which begins at no multiple of "
                                                    : ", which is not a multiple of ") +
           std::to_string(alignment_of(access.bytes));
  if (const auto owner = other_owner(access, lane)) {
    const LaunchRequest& request = *w.launch->request;
    return what + " in the local memory of thread " + triple(request.block.index(owner->thread)) +
           " of block " + triple(request.grid.index(owner->block));
  }
  if (access.space == ptx::StateSpace::kShared) return what + " at " + describe_shared(w, address);
  if (access.space == ptx::StateSpace::kLocal)
    return what + " at local-memory offset " + std::to_string(address) + "; the thread has " +
           bytes_text(w.launch->precise
                          ? w.frame->local_base +
                                w.launch->code[w.frame->function].function->frame_bytes +
                                w.frame->alloca_bytes
                          : w.local_stride);
  const memory::AddressSpace& space = *w.launch->request->memory;
  if (const auto freed = space.find_freed(address))
    return what + " at " + hex(address) + ", inside " + describe(*freed) + ", which was freed";
  const auto missed = missed_array(w, access, lane);
  if (missed) {
    std::string text = what + " at " + hex(address) + ", " + where_from(missed->array, address) +
                       describe(missed->array);
    if (missed->miss == Miss::kWrapped) text += "; the index has 32 bits and wrapped";
    if (missed->miss == Miss::kBelowZero)
      text += "; the index is unsigned, has 32 bits, went below 0 and wrapped";
    return text;
  }
  if (!space.is_device_address(address))
    return what + " at " + hex(address) +
           (address < kNullPage ? ", a null pointer" : ", which is no address of the device");
  return what + " at " + hex(address) + "; nothing is allocated";
}

std::string describe_loop(const Warp& w, const Step* at) {
  const Frame* frame = w.groups[w.current].frame;
  while (true) {
    const FunctionCode& code = w.launch->code[at->extra->function];
    const auto number = static_cast<std::uint32_t>(at - code.begin);
    if (const auto loop = program::loop_around(*code.function, number)) {
      const auto [first, last] = *loop;
      if (first == last) return "the loop in line " + std::to_string(first);
      return "the loop of lines " + std::to_string(first) + " to " + std::to_string(last);
    }
    if (frame == nullptr || frame->caller == nullptr) return "a loop";
    at = frame->return_to - 1;
    frame = frame->caller;
  }
}

std::string describe_unsupported(const program::Instruction& in) {
  const program::OpcodeInfo& info = program::info_of(in.opcode);
  std::string text(in.mnemonic);
  text += " (";
  text += info.doc;
  text += ") is not supported by the virtual GPU";
  if (info.shape != program::Shape::kUnsupported && !is_bulk_copy(in) && !is_cluster_barrier(in))
    text += " in this form";
  return text.append("; ").append(what_it_would_take(in));
}

using ptx::StateSpace;

constexpr const char* kBelowZeroAdvice =
    "the index is below 0 here: leave out what lies before the first element";

std::string access_advice(const Warp& w, const WarpAccess& access, FaultKind kind,
                          std::uint32_t lane) {
  const std::string alignment = std::to_string(alignment_of(access.bytes));
  if (kind == FaultKind::kMisalignedAddress &&
      array_is_misaligned(w, access, access.addresses[lane]))
    return "declare the array with __align__(" + alignment +
           "): without it, it is aligned for its elements alone";
  if (kind == FaultKind::kMisalignedAddress)
    return "an access of " + std::to_string(access.bytes) + " bytes needs an address that is a " +
           "multiple of " + alignment +
           "; give vector types (int2, float4) only arrays and offsets that keep it so";
  if (other_owner(access, lane))
    return "hand over the value of a local variable, through shared memory or a shuffle, not its "
           "address: that leads every other thread into its own local memory";
  if (access.space == StateSpace::kShared && is_below_shared(access.addresses[lane]))
    return kBelowZeroAdvice;
  if (access.space == StateSpace::kShared)
    return "compare the index with the size of the array; dynamic shared memory is as large as the "
           "launch says";
  if (access.space == StateSpace::kLocal) return "compare the index with the size of the array";
  const memory::AddressSpace& space = *w.launch->request->memory;
  if (space.find_freed(access.addresses[lane]))
    return "free the memory after the last kernel that uses it has ended; if that was not this "
           "array's memory, the index is far off: compare it with the number of elements";
  const auto missed = missed_array(w, access, lane);
  if (!missed && !space.is_device_address(access.addresses[lane]))
    return "give the kernel what cudaMalloc returned: a pointer of the host, or one that was never "
           "set, leads nowhere on the device; or the index is far off";
  if (missed && missed->miss == Miss::kWrapped)
    return "an int holds no more than 2,147,483,647: compute the index in 64 bits, with the cast "
           "before the product, as in static_cast<size_t>(row) * stride";
  if (missed && missed->miss == Miss::kBelowZero)
    return "leave out what lies before the first element, with a comparison before the "
           "subtraction: an unsigned number is never below 0";
  if (missed && missed->miss == Miss::kFar)
    return "the index is far off: compare it with the number of elements; where there may be more "
           "than 2,147,483,647, compute it in 64 bits (size_t), for an int wraps there";
  if (missed && access.addresses[lane] < missed->array.address) return kBelowZeroAdvice;
  return "compare the index itself with the number of elements before the access: if (i < n) for "
         "element i; where it is element n - i, the first thread is one too far: n - 1 - i";
}

}  // namespace membound::vgpu::exec
