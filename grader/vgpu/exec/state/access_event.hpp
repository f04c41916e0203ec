// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One warp-wide memory access as somebody outside of exec hears of it: for pictures and tables,
/// not for counting. Place in the chain: exec's handlers -> [access_event] -> trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "grader/device_code/ptx/types.hpp"
#include "grader/vgpu/memory/dim3.hpp"

namespace membound::vgpu::exec {

/// What an access does to memory.
enum class AccessKind : std::uint8_t { kLoad, kStore, kAtomic };

/// What one instruction asked of memory for the lanes of one warp. Valid during the call only.
struct AccessEvent {
  std::string file;  ///< empty without -lineinfo
  std::uint32_t line = 0;
  std::uint32_t ptx_line = 0;
  std::string_view instruction;                      ///< "ld.global.f32"
  ptx::StateSpace space = ptx::StateSpace::kGlobal;  ///< global, shared or local
  AccessKind kind = AccessKind::kLoad;
  std::uint32_t mask = 0;                    ///< lanes that take part
  std::uint32_t bytes = 0;                   ///< a lane
  const std::uint64_t* addresses = nullptr;  ///< of 32 lanes; offsets for shared and local memory
};

/// Hears of accesses while a launch runs, in the order the warp made them.
class AccessListener {
 public:
  virtual ~AccessListener() = default;
  virtual void on_access(const AccessEvent& event) = 0;
};

/// Whose accesses are told: those of one warp of one block, so that a listener needs no lock and a
/// launch little extra time. Without a listener nothing is looked at.
struct Tracing {
  AccessListener* listener = nullptr;
  Dim3 block{0, 0, 0};
  std::uint32_t warp = 0;
};

}  // namespace membound::vgpu::exec
