// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One GPU in numbers: limits, rates and latencies, each with where it comes from; and where
/// machine files are found, built in and in the user's configuration folder. What the numbers mean
/// together is said by model.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::timing {

/// A GPU. The fields are the rows of machine_fields.def.
struct Machine {
  std::string id;    ///< "h200": what `vgpu:h200` names
  std::string name;  ///< "NVIDIA H200"
#define MACHINE_FIELD(type, field, meaning) type field = {};
#include "grader/vgpu/timing/machine_fields.def"
#undef MACHINE_FIELD
  program::CostTable costs;          ///< what its file leaves out is as on an H200
  program::AssemblerPasses passes;   ///< what ptxas is taken to do
  std::uint64_t ignored_counts = 0;  ///< mechanisms that are off: see mechanisms.hpp
};

/// Where one number of a machine comes from: "[measured] …", "[published] …" or "[recalled] …".
struct NumberSource {
  std::string field;
  double value = 0;
  std::string source;
};

/// The same of an instruction class.
struct CostSource {
  std::string name;  ///< "shuffle"
  double slots = 0, latency_clocks = 0;
  std::string source;
};

/// `sm_count` SMs of a machine, with their share of everything that all SMs have in common: L2,
/// DRAM, the rates of stores and atomics. A problem that fills the slice takes as long as one that
/// is larger by the same factor takes on the whole machine, so a small problem can stand for a
/// large one. The machine itself if it has no more SMs than that.
[[nodiscard]] Machine slice_of(Machine machine, std::uint32_t sm_count);

/// Warps an SM holds at most.
[[nodiscard]] inline std::uint32_t max_warps_per_sm(const Machine& machine) {
  return machine.max_threads_per_sm / 32;
}

/// Reads one machine file. Every row of machine_fields.def must be there, with its source, or in
/// the file of the built-in machine that "like" names. "without" lists mechanisms of the clock that
/// are off (mechanisms.def).
[[nodiscard]] base::Result<Machine> read_machine(std::string_view json, std::string_view where);

/// A machine file with the numbers that it takes from another one ("like") written out, each with
/// "[recalled] as ID" for its source; the file as it is where it takes none. An error names a
/// machine that is not built in, or a circle.
[[nodiscard]] base::Result<std::string> written_out(std::string_view json, std::string_view where);

/// The sources of a machine file that read_machine() accepts, in file order; last come those of
/// numbers taken from another machine.
[[nodiscard]] std::vector<NumberSource> read_sources(std::string_view json);

/// The same of the instruction classes that it lists; the others cost what they do on an H200.
[[nodiscard]] std::vector<CostSource> read_cost_sources(std::string_view json);

/// What a field of machine_fields.def says, with its unit; empty where there is no such field.
[[nodiscard]] std::string_view meaning_of(std::string_view field);

/// A machine file as it was built in.
struct BuiltInMachine {
  std::string_view id;
  std::string_view json;
};

/// All machines built in, by id.
[[nodiscard]] std::span<const BuiltInMachine> built_in_machines();

/// One machine file. Its content may be broken; machine_of() says how.
struct MachineFile {
  std::string id;     ///< its name without ".json"
  std::string where;  ///< for messages: "h200.json", or the path of one's own
  std::string json;
  bool built_in = true;
};

/// Where a user's own files are: membound/machines below $XDG_CONFIG_HOME, or else ~/.config;
/// empty where neither is known.
[[nodiscard]] std::filesystem::path own_machines_folder();

/// All files: those built in, then those of `own_folder`, by id. A file of one's own with the name
/// of one that is built in is among them, and never used.
[[nodiscard]] std::vector<MachineFile> machine_files(const std::filesystem::path& own_folder);

/// The file of `id`, built in before one's own; the error lists the ids there are.
[[nodiscard]] base::Result<MachineFile> find_machine_file(std::string_view id,
                                                          const std::filesystem::path& own_folder);

/// What it holds; its "id" must be its name.
[[nodiscard]] base::Result<Machine> machine_of(const MachineFile& file);

/// The machine of `id`, built in or one's own.
[[nodiscard]] base::Result<Machine> find_machine(std::string_view id);

}  // namespace membound::vgpu::timing
