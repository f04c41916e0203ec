// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// initcheck: reads of bytes that nobody has written, in global and shared memory. Of global memory
/// the address space knows them (AddressSpace::track_initialised), of shared memory each block.
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/observe/race_rows.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {
namespace {

/// Has every byte been written? The sizes of ordinary accesses without a call.
bool all_written(const std::uint8_t* written, std::uint32_t bytes) {
  std::uint64_t flags = 0x0101010101010101u;
  switch (bytes) {
    case 4: {
      std::uint32_t word;
      std::memcpy(&word, written, 4);
      return word == 0x01010101u;
    }
    case 8:
      std::memcpy(&flags, written, 8);
      return flags == 0x0101010101010101u;
    default:
      return std::memchr(written, 0, bytes) == nullptr;
  }
}

void set_written(std::uint8_t* written, std::uint32_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  switch (bytes) {
    case 4:
      std::memcpy(written, &kOnes, 4);
      break;
    case 8:
      std::memcpy(written, &kOnes, 8);
      break;
    default:
      std::memset(written, 1, bytes);
      break;
  }
}

class Initcheck final : public KernelChecker {
 public:
  Initcheck(Launch& launch, CheckFindings& findings)
      : launch_(launch), findings_(findings), rows_(row_loops()), states_(launch) {}

  void block_begins(Block& block) override;
  [[nodiscard]] bool hears_accesses() const override { return true; }
  SameRead check(const WarpAccess& access, std::uint32_t lanes) override;

 private:
  struct BlockState : ObserverNotes {
    std::vector<std::uint8_t> written;  ///< bytes of shared memory
  };
  void check_written(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base,
                     std::uint32_t lanes);
  void report_unwritten(const WarpAccess& access, std::uint32_t lane, std::uint64_t offset);

  Launch& launch_;
  CheckFindings& findings_;
  const RowLoops& rows_;
  PerBlock<BlockState> states_;
};

void Initcheck::block_begins(Block& block) {
  states_.obtain(block).written.assign(launch_.shared_bytes, 0);
}

SameRead Initcheck::check(const WarpAccess& access, std::uint32_t lanes) {
  const memory::AddressSpace& space = *launch_.request->memory;
  if (access.space == ptx::StateSpace::kShared)
    check_written(access, states_.of(*access.warp->block).written.data(), 0, lanes);
  else if (space.initialised_shadow() != nullptr)
    check_written(access, space.initialised_shadow(), space.shared_window(), lanes);
  return SameRead::kUnmissed;
}

void Initcheck::check_written(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base,
                              std::uint32_t lanes) {
  const memory::AddressSpace& space = *launch_.request->memory;
  const std::uint64_t window = space.window_bytes();
  if (access.shape == LanePattern::kRow && (base == 0 || access.addresses[0] - base < window)) {
    std::uint8_t* bytes = shadow + (access.addresses[0] - base);
    const std::uint32_t count = 32 * access.bytes;
    if (base != 0 && space.whole_pages_written(access.addresses[0] - base, count)) return;
    if (access.kind == AccessKind::kStore) return set_written(bytes, count);
    if (access.kind == AccessKind::kLoad && rows_.all_set(bytes, count)) return;
  }
  if (access.bytes == 4 && base == 0 && access.kind == AccessKind::kLoad) {
    if (lanes == 0xFFFFFFFFu && rows_.all_set_words(shadow, access.addresses)) return;
    std::uint32_t missing = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      std::uint32_t flags;
      std::memcpy(&flags, shadow + access.addresses[std::countr_zero(rest)], 4);
      missing |= flags ^ 0x01010101u;
    }
    if (missing == 0) return;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t index = access.addresses[lane] - base;
    if (base != 0 && index >= window) continue;  // host memory
    if (base != 0 && space.whole_pages_written(index, access.bytes)) continue;
    std::uint8_t* written = shadow + index;
    if (access.kind != AccessKind::kStore && !all_written(written, access.bytes)) [[unlikely]]
      report_unwritten(access, lane, index);
    if (access.kind != AccessKind::kLoad) set_written(written, access.bytes);
  }
}

void Initcheck::report_unwritten(const WarpAccess& access, std::uint32_t lane,
                                 std::uint64_t offset) {
  findings_.add(*access.warp, {access.step, "uninitialised read", nullptr}, [&] {
    const bool shared = access.space == ptx::StateSpace::kShared;
    std::string text = "read of " + std::to_string(access.bytes) + " bytes ";
    if (shared) {
      text += "at " + describe_shared(*access.warp, offset);
    } else {
      text += "at " + hex(access.addresses[lane]);
      if (const auto held = launch_.request->memory->find(access.addresses[lane]))
        text += ", in " + describe(*held);
    }
    text += shared ? ", which no thread of the block has written" : ", which nobody has written";
    CheckReport found{"initcheck",
                      "uninitialised read",
                      place_of(*access.warp, access.step, lane),
                      access.addresses[lane],
                      access.bytes,
                      1,
                      std::move(text)};
    found.advice = shared
                       ? "let every element be written before a __syncthreads(), then read it"
                       : "fill the array first: cudaMemcpy data to it, or clear it with cudaMemset";
    return found;
  });
}

}  // namespace

std::unique_ptr<KernelChecker> make_initcheck(Launch& launch, CheckFindings& findings) {
  return std::make_unique<Initcheck>(launch, findings);
}

}  // namespace membound::vgpu::exec
