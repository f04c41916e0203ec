// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One block of device memory between two guard zones, and the list of all that are alive.
/// Place in the chain: device_array, timed runs -> [guarded_memory] -> guard_check -> CUDA runtime.
/// Left out: what a damaged zone means; guard_check.hpp decides that without CUDA.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace membound::harness {

/// Bytes of each guard zone. The one behind the data starts at the very next byte.
inline constexpr std::size_t kGuardBytes = 4096;

/// What kernels may do with the block.
enum class Role {
  kInput,  ///< read only: its content must be the same after a launch
  kOutput  ///< read and write
};

/// Owns one block; movable, not copyable. Failing CUDA calls throw CudaError.
class GuardedMemory {
 public:
  /// `initial` holds `size_bytes` bytes, or is null for the "never written" pattern.
  /// `element_bytes` is only for messages.
  GuardedMemory(std::size_t size_bytes, std::size_t element_bytes, const void* initial, Role role);
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;
  ~GuardedMemory();

  [[nodiscard]] void* data() const;
  [[nodiscard]] std::size_t size_bytes() const;
  void copy_to(void* host) const;

  /// Of all blocks alive.
  [[nodiscard]] static std::size_t all_bytes();

  /// What happened to a block.
  enum class DamageKind { kOutside, kInputChanged };
  /// One damaged block: which (by address) and what happened to it, in words.
  struct Damage {
    const void* data;
    DamageKind kind;
    std::string text;
  };
  /// Looks at every block alive: guard zones and inputs. Waits for the device.
  [[nodiscard]] static std::optional<Damage> find_damage();

 private:
  struct Block;
  std::unique_ptr<Block> block_;
};

}  // namespace membound::harness
