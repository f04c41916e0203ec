// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the runner asks its runtime beside the plain API: who a virtual GPU is, what it counted,
/// and the layout of a kernel's parameters.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/sandbox/runner/call_record.hpp"
#include "grader/sandbox/runner/messages.hpp"

namespace membound::runner {

/// "NVIDIA H200 (virtual)"; empty on a GPU.
[[nodiscard]] const std::string& virtual_gpu_name();

/// So much room the virtual GPU's report takes now, with a final zero. 0 on a GPU.
[[nodiscard]] std::size_t virtual_report_room();
/// Writes it into `room`; its bytes, without a final zero. 0 on a GPU.
[[nodiscard]] std::size_t take_virtual_report(std::span<std::byte> room);

/// When the device works on the latest kernel, copy or fill, on its virtual clock; untouched on a
/// GPU.
void last_virtual_work(double& start_ns, double& end_ns);

/// The same for each node of the graph that was launched last, in the order they were captured;
/// start and end. Nothing on a GPU.
[[nodiscard]] std::vector<std::array<double, 2>> last_virtual_graph();

/// What kernels, copies and fills from here on touch of memory is kept; false on a GPU.
[[nodiscard]] bool keep_virtual_uses();
/// What each of them touched since this was asked last. Nothing on a GPU.
[[nodiscard]] std::vector<std::vector<MemoryUse>> take_virtual_uses();

/// The next three are false where there is no virtual GPU, or no allocation begins at `address`.
[[nodiscard]] bool sample_virtual_launches(const SampleLaunches& how);
[[nodiscard]] bool draw_virtual_word(std::uint64_t address, std::uint32_t word);
[[nodiscard]] bool draw_virtual_input(const DrawInput& input);
/// Nothing where that was not done to an array that begins there.
[[nodiscard]] std::optional<bool> is_virtual_input_as_drawn(std::uint64_t address);
/// Shows what was touched of a lazily generated array, in order: stretches of whole chunks.
using SeeTouched = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;
[[nodiscard]] bool each_virtual_touched(std::uint64_t address, const SeeTouched& see);

/// Offsets and sizes of the kernel's parameters, as its module says.
[[nodiscard]] std::vector<Parameter> parameters_of(cudaKernel_t kernel);

}  // namespace membound::runner
