// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables with an entry for every piece of a large range of addresses, of which few are ever used.
/// Place in the chain: access_shadow, undo_log, address_space -> [lazy_bytes].
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace membound::vgpu::memory {

/// Memory that reads as zeros and costs nothing until it is written to.
class LazyBytes {
 public:
  explicit LazyBytes(std::size_t bytes);
  ~LazyBytes();
  LazyBytes(const LazyBytes&) = delete;
  LazyBytes& operator=(const LazyBytes&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
  /// All zeros again.
  void clear();
  /// From now on, where one byte is used, its neighbours will be: large pages save most faults.
  /// Where that is not so they cost more, for a whole one is cleared at its first byte.
  void expect_dense_use();

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Zeros: of a table of that size that has ended, or fresh ones. To get pages that lie far apart
/// anew costs more than most tables note there.
[[nodiscard]] std::unique_ptr<LazyBytes> take_zeros(std::size_t bytes);
/// Takes a table that its user has cleared entry by entry.
void keep_zeros(std::unique_ptr<LazyBytes> table);

}  // namespace membound::vgpu::memory
