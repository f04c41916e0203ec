// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/launch_constants.hpp"

#include <algorithm>
#include <cstring>

namespace membound::vgpu::exec {
namespace {

using program::Constant;
using program::LaunchRegister;

std::uint32_t lane_value(LaunchRegister id, std::uint32_t lane) {
  const std::uint32_t bit = 1u << lane;
  switch (id) {
    case LaunchRegister::kLaneId:
      return lane;
    case LaunchRegister::kLaneMaskEq:
      return bit;
    case LaunchRegister::kLaneMaskLt:
      return bit - 1;
    case LaunchRegister::kLaneMaskLe:
      return bit | (bit - 1);
    case LaunchRegister::kLaneMaskGt:
      return ~(bit | (bit - 1));
    case LaunchRegister::kLaneMaskGe:
      return ~(bit - 1);
    default:
      return 0;
  }
}

/// What a block is given: whole units, as on a GPU.
std::uint64_t total_shared_bytes(const Launch& launch) {
  const LaunchRequest& request = *launch.request;
  const std::uint64_t unit = std::max(1u, request.registers.shared_unit_bytes);
  const std::uint64_t asked = program::shared_bytes(*launch.kernel, request.dynamic_shared_bytes);
  return (asked + unit - 1) / unit * unit;
}

std::uint64_t special_value(const Launch& launch, std::uint32_t index, std::uint32_t lane) {
  const LaunchRequest& request = *launch.request;
  const auto environment = static_cast<std::uint32_t>(LaunchRegister::kEnvironment);
  if (index >= environment) {
    // Cooperative groups find the grid barrier's address in envreg1 (high half) and envreg2.
    const std::uint32_t number = index - environment;
    if (number == 1) return launch.grid_barrier_address >> 32;
    if (number == 2) return launch.grid_barrier_address & 0xFFFFFFFFu;
    return 0;
  }
  switch (static_cast<LaunchRegister>(index)) {
    case LaunchRegister::kNtidX:
      return request.block.x;
    case LaunchRegister::kNtidY:
      return request.block.y;
    case LaunchRegister::kNtidZ:
      return request.block.z;
    case LaunchRegister::kNctaidX:
      return request.grid.x;
    case LaunchRegister::kNctaidY:
      return request.grid.y;
    case LaunchRegister::kNctaidZ:
      return request.grid.z;
    case LaunchRegister::kNwarpid:
      return request.registers.warps_per_sm;
    case LaunchRegister::kNsmid:
      return request.sm_count;
    case LaunchRegister::kGridId:
      return request.number;
    case LaunchRegister::kDynamicShared:
      return request.dynamic_shared_bytes;
    case LaunchRegister::kTotalShared:
      return total_shared_bytes(launch);
    case LaunchRegister::kAggregateShared:
      return total_shared_bytes(launch) + request.registers.shared_reserved_bytes;
    case LaunchRegister::kZero:
      return 0;
    case LaunchRegister::kOne:
      return 1;
    default:
      return lane_value(static_cast<LaunchRegister>(index), lane);
  }
}

bool is_signed(ptx::ScalarType type) {
  return type == ptx::ScalarType::kS8 || type == ptx::ScalarType::kS16 ||
         type == ptx::ScalarType::kS32;
}

std::uint64_t parameter_value(const LaunchRequest& request, const Constant& constant,
                              std::uint32_t half) {
  std::uint64_t value = 0;
  const std::uint64_t offset = constant.bits + 8 * half, size = request.parameters.size();
  const std::uint32_t bytes = std::min(8u, ptx::size_bytes(constant.type));
  if (bytes > size || offset > size - bytes) return 0;
  std::memcpy(&value, request.parameters.data() + offset, bytes);
  if (!is_signed(constant.type)) return value;
  const std::uint32_t up = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << up) >> up);
}

std::uint64_t constant_value(const Launch& launch, const Constant& constant, std::uint32_t lane,
                             std::uint32_t half) {
  const LaunchRequest& request = *launch.request;
  const std::uint64_t dynamic = dynamic_shared_begin(*launch.kernel);
  switch (constant.kind) {
    case Constant::Kind::kLiteral:
      return half == 0 ? constant.bits : 0;
    case Constant::Kind::kParameter:
      return parameter_value(request, constant, half);
    case Constant::Kind::kParameterAddress:
      return launch.parameter_address + constant.bits;
    case Constant::Kind::kSpecial:
      return special_value(launch, constant.index, lane);
    case Constant::Kind::kGlobal:
      return request.program->globals()[constant.index].device_address + constant.bits;
    case Constant::Kind::kDynamicShared:
      return dynamic + constant.bits;
    case Constant::Kind::kFunction:
      return program::function_address(constant.index);
    case Constant::Kind::kSharedWindow:
      return launch.shared_window + constant.bits;
    case Constant::Kind::kSharedWindowDynamic:
      return launch.shared_window + dynamic + constant.bits;
  }
  return 0;
}

}  // namespace

void fill_constants(const Launch& launch, FunctionCode& code) {
  const program::Function& function = *code.function;
  code.constant_storage.assign(
      (std::size_t{function.constant_slot_count} + kSlackSlots) * (kSlotBytes / 8) + 8, 0);
  const auto start = reinterpret_cast<std::uintptr_t>(code.constant_storage.data());
  code.constants = reinterpret_cast<std::byte*>((start + 63) & ~std::uintptr_t{63});
  for (std::size_t c = 0; c < function.constants.size(); ++c) {
    const Constant& constant = function.constants[c];
    std::byte* row = code.constants + std::size_t{function.constant_slots[c]} * kSlotBytes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (constant.slots == 1) {
        const auto value = static_cast<std::uint32_t>(constant_value(launch, constant, lane, 0));
        std::memcpy(row + 4 * lane, &value, 4);
        continue;
      }
      for (std::uint32_t half = 0; half < constant.slots / 2u; ++half) {
        const std::uint64_t value = constant_value(launch, constant, lane, half);
        std::memcpy(row + 256 * half + 8 * lane, &value, 8);
      }
    }
  }
}

}  // namespace membound::vgpu::exec
