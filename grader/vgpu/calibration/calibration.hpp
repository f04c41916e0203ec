// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A machine file from what microbenchmarks.cu measured on a GPU. Each number that it tells is
/// taken from one or two readings, none is fitted; the others stay those of a machine that is
/// known.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::calibration {

/// What the microbenchmarks printed.
struct Readings {
  std::string gpu;    ///< "NVIDIA H200"
  std::string label;  ///< the whole first line: GPU, driver, date
  /// By "group,name": microseconds, or for the group "device" what the runtime reports.
  std::map<std::string, double> of;
};

/// Lines `group,name,number`; the first line, "# GPU, …", says where it was. Others that begin with
/// # are left out. `where` is for messages.
[[nodiscard]] base::Result<Readings> read_readings(std::string_view text, std::string_view where);

/// A number that the readings give.
struct CalibratedNumber {
  std::string field;  ///< of machine_fields.def, or a class of costs.def
  double before = 0, now = 0;
};

/// The new file.
struct Calibration {
  std::string json;
  std::vector<CalibratedNumber> numbers;
};

/// The file `id` of the GPU that was measured; what the readings do not tell is `base`'s, and says
/// so.
[[nodiscard]] base::Result<Calibration> calibrate(const timing::MachineFile& base,
                                                  const std::string& id, const Readings& readings);

}  // namespace membound::vgpu::calibration
