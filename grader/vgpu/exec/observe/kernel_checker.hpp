// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One checker of a running launch: reports what would be a bug on a GPU even if it went well here.
/// Place in the chain: checker_list -> [kernel_checker] -> memcheck, racecheck, synccheck,
/// initcheck: a file each, a row each in device_code/checkers/checkers.def.
/// Left out: checkers that look only when the program ends (runtime/device/finish.cpp).
#pragma once

#include <memory>

#include "grader/vgpu/exec/observe/check_findings.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// What the same read once more would be to a checker, as long as nobody writes and no barrier
/// opens.
enum class SameRead : std::uint8_t {
  kMatters,   ///< it must hear of it
  kUnmissed,  ///< it does not ask for it
  kSettled    ///< it found nothing, and would find nothing
};

/// Overrides what it is for, of Observer's hooks and of these; hears in the order of the program
/// of each block, from several worker threads.
class KernelChecker : public Observer {
 public:
  /// Does it override check()?
  [[nodiscard]] virtual bool hears_accesses() const { return false; }
  /// … also those to shared and local memory by blocks that Launch::sample leaves out?
  [[nodiscard]] virtual bool hears_all_blocks() const { return false; }
  /// Accesses come here, with `shape` known, to global and shared memory only. `lanes` are
  /// those to look at: of lanes that read one place only the first.
  virtual SameRead check(const WarpAccess&, std::uint32_t /*lanes*/) { return SameRead::kUnmissed; }
  void access(const WarpAccess&) final {}
  /// Asynchronous copies are written; `shape` is known.
  virtual void check_landing(const WarpAccess&) {}
  /// Accesses to local memory; all lanes of the mask.
  virtual void check_local(const WarpAccess&) {}
  /// All workers have ended; once.
  virtual void launch_ends() {}
  /// Must the launch be taken back and run by one worker, because what was found depends on who
  /// came first?
  [[nodiscard]] virtual bool must_repeat() const { return false; }
  /// Undoes everything the launch wrote.
  virtual void take_back() {}
};

/// make_memcheck(launch, findings), …: each kernel checker's file defines its own.
#define MEMBOUND_KERNEL_CHECKER(name, at_right_results, words, finds) \
  std::unique_ptr<KernelChecker> make_##name(Launch& launch, CheckFindings& findings);
#include "grader/device_code/checkers/checkers.def"

}  // namespace membound::vgpu::exec
