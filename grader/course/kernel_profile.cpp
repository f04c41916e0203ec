// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/kernel_profile.hpp"

#include "grader/course/json_fields.hpp"

namespace membound::course {

using nlohmann::json;

MEMBOUND_FIELDS(MemoryAccess, file, line, ptx_line, instruction, space, kind, occurrence, mask,
                bytes, offsets, units, ideal)
MEMBOUND_JSON(TimeBound, name, ns)
MEMBOUND_JSON(LineWork, file, line, warp_instructions, branches, divergent_branches)
MEMBOUND_JSON(SpeedAdvice, rule, fault, gain, what, counter, value, file, line, remedy, handout,
              section, counted_by)
MEMBOUND_JSON(KernelProfile, name, label, launches, grid, block, registers, shared_bytes,
              blocks_per_sm, occupancy, limiter, predicted_ns, bound, bounds, advice,
              warp_instructions, lanes_per_instruction, dram_bytes, lines, accesses, traced_block,
              traced_warp, traced_label)

void to_json(json& out, const MemoryAccess& value) {
  write_fields(out, value);
  if (value.is_shared()) out["wavefronts"] = value.wavefronts;
}

void from_json(const json& in, MemoryAccess& value) {
  read_fields(in, value);
  read_field(in, "wavefronts", value.wavefronts);
}

}  // namespace membound::course
