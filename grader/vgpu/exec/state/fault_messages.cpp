// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/state/fault_messages.hpp"

#include <array>
#include <cstdio>

#include "grader/vgpu/exec/state/local_window.hpp"
#include "grader/vgpu/exec/state/missed_array.hpp"
#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::exec {
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

}  // namespace

std::string describe_bad_access(const Warp& w, const WarpAccess& access, FaultKind kind,
                                std::uint32_t lane) {
  const std::uint64_t address = access.addresses[lane];
  const std::string what = std::string(verb(access.kind)) + " of " + bytes_text(access.bytes);
  if (kind == FaultKind::kMisalignedAddress)
    return what + " at " + place_in_memory(w, access, address) + ", which is not a multiple of " +
           std::to_string(access.bytes);
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

}  // namespace membound::vgpu::exec
