// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// memcheck: accesses out of bounds, misaligned, after a free. The address space finds them; with
/// memcheck on it knows every allocation's own end (Launch::precise, AddressSpace::keep_distance).
/// Shared variables lie apart then (Program::link): what is between two is nobody's. So do local
/// ones in code that was compiled with red zones (red_zones.awk), which tells where they are.
#include <algorithm>
#include <bit>

#include "grader/base/strings.hpp"
#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {
namespace {

/// Is there code that tells of red zones? What `alloca` gives has none, and may lie where one was.
bool tells_red_zones(const program::Program& program) {
  using program::Function;
  return std::ranges::any_of(program.functions(),
                             [](const Function& function) {
                               return std::ranges::any_of(function.calls, [](const auto& call) {
                                 return call.builtin == program::Builtin::kRedZone;
                               });
                             }) &&
         std::ranges::none_of(program.functions(), [](const Function& function) {
           return std::ranges::any_of(
               function.code, [](const auto& in) { return in.opcode == program::Opcode::kAlloca; });
         });
}

const char* out_of_bounds(AccessKind kind) {
  return kind == AccessKind::kLoad    ? "out of bounds read"
         : kind == AccessKind::kStore ? "out of bounds write"
                                      : "out of bounds atomic";
}

std::string text_of(const WarpAccess& access) {
  return std::string(access.kind == AccessKind::kLoad    ? "read"
                     : access.kind == AccessKind::kStore ? "write"
                                                         : "atomic") +
         " of " + base::counted(access.bytes, "byte");
}

/// "write of 4 bytes, 8 bytes after a local variable"
std::string describe_red_zone(const WarpAccess& access, LocalBytes& red_zones, std::uint32_t lane) {
  const std::uint64_t offset = access.addresses[lane];
  std::uint64_t behind = 0, before = 0;
  while (behind <= offset && *red_zones.at(lane, offset - behind, 1) == 1) ++behind;
  while (*red_zones.at(lane, offset + before, 1) == 1) ++before;
  const bool ends = behind <= before;
  // Where it begins in a variable and ends in a red zone.
  if (behind == 0) return text_of(access) + ", which goes beyond the end of a local variable";
  const std::uint64_t distance = ends ? behind - 1 : before;
  return text_of(access) +
         (distance == 0 ? ", directly " : ", " + base::counted(distance, "byte") + " ") +
         (ends ? "after" : "before") + " a local variable";
}

class Memcheck final : public KernelChecker {
 public:
  Memcheck(Launch& launch, CheckFindings& findings)
      : launch_(launch),
        findings_(findings),
        has_red_zones_(tells_red_zones(*launch.request->program)),
        states_(launch) {
    const program::Kernel& kernel = *launch.kernel;
    if (kernel.placed_shared_bytes == kernel.static_shared_bytes) return;
    for (const program::SharedVariable& variable : kernel.shared_variables)
      variables_.push_back({variable.offset_bytes, variable.size_bytes});
    if (const std::uint32_t bytes = launch.request->dynamic_shared_bytes; bytes != 0)
      variables_.push_back({dynamic_shared_begin(kernel), bytes});
  }

  [[nodiscard]] bool hears_accesses() const override {
    return has_red_zones_ || !variables_.empty();
  }
  [[nodiscard]] bool hears_all_blocks() const override { return hears_accesses(); }

  void block_begins(Block& block) override {
    if (!has_red_zones_) return;
    BlockState& state = states_.obtain(block);
    state.red_zones.resize(block.warps.size());
    for (LocalBytes& warp : state.red_zones) warp.clear();
  }

  void enters(Warp& w) override {
    if (has_red_zones_)
      red_zones_of(w).set(w.mask, w.frame->local_base,
                          launch_.code[w.frame->function].function->frame_bytes, 0);
  }

  void red_zone(Warp& w, std::uint32_t lane, std::uint64_t offset) override {
    if (has_red_zones_) red_zones_of(w).set(1u << lane, offset, program::kRedZoneBytes, 1);
  }

  void check_local(const WarpAccess& access) override {
    if (!has_red_zones_) return;
    LocalBytes& red_zones = red_zones_of(*access.warp);
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint8_t* const at = red_zones.at(lane, access.addresses[lane], access.bytes);
      if (std::find(at, at + access.bytes, 1) == at + access.bytes) continue;
      report(access, out_of_bounds(access.kind), FaultKind::kIllegalAddress, lane,
             [&] { return describe_red_zone(access, red_zones, lane); });
      return;
    }
  }

  SameRead check(const WarpAccess& access, std::uint32_t lanes) override {
    if (access.space != ptx::StateSpace::kShared || variables_.empty()) return SameRead::kUnmissed;
    if (access.shape == LanePattern::kRow) lanes &= 0x80000001u;
    Variable held;  // nearly always one for all lanes
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t offset = access.addresses[lane];
      if (held.holds(offset, access.bytes)) continue;
      const auto found = std::find_if(
          variables_.begin(), variables_.end(),
          [&](const Variable& variable) { return variable.holds(offset, access.bytes); });
      if (found == variables_.end()) {
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
                                                               : out_of_bounds(access.kind);
    report(access, name, kind, lane,
           [&] { return describe_bad_access(*access.warp, access, kind, lane); });
    // What a GPU would not notice does not end the launch.
    return of_another || (kind == FaultKind::kIllegalAddress && is_reached(access, lane));
  }

 private:
  /// Does a GPU let the access go on?
  [[nodiscard]] bool is_reached(const WarpAccess& access, std::uint32_t lane) const {
    const std::uint64_t address = access.addresses[lane];
    if (access.space == ptx::StateSpace::kShared) {
      const std::uint32_t reach = launch_.request->shared_reach_bytes;
      return launch_.shared_bytes != 0 && access.bytes <= reach &&
             address <= std::uint64_t{launch_.shared_bytes} + reach - access.bytes;
    }
    const auto span = launch_.request->memory->span_of(address, false);
    return access.space == ptx::StateSpace::kGlobal && span && span->end - address >= access.bytes;
  }

  /// A variable in shared memory, or the dynamic part.
  struct Variable {
    std::uint64_t begin = 0, bytes = 0;
    [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t count) const {
      return offset - begin < bytes && count <= bytes - (offset - begin);
    }
  };
  template <typename Text>
  void report(const WarpAccess& access, const char* name, FaultKind kind, std::uint32_t lane,
              const Text& text) {
    findings_.add(*access.warp, {access.step, name, nullptr}, [&] {
      CheckReport found{"memcheck",
                        name,
                        place_of(*access.warp, access.step, lane),
                        access.addresses[lane],
                        access.bytes,
                        1,
                        text()};
      found.advice = access_advice(*access.warp, access, kind, lane);
      found.array = name_of_array(*access.warp, access, lane);
      return found;
    });
  }
  struct BlockState : ObserverNotes {
    std::vector<LocalBytes> red_zones;  ///< of each warp
  };
  [[nodiscard]] LocalBytes& red_zones_of(const Warp& warp) const {
    return states_.of(*warp.block).red_zones[warp.index];
  }

  std::vector<Variable> variables_;  ///< none: nothing lies between variables
  Launch& launch_;
  CheckFindings& findings_;
  bool has_red_zones_;
  PerBlock<BlockState> states_;
};

}  // namespace

std::unique_ptr<KernelChecker> make_memcheck(Launch& launch, CheckFindings& findings) {
  return std::make_unique<Memcheck>(launch, findings);
}

}  // namespace membound::vgpu::exec
