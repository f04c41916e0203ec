// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Asynchronous copies of a block on their way to shared memory: who copies to which word, from its
/// cp.async to its wait. In between nobody may read or write the word.
/// Place in the chain: racecheck -> [flights].
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// A word in flight that an access touches.
struct InFlight {
  std::uint32_t lane = 0;      ///< of the access
  std::uint32_t thread = 0;    ///< that copies
  const Step* copy = nullptr;  ///< its cp.async
};

/// By words of 4 bytes, the smallest copy.
class Flights {
 public:
  void clear() {
    if (in_flight_ != 0) words_.clear();
    in_flight_ = 0;
  }
  [[nodiscard]] bool any() const { return in_flight_ != 0; }
  void begin(const WarpAccess& copy) { change(copy, copy.step); }
  void end(const WarpAccess& copy) { change(copy, nullptr); }
  /// The first lane that touches one.
  [[nodiscard]] std::optional<InFlight> touched_by(const WarpAccess& access) const {
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t end = (access.addresses[lane] + access.bytes + 3) / 4;
      for (std::uint64_t word = access.addresses[lane] / 4; word < end && word < words_.size();
           ++word)
        if (words_[word].copy != nullptr)
          return InFlight{lane, words_[word].thread, words_[word].copy};
    }
    return std::nullopt;
  }

 private:
  struct Word {
    const Step* copy = nullptr;
    std::uint32_t thread = 0;
  };
  void change(const WarpAccess& copy, const Step* step) {
    for (std::uint32_t rest = copy.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t first = copy.addresses[lane] / 4, end = first + copy.bytes / 4;
      if (words_.size() < end) words_.resize(end);
      for (std::uint64_t word = first; word < end; ++word) {
        in_flight_ += (step != nullptr ? 1 : 0) - (words_[word].copy != nullptr ? 1 : 0);
        words_[word] = {step, copy.warp->index * 32 + lane};
      }
    }
  }

  std::vector<Word> words_;
  std::int64_t in_flight_ = 0;
};

}  // namespace membound::vgpu::exec
