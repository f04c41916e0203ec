// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device memory that knows when somebody wrote where they should not: a block between two guard
/// zones, the list of all that are alive, and DeviceArray<T>, which a lab's test.cpp uses. Whether
/// zones are as they were is decided on bytes copied back from the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace membound::harness {

/// What stands in a guard zone of `size_bytes` bytes; cases/data.hpp has the words. Each array
/// has a `mark` of its own, so that what lies after one cannot be copied after another unseen.
[[nodiscard]] std::vector<std::byte> guard_pattern(std::size_t size_bytes, std::uint16_t mark);

/// Which side of the data a guard zone lies on.
enum class Side { kBefore, kBehind };

/// Null if `zone` still holds the guard_pattern() of this mark. Else in words how many elements'
/// places were overwritten and the index of the nearest overwritten element: −1 for the one before
/// the first, `element_count` for the one after the last.
[[nodiscard]] std::optional<std::string> zone_damage(std::span<const std::byte> zone,
                                                     std::uint16_t mark, Side side,
                                                     std::size_t element_bytes,
                                                     std::size_t element_count);

/// Null if `now` equals `before`. Else how many elements of an input changed, and the first.
[[nodiscard]] std::optional<std::string> input_damage(std::span<const std::byte> now,
                                                      std::span<const std::byte> before,
                                                      std::size_t element_bytes);

/// Bytes of each guard zone. The one after the data starts at the very next byte.
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

/// `size()` elements in device memory, with a guard zone before the first and after the last byte.
/// Freed with the object; movable, not copyable. T must be trivially copyable and without padding.
template <typename T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// An input: starts as `values`, and launch() fails if a kernel changes it.
  explicit DeviceArray(const std::vector<T>& values)
      : memory_(bytes_of(values.size()), sizeof(T), values.data(), Role::kInput) {}

  /// An output: every word holds the "never written" pattern (cases/data.hpp).
  [[nodiscard]] static DeviceArray poisoned(std::size_t count) {
    return DeviceArray(GuardedMemory(bytes_of(count), sizeof(T), nullptr, Role::kOutput));
  }

  /// An output that the lab promises to be `value` before the launch (a sum that starts at 0).
  [[nodiscard]] static DeviceArray filled(std::size_t count, T value) {
    return writable(std::vector<T>(count, value));
  }

  /// An array that kernels may both read and change; starts as `values`.
  [[nodiscard]] static DeviceArray writable(const std::vector<T>& values) {
    return DeviceArray(
        GuardedMemory(bytes_of(values.size()), sizeof(T), values.data(), Role::kOutput));
  }

  /// Address on the device; aligned to 256 bytes.
  [[nodiscard]] T* data() { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const { return static_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return memory_.size_bytes() / sizeof(T); }

  /// The elements as they are on the device now.
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> values(size());
    memory_.copy_to(values.data());
    return values;
  }

 private:
  explicit DeviceArray(GuardedMemory memory) : memory_(std::move(memory)) {}
  static constexpr std::size_t bytes_of(std::size_t count) { return count * sizeof(T); }

  GuardedMemory memory_;
};

}  // namespace membound::harness
