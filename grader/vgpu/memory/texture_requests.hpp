// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texels that neighbouring lanes fetch together -> how many sectors they touch, and how many
/// passes through the banks of L1 they take.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "grader/vgpu/memory/coalescer.hpp"
#include "grader/vgpu/memory/textures.hpp"

namespace membound::vgpu::memory {

/// Numbers that a request has seen, and how many of them each bank has. No allocation.
template <std::size_t kNumbers, std::size_t kBanks>
class Banked {
 public:
  void clear() {
    numbers_ = 0;
    held_ = {};
  }
  void insert(std::uint64_t number, std::uint32_t bank) {
    if (std::find(seen_.begin(), seen_.begin() + numbers_, number) != seen_.begin() + numbers_ ||
        numbers_ == seen_.size())
      return;
    seen_[numbers_++] = number;
    ++held_[bank];
  }
  [[nodiscard]] std::uint32_t numbers() const { return numbers_; }
  [[nodiscard]] std::uint32_t busiest() const {
    return *std::max_element(held_.begin(), held_.end());
  }

 private:
  std::array<std::uint64_t, kNumbers> seen_;
  std::array<std::uint8_t, kBanks> held_{};
  std::uint32_t numbers_ = 0;
};

/// Sectors and passes of the requests of one instruction; each counts its own. A sector of an array
/// is 16 bytes wide and two rows high, a line 32 bytes wide and four rows high; of plain memory a
/// sector is 32 bytes, and a request is one pass. Lines of different tag banks are looked up
/// together, words of different data banks are handed out together. The banks are an H200's: of 200
/// requests of drawn texels 168 took so many clocks, the others one more
/// (gpu_truth/data/l1_banks_h200.csv).
class TextureRequests {
 public:
  explicit TextureRequests(std::uint32_t lanes) : lanes_(lanes) {}

  /// A texel at host address `place` of `image`, for this lane. Lanes come in order.
  void add(const Image& image, bool plain, int lane, std::uint64_t place) {
    if (static_cast<std::uint32_t>(lane) / lanes_ != group_) {
      end_request();
      group_ = static_cast<std::uint32_t>(lane) / lanes_;
    }
    const std::uint64_t offset = place - reinterpret_cast<std::uint64_t>(image.texels);
    if (plain) {
      in_sectors_.insert(offset / kSectorBytes, 0);
      return;
    }
    const std::uint64_t slice = image.slice_bytes == 0 ? 0 : offset / image.slice_bytes;
    const std::uint64_t inside = offset - slice * image.slice_bytes;
    const std::uint64_t row = image.pitch_bytes == 0 ? 0 : inside / image.pitch_bytes;
    const std::uint64_t column = inside - row * image.pitch_bytes;
    in_sectors_.insert(slice << 44 | (row / 2) << 22 | column / 16, 0);
    in_lines_.insert(slice << 44 | (row / 4) << 22 | column / 32,
                     static_cast<std::uint32_t>(row / 4 % 2 | ((column / 32 ^ row / 8) & 1) << 1));
    in_words_.insert(slice << 44 | row << 22 | column / 4,
                     static_cast<std::uint32_t>(column / 4 % 4 | row % 4 << 2 |
                                                ((column / 16 ^ row / 4) & 1) << 4));
  }
  /// After the last lane.
  void end_request() {
    sectors_ += in_sectors_.numbers();
    if (in_sectors_.numbers() > 0)
      passes_ += std::max({1u, in_lines_.busiest(), in_words_.busiest()});
    in_sectors_.clear();
    in_lines_.clear();
    in_words_.clear();
  }
  [[nodiscard]] std::uint32_t sectors() const { return sectors_; }
  [[nodiscard]] std::uint32_t passes() const { return passes_; }

 private:
  Banked<128, 1> in_sectors_;  // 4 lanes of 16 texels, 8 lanes of 1
  Banked<128, 4> in_lines_;
  Banked<128, 32> in_words_;
  std::uint32_t lanes_;
  std::uint32_t group_ = 0;
  std::uint32_t sectors_ = 0, passes_ = 0;
};

}  // namespace membound::vgpu::memory
