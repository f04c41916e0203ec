// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Looks on while a launch runs and reports what would be a bug on a GPU even if it went well here:
/// memory nobody wrote, accesses out of bounds, races, barriers and collectives that not all reach.
/// Place in the chain: exec's handlers -> [checker] -> LaunchReport::checks.
/// Left out: leaks, which only the runtime can tell at the end of the program.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "grader/vgpu/exec/access.hpp"
#include "grader/vgpu/memory/access_shadow.hpp"

namespace membound::vgpu::exec {

/// One launch's checkers. Races make the launch run on one thread, so that findings repeat.
class Checker : public Observer {
 public:
  explicit Checker(Launch& launch);

  void access(const WarpAccess& access) override;
  void barrier(Warp& warp, const Step* step, bool whole_warp) override;
  void collective(Warp& warp, const Step* step, std::uint32_t members,
                  std::uint32_t present) override;
  void epoch(Block& block) override;
  void fence(Warp& warp, const Step* step) override;
  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override;

  /// Findings, in the order of their first occurrence in the program.
  [[nodiscard]] std::vector<CheckReport> take_reports();

 private:
  /// What is remembered of the shared memory of one block.
  struct SharedShadow {
    std::vector<std::uint8_t> written;
    std::vector<memory::ShadowWord> words;
  };

  void check_written(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base);
  void check_races(const WarpAccess& access);
  void report_unwritten(const WarpAccess& access, std::uint32_t lane, std::uint64_t offset);
  void report_race(const WarpAccess& access, std::uint32_t lane, memory::RaceKind race,
                   const memory::ShadowWord& before);
  void report(const WarpAccess& access, std::uint32_t lane, const char* checker, std::string kind,
              std::string text);
  void report(Warp& warp, const Step* step, std::uint32_t lane, const char* checker,
              std::string kind, std::string text, std::uint64_t address, std::uint32_t bytes);
  static SharedShadow& shadow_of(const Block& block) {
    return *static_cast<SharedShadow*>(block.checker_state);
  }

  Launch& launch_;
  Checks checks_;
  std::mutex mutex_;
  std::map<std::pair<const Step*, std::string>, CheckReport> reports_;
  std::vector<std::unique_ptr<SharedShadow>> shared_;  // one a block in flight
  std::unique_ptr<memory::AccessShadow> global_;
  std::uint32_t era_ = 1;
};

}  // namespace membound::vgpu::exec
