// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables with an entry for every piece of a large range of addresses, of which few are ever used.
/// Place in the chain: access_shadow, undo_log, address_space -> [lazy_bytes].
#pragma once

#include <cstddef>
#include <cstdint>

namespace membound::vgpu::memory {

/// Memory that reads as zeros and costs nothing until it is written to.
class LazyBytes {
 public:
  /// `dense`: where one byte is used, its neighbours will be; large pages save most of the faults.
  explicit LazyBytes(std::size_t bytes, bool dense = false);
  ~LazyBytes();
  LazyBytes(const LazyBytes&) = delete;
  LazyBytes& operator=(const LazyBytes&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  /// All zeros again.
  void clear();

 private:
  void reserve();
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool dense_ = false;
};

}  // namespace membound::vgpu::memory
