// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/kernel_profile.hpp"

#include "grader/course/json_fields.hpp"

namespace membound::course {

using nlohmann::json;

void to_json(json& out, const MemoryAccess& value) {
  out = {{"file", value.file},
         {"line", value.line},
         {"ptx_line", value.ptx_line},
         {"instruction", value.instruction},
         {"space", value.space},
         {"kind", value.kind},
         {"occurrence", value.occurrence},
         {"mask", value.mask},
         {"bytes", value.bytes},
         {"offsets", value.offsets},
         {"units", value.units},
         {"ideal", value.ideal}};
  if (value.is_shared()) out["wavefronts"] = value.wavefronts;
}

void from_json(const json& in, MemoryAccess& value) {
  read_field(in, "file", value.file);
  read_field(in, "line", value.line);
  read_field(in, "ptx_line", value.ptx_line);
  read_field(in, "instruction", value.instruction);
  read_field(in, "space", value.space);
  read_field(in, "kind", value.kind);
  read_field(in, "occurrence", value.occurrence);
  read_field(in, "mask", value.mask);
  read_field(in, "bytes", value.bytes);
  read_field(in, "offsets", value.offsets);
  read_field(in, "units", value.units);
  read_field(in, "ideal", value.ideal);
  read_field(in, "wavefronts", value.wavefronts);
}

namespace {

json to_json_list(const std::vector<TimeBound>& bounds) {
  json list = json::array();
  for (const TimeBound& bound : bounds) list.push_back({{"name", bound.name}, {"ns", bound.ns}});
  return list;
}

json to_json_list(const std::vector<LineWork>& lines) {
  json list = json::array();
  for (const LineWork& line : lines)
    list.push_back({{"file", line.file},
                    {"line", line.line},
                    {"warp_instructions", line.warp_instructions},
                    {"branches", line.branches},
                    {"divergent_branches", line.divergent_branches}});
  return list;
}

}  // namespace

void to_json(json& out, const KernelProfile& value) {
  out = {{"name", value.name},
         {"label", value.label},
         {"launches", value.launches},
         {"grid", value.grid},
         {"block", value.block},
         {"registers", value.registers},
         {"shared_bytes", value.shared_bytes},
         {"blocks_per_sm", value.blocks_per_sm},
         {"occupancy", value.occupancy},
         {"limiter", value.limiter},
         {"predicted_ns", value.predicted_ns},
         {"bound", value.bound},
         {"bounds", to_json_list(value.bounds)},
         {"warp_instructions", value.warp_instructions},
         {"lanes_per_instruction", value.lanes_per_instruction},
         {"dram_bytes", value.dram_bytes},
         {"lines", to_json_list(value.lines)},
         {"accesses", value.accesses},
         {"traced_block", value.traced_block},
         {"traced_warp", value.traced_warp}};
}

void from_json(const json& in, KernelProfile& value) {
  read_field(in, "name", value.name);
  read_field(in, "label", value.label);
  read_field(in, "launches", value.launches);
  read_field(in, "grid", value.grid);
  read_field(in, "block", value.block);
  read_field(in, "registers", value.registers);
  read_field(in, "shared_bytes", value.shared_bytes);
  read_field(in, "blocks_per_sm", value.blocks_per_sm);
  read_field(in, "occupancy", value.occupancy);
  read_field(in, "limiter", value.limiter);
  read_field(in, "predicted_ns", value.predicted_ns);
  read_field(in, "bound", value.bound);
  read_field(in, "warp_instructions", value.warp_instructions);
  read_field(in, "lanes_per_instruction", value.lanes_per_instruction);
  read_field(in, "dram_bytes", value.dram_bytes);
  read_field(in, "accesses", value.accesses);
  read_field(in, "traced_block", value.traced_block);
  read_field(in, "traced_warp", value.traced_warp);
  for (const json& bound : in.value("bounds", json::array()))
    value.bounds.push_back({bound.value("name", ""), bound.value("ns", 0.0)});
  for (const json& line : in.value("lines", json::array()))
    value.lines.push_back({line.value("file", ""), line.value("line", 0),
                           line.value("warp_instructions", std::uint64_t{0}),
                           line.value("branches", std::uint64_t{0}),
                           line.value("divergent_branches", std::uint64_t{0})});
}

}  // namespace membound::course
