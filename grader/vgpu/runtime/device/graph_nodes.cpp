// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/graph_nodes.hpp"

#include <algorithm>

#include "grader/vgpu/runtime/device/data_movement.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"
#include "grader/vgpu/runtime/device/kernel_launch.hpp"
#include "grader/vgpu/runtime/device/launch_limits.hpp"

namespace membound::vgpu::runtime {

cudaError_t kernel_node(Context& context, const cudaKernelNodeParams* parameters, Operation& out) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const cudaKernelNodeParams& p = *parameters;
  KernelHandle* handle = context.registry.find_kernel(p.func);
  if (handle == nullptr) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t code = load_kernel(context, *handle); code != cudaSuccess) return code;
  if (const auto refused =
          refused_launch(context, *handle, {p.gridDim, p.blockDim, p.sharedMemBytes, false}))
    return refused->code;
  // `extra` is the driver's other way of passing parameters.
  if (p.extra != nullptr) return cudaErrorNotSupported;
  if (p.kernelParams == nullptr && !handle->kernel->parameters.empty())
    return cudaErrorInvalidValue;
  out = KernelOperation{handle,
                        {p.gridDim.x, p.gridDim.y, p.gridDim.z},
                        {p.blockDim.x, p.blockDim.y, p.blockDim.z},
                        p.sharedMemBytes,
                        pack_parameters(*handle->kernel, p.kernelParams),
                        false};
  return cudaSuccess;
}

cudaError_t copy_node(Context& context, const cudaMemcpy3DParms* parameters, Operation& out) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CopyOperation copy;
  const cudaError_t code = make_copy_3d(context, copy, *parameters);
  out = copy;
  return code;
}

cudaError_t copy_node_1d(Context& context, void* to, const void* from, std::size_t bytes,
                         cudaMemcpyKind kind, Operation& out) {
  CopyOperation copy;
  const cudaError_t code = make_copy(context, copy, to, from, bytes, kind);
  copy.as_given.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  copy.as_given.dstPtr = {to, bytes, bytes, 1};
  copy.as_given.extent = {bytes, 1, 1};
  copy.as_given.kind = kind;
  out = copy;
  return code;
}

cudaError_t fill_node(Context& context, const cudaMemsetParams* parameters, Operation& out) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const cudaMemsetParams& p = *parameters;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
  FillOperation fill;
  fill.address = reinterpret_cast<std::uint64_t>(p.dst);
  fill.pitch_bytes = p.pitch;
  fill.value = p.value;
  fill.element_bytes = p.elementSize;
  fill.width = p.width;
  fill.height = p.height;
  const cudaError_t code = check_fill(context, fill);
  out = fill;
  return code;
}

cudaError_t host_node(const cudaHostNodeParams* parameters, Operation& out) {
  if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
  out = HostOperation{parameters->fn, parameters->userData, nullptr, nullptr};
  return cudaSuccess;
}

cudaError_t child_node(Context& context, cudaGraph_t graph, Operation& out) {
  const auto child = context.graphs.find(graph);
  if (!child) return cudaErrorInvalidValue;
  out = ChildGraphOperation{child->clone()};
  return cudaSuccess;
}

cudaError_t any_node(Context& context, const cudaGraphNodeParams* parameters, Operation& out) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel:
      return kernel_node(context, &parameters->kernel, out);
    case cudaGraphNodeTypeMemcpy:
      return copy_node(context, &parameters->memcpy.copyParams, out);
    case cudaGraphNodeTypeMemset:
      return fill_node(context, &parameters->memset, out);
    case cudaGraphNodeTypeHost:
      return host_node(&parameters->host, out);
    case cudaGraphNodeTypeGraph:
      return child_node(context, parameters->graph.graph, out);
    case cudaGraphNodeTypeEmpty:
      out = EmptyOperation{};
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      out = WaitOperation{parameters->eventWait.event};
      return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
      out = RecordOperation{parameters->eventRecord.event};
      return cudaSuccess;
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t list_nodes(const std::vector<GraphNode*>& nodes, cudaGraphNode_t* out,
                       std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  std::size_t i = 0;
  for (; i < std::min(*count, nodes.size()); ++i) out[i] = static_cast<CUgraphNode_st*>(nodes[i]);
  for (; i < *count; ++i) out[i] = nullptr;
  *count = nodes.size();
  return cudaSuccess;
}

cudaGraphNodeType type_of(const Operation& operation) {
  struct Namer {
    cudaGraphNodeType operator()(const EmptyOperation&) const { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const KernelOperation&) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const CopyOperation&) const { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const FillOperation&) const { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const HostOperation&) const { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const RecordOperation&) const {
      return cudaGraphNodeTypeEventRecord;
    }
    cudaGraphNodeType operator()(const WaitOperation&) const { return cudaGraphNodeTypeWaitEvent; }
    cudaGraphNodeType operator()(const ChildGraphOperation&) const {
      return cudaGraphNodeTypeGraph;
    }
    cudaGraphNodeType operator()(const AllocateOperation&) const {
      return cudaGraphNodeTypeMemAlloc;
    }
    cudaGraphNodeType operator()(const FreeOperation&) const { return cudaGraphNodeTypeMemFree; }
  };
  return std::visit(Namer{}, operation);
}

}  // namespace membound::vgpu::runtime
