// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that judge and runner share for bulk data: a memfd whose size is sealed, so that neither
/// side can take it away under the other (reading past a shortened file would be a SIGBUS).
/// Place in the chain: client, server -> [shared_buffer]. Left out: who may use it when; requests
/// and answers alternate, and a side only touches it while it is its turn.
#pragma once

#include <cstddef>
#include <span>

#include "grader/base/result.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::runner {

/// A mapping of kSharedBytes bytes. Content may change under a hostile peer: copy out first, then
/// look.
class SharedBuffer {
 public:
  /// The judge's: a new one.
  [[nodiscard]] static base::Result<SharedBuffer> make();
  /// The runner's: refuses what is not a sealed memfd of the right size.
  [[nodiscard]] static base::Result<SharedBuffer> map(Descriptor memory);

  SharedBuffer(SharedBuffer&& other) noexcept;
  SharedBuffer& operator=(SharedBuffer&& other) noexcept;
  ~SharedBuffer();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] int fd() const { return memory_.get(); }

 private:
  SharedBuffer() = default;
  Descriptor memory_;
  std::byte* data_ = nullptr;
};

}  // namespace membound::runner
