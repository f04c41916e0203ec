// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The real GPUs of this machine: what the driver says of them, whether each has what a check
/// needs, and which virtual model is nearest to one that has not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace membound::judge {

/// Whom the driver lets use a GPU: what `nvidia-smi -c` sets.
enum class ComputeMode { kShared = 0, kProhibited = 2, kOneProcess = 3 };

/// One GPU that this process may use.
struct GpuFacts {
  std::string name;                ///< "NVIDIA H200"
  std::string uuid;                ///< "GPU-8f2c…": names it in every process; may be empty
  int number = -1;                 ///< N of /dev/nvidiaN; -1: not known
  bool is_one_of_several = false;  ///< and must be named to be used alone
  int capability = 0;              ///< ten times the compute capability: 75 for 7.5
  int sm_count = 0;
  std::uint64_t memory_bytes = 0;
  std::optional<std::uint64_t> free_bytes = {};  ///< nothing: the driver's NVML is not there
  ComputeMode mode = ComputeMode::kShared;
  bool is_in_use = false;  ///< another process computes on it; false as well where NVML is missing
};

/// What asking the NVIDIA driver gave.
struct GpuAnswer {
  bool answers = false;
  bool has_device = false;     ///< a device file of NVIDIA's is there
  std::vector<GpuFacts> gpus;  ///< in the driver's order; at least one where it answers
  int cuda = 0;                ///< newest CUDA version the driver supports: 12040 for 12.4
  std::string driver;          ///< its own version, "550.54.15"; empty: NVML is not there
  std::string problem;         ///< why there is none

  /// "driver 550.54.15 for CUDA 12.4"
  [[nodiscard]] std::string driver_text() const;
};

/// Asks the driver, through its library; quick where `devices` has no NVIDIA device file.
[[nodiscard]] GpuAnswer ask_gpu(const std::filesystem::path& devices = "/dev");

/// One thing that a GPU needs to serve a check.
struct GpuNeed {
  std::string what;  ///< "compute", "driver", "mode", "memory"
  bool is_met = false;
  std::string found;   ///< "driver 470.57.02 for CUDA 11.4"
  std::string needed;  ///< "driver 525 or newer (CUDA 12.0)"
  std::string mend;    ///< what to do unless it is met
};

/// All of them, in the order in which it is worth mending them.
[[nodiscard]] std::vector<GpuNeed> needs_of(const GpuFacts& gpu, const GpuAnswer& answer);

/// The first that is not met.
[[nodiscard]] std::optional<GpuNeed> unmet_need(const GpuFacts& gpu, const GpuAnswer& answer);

/// The built-in machine that is most like the GPU: of its name, else of the nearest compute
/// capability, and of those the one nearest in SMs and memory. Never empty.
[[nodiscard]] std::string nearest_model(const GpuFacts& gpu);

}  // namespace membound::judge
