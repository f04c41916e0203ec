// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One piece of device work, complete in itself: what a stream runs at once, and what a capturing
/// stream or a graph keeps as a node.
/// Place in the chain: the API's arguments, checked -> [operation] -> operation_executor or graph.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/memory/dim3.hpp"
#include "grader/vgpu/runtime/device/modules.hpp"

namespace membound::vgpu::runtime {

struct Event;
struct Graph;

/// Nothing but order.
struct EmptyOperation {};

/// A kernel launch whose configuration has been checked; parameters are copied.
struct KernelOperation {
  KernelHandle* kernel = nullptr;
  Dim3 grid = {};
  Dim3 block = {};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
  bool cooperative = false;
};

/// One end of a copy: rows of bytes at `address`, host or device.
struct CopyEnd {
  std::uint64_t address = 0;
  std::size_t pitch_bytes = 0;  ///< from row to row
  std::size_t slice_bytes = 0;  ///< from slice to slice
  bool on_device = false;
};

/// A box of bytes from here to there.
struct CopyOperation {
  CopyEnd to;
  CopyEnd from;
  std::size_t width_bytes = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  cudaMemcpy3DParms as_given = {};  ///< for cudaGraphMemcpyNodeGetParams; zero when given otherwise
  std::string_view called_by = "a copy";  ///< the call that asks for it
};

/// A box of equal elements.
struct FillOperation {
  std::uint64_t address = 0;
  bool on_device = true;
  std::size_t pitch_bytes = 0;
  std::size_t slice_bytes = 0;
  std::uint32_t value = 0;
  std::uint32_t element_bytes = 1;
  std::size_t width = 0;  ///< elements of a row
  std::size_t height = 1;
  std::size_t depth = 1;
};

/// A host function in stream order.
struct HostOperation {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
  cudaStreamCallback_t callback = nullptr;  ///< cudaStreamAddCallback's kind, instead of `function`
  cudaStream_t stream = nullptr;
};

/// Remembers the moment the stream has come to.
struct RecordOperation {
  cudaEvent_t event = nullptr;
};

/// Waits for a recorded moment.
struct WaitOperation {
  cudaEvent_t event = nullptr;
};

/// A graph inside a graph.
struct ChildGraphOperation {
  std::shared_ptr<Graph> graph;
};

/// Memory that a graph owns: there from the node's making on.
struct AllocateOperation {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Gives memory back.
struct FreeOperation {
  std::uint64_t address = 0;
};

using Operation = std::variant<EmptyOperation, KernelOperation, CopyOperation, FillOperation,
                               HostOperation, RecordOperation, WaitOperation, ChildGraphOperation,
                               AllocateOperation, FreeOperation>;

}  // namespace membound::vgpu::runtime
