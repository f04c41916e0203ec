// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a cubin says about its kernels: registers, shared, local and constant bytes, block limits.
/// Source: ELF64; the .nv.info attributes as found in the output of nvcc 13.0 and checked against
/// `ptxas -v`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::fatbin {

/// The resources of one kernel as ptxas decided them.
struct CubinKernel {
  std::string name = {};                    ///< mangled
  std::uint32_t registers = 0;              ///< per thread
  std::uint32_t shared_bytes = 0;           ///< static, of the kernel itself
  std::uint32_t reserved_shared_bytes = 0;  ///< on top, per block: 1024 from sm_80 on
  std::uint32_t local_bytes = 0;      ///< per thread: the stack of the kernel and what it calls
  std::uint32_t parameter_bytes = 0;  ///< of the kernel's parameters
  std::uint32_t barriers = 0;         ///< named barriers used
  std::uint32_t max_threads = 0;      ///< per block; 0 when not limited
  std::vector<std::uint32_t> parameter_offsets = {};  ///< in order of the parameters
  std::vector<std::uint32_t> parameter_sizes = {};
};

/// The compute capability (90) a cubin was made for; an error when the bytes are no cubin.
[[nodiscard]] base::Result<std::uint32_t> cubin_arch(std::span<const std::byte> bytes,
                                                     std::string_view where = "cubin");

/// Reads every kernel of an ELF cubin.
[[nodiscard]] base::Result<std::vector<CubinKernel>> read_cubin(std::span<const std::byte> bytes,
                                                                std::string_view where = "cubin");

}  // namespace membound::fatbin
