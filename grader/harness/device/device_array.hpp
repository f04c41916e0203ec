// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// DeviceArray<T>: device memory that knows when somebody wrote where they should not.
/// Place in the chain: a lab's test.cpp -> [device_array] -> guarded_memory -> CUDA runtime.
/// Left out: looking at the guard zones; LabTest::launch() does that after every launch.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "grader/harness/device/guarded_memory.hpp"

namespace membound::harness {

/// `size()` elements in device memory, with a guard zone before the first and behind the last byte.
/// Freed with the object; movable, not copyable. T must be trivially copyable and without padding.
template <typename T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// An input: starts as `values`, and launch() fails if a kernel changes it.
  explicit DeviceArray(const std::vector<T>& values)
      : memory_(bytes_of(values.size()), sizeof(T), values.data(), Role::kInput) {}

  /// An output: every word holds the "never written" pattern (poison.hpp).
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
