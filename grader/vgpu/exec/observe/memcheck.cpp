// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// memcheck: accesses out of bounds, misaligned, after a free. The address space finds them; with
/// memcheck on it knows every allocation's own end (Launch::precise, AddressSpace::keep_distance).
/// Shared variables lie apart then (Program::link): what is between two is nobody's.
#include <algorithm>
#include <bit>

#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/exec/state/local_window.hpp"

namespace membound::vgpu::exec {
namespace {

class Memcheck final : public KernelChecker {
 public:
  Memcheck(Launch& launch, CheckFindings& findings) : launch_(launch), findings_(findings) {
    const program::Kernel& kernel = *launch.kernel;
    if (kernel.placed_shared_bytes == kernel.static_shared_bytes) return;
    for (const program::SharedVariable& variable : kernel.shared_variables)
      pieces_.push_back({variable.offset_bytes, variable.size_bytes});
    if (const std::uint32_t bytes = launch.request->dynamic_shared_bytes; bytes != 0)
      pieces_.push_back({dynamic_shared_begin(kernel), bytes});
  }

  [[nodiscard]] bool hears_accesses() const override { return !pieces_.empty(); }
  [[nodiscard]] bool hears_all_of_shared() const override { return !pieces_.empty(); }

  SameRead check(const WarpAccess& access, std::uint32_t lanes) override {
    if (access.space != ptx::StateSpace::kShared || pieces_.empty()) return SameRead::kUnmissed;
    if (access.shape == LanePattern::kRow) lanes &= 0x80000001u;
    Piece held;  // nearly always one for all lanes
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t offset = access.addresses[lane];
      if (held.holds(offset, access.bytes)) continue;
      const auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
        return piece.holds(offset, access.bytes);
      });
      if (found == pieces_.end()) {
        bad_access(access, FaultKind::kIllegalAddress, lane);
        return SameRead::kMatters;
      }
      held = *found;
    }
    return SameRead::kUnmissed;
  }

  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override {
    const memory::AddressSpace& space = *launch_.request->memory;
    const bool global = access.space == ptx::StateSpace::kGlobal;
    const bool freed = global && space.find_freed(access.addresses[lane]).has_value();
    const bool of_another =
        kind == FaultKind::kIllegalAddress && other_owner(access, lane).has_value();
    const char* name = of_another                              ? "local memory of another thread"
                       : kind == FaultKind::kMisalignedAddress ? "misaligned access"
                       : freed                                 ? "use after free"
                       : access.kind == AccessKind::kLoad      ? "out of bounds read"
                       : access.kind == AccessKind::kStore     ? "out of bounds write"
                                                               : "out of bounds atomic";
    findings_.add(*access.warp, {access.step, name, nullptr}, [&] {
      CheckReport found{"memcheck",
                        name,
                        place_of(*access.warp, access.step, lane),
                        access.addresses[lane],
                        access.bytes,
                        1,
                        describe_bad_access(*access.warp, access, kind, lane)};
      found.advice = access_advice(*access.warp, access, kind, lane);
      return found;
    });
    // What a GPU would not notice does not end the launch.
    return of_another || (kind == FaultKind::kIllegalAddress && global &&
                          space.span_of(access.addresses[lane], false).has_value());
  }

 private:
  /// A variable in shared memory, or the dynamic part.
  struct Piece {
    std::uint64_t begin = 0, bytes = 0;
    [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t count) const {
      return offset - begin < bytes && count <= bytes - (offset - begin);
    }
  };
  std::vector<Piece> pieces_;  ///< none: nothing lies between variables
  Launch& launch_;
  CheckFindings& findings_;
};

}  // namespace

std::unique_ptr<KernelChecker> make_memcheck(Launch& launch, CheckFindings& findings) {
  return std::make_unique<Memcheck>(launch, findings);
}

}  // namespace membound::vgpu::exec
