// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a cubin says about its kernels: registers, shared, local and constant bytes, block limits.
/// Place in the chain: fatbin -> [fatbin/cubin] -> occupancy. Left out: machine code.
/// Source: ELF64; the .nv.info attributes as found in the output of nvcc 13.0 and checked against
/// `ptxas -v`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::vgpu::fatbin {

/// The resources of one kernel (or device function) as ptxas decided them.
struct CubinKernel {
  std::string name = {};                    ///< mangled
  std::uint32_t registers = 0;              ///< per thread
  std::uint32_t shared_bytes = 0;           ///< static, with what the system reserves per block
  std::uint32_t reserved_shared_bytes = 0;  ///< of these, the system's part (1024 from sm_90 on)
  std::uint32_t local_bytes = 0;            ///< per thread: frame size
  std::uint32_t parameter_bytes = 0;        ///< of the kernel's parameters
  std::uint32_t barriers = 0;               ///< named barriers used
  std::uint32_t max_threads = 0;            ///< per block; 0 when not limited
  std::vector<std::uint32_t> parameter_offsets = {};  ///< in order of the parameters
  std::vector<std::uint32_t> parameter_sizes = {};
};

/// Reads every kernel of an ELF cubin.
[[nodiscard]] base::Result<std::vector<CubinKernel>> read_cubin(std::span<const std::byte> bytes,
                                                                std::string_view where = "cubin");

}  // namespace membound::vgpu::fatbin
