// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// memcheck: accesses out of bounds, misaligned, after a free. The address space finds them; with
/// memcheck on it knows every allocation's own end (Launch::precise, AddressSpace::keep_distance).
#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {
namespace {

class Memcheck final : public KernelChecker {
 public:
  Memcheck(Launch& launch, CheckFindings& findings) : launch_(launch), findings_(findings) {}

  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override {
    const memory::AddressSpace& space = *launch_.request->memory;
    const bool global = access.space == ptx::StateSpace::kGlobal;
    const bool freed = global && space.find_freed(access.addresses[lane]).has_value();
    const char* name = kind == FaultKind::kMisalignedAddress ? "misaligned access"
                       : freed                               ? "use after free"
                       : access.kind == AccessKind::kLoad    ? "out of bounds read"
                       : access.kind == AccessKind::kStore   ? "out of bounds write"
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
    return kind == FaultKind::kIllegalAddress && global &&
           space.span_of(access.addresses[lane], false).has_value();
  }

 private:
  Launch& launch_;
  CheckFindings& findings_;
};

}  // namespace

std::unique_ptr<KernelChecker> make_memcheck(Launch& launch, CheckFindings& findings) {
  return std::make_unique<Memcheck>(launch, findings);
}

}  // namespace membound::vgpu::exec
