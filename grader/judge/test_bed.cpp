// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/test_bed.hpp"

#include "grader/judge/device_choice.hpp"

namespace membound::judge {

const TestBed& bed_of(const course::StageKind& kind) {
  return &kind == &course::kProgramStage ? program_bed() : kernel_bed();
}

Device device_of(const course::StageKind& kind, const Device& device, const Workplace& place) {
  if (!kind.needs_timeline || device.kind->tells_timeline()) return device;
  return virtual_gpu(kDefaultModel, place.build);
}

}  // namespace membound::judge
