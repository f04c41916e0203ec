// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One node of a graph: its neighbours, its kind, reading and changing what it does. A node's
/// handle is the node; it is trusted, as its graph cannot be found without it.
#include <algorithm>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/graph_nodes.hpp"

namespace membound::vgpu::runtime {
namespace {

template <typename Body>
cudaError_t with_node(cudaGraphNode_t node, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    return node ? body(call.context, static_cast<GraphNode&>(*node)) : cudaErrorInvalidValue;
  });
}

/// Replaces a node's operation by one of the same kind.
template <typename Make>
cudaError_t change_node(cudaGraphNode_t node, Make make) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    if (node == nullptr) return cudaErrorInvalidValue;
    Operation operation;
    if (const cudaError_t code = make(call.context, operation); code != cudaSuccess) return code;
    if (operation.index() != node->operation.index()) return cudaErrorInvalidValue;
    node->operation = std::move(operation);
    return cudaSuccess;
  });
}

/// Tells of a node of this kind what `read` finds in its operation.
template <typename Kind, typename Out, typename Read>
cudaError_t read_node(cudaGraphNode_t node, Out* out, Read read) {
  return with_node(node, [&](Context& only, GraphNode& n) {
    Kind* const operation = std::get_if<Kind>(&n.operation);
    if (out == nullptr || operation == nullptr) return cudaErrorInvalidValue;
    *out = read(only, *operation);
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_CALL cudaGraphDestroyNode(cudaGraphNode_t node) {
  return with_node(node, [&](Context&, GraphNode& n) {
    n.graph->remove(n);
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                       cudaGraphEdgeData*, std::size_t* count) {
  return with_node(node,
                   [&](Context&, GraphNode& n) { return list_nodes(n.dependencies, out, count); });
}

CUDA_CALL cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                         cudaGraphEdgeData*, std::size_t* count) {
  return with_node(node, [&](Context&, GraphNode& n) {
    std::vector<GraphNode*> dependents;
    for (GraphNode& other : n.graph->nodes)
      if (std::find(other.dependencies.begin(), other.dependencies.end(), &n) !=
          other.dependencies.end())
        dependents.push_back(&other);
    return list_nodes(dependents, out, count);
  });
}

CUDA_CALL cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return with_node(node, [&](Context&, GraphNode& n) {
    if (type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(n.operation);
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return change_node(node, [&](Context& only, Operation& o) { return kernel_node(only, p, o); });
}

CUDA_CALL cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return change_node(node, [&](Context& only, Operation& o) { return copy_node(only, p, o); });
}

CUDA_CALL cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                         std::size_t bytes, cudaMemcpyKind kind) {
  return change_node(node, [&](Context& only, Operation& o) {
    return copy_node_1d(only, to, from, bytes, kind, o);
  });
}

CUDA_CALL cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return change_node(node, [&](Context& only, Operation& o) { return fill_node(only, p, o); });
}

CUDA_CALL cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return change_node(node, [&](Context&, Operation& o) { return host_node(p, o); });
}

CUDA_CALL cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return change_node(node, [&](Context& only, Operation& o) { return any_node(only, p, o); });
}

CUDA_CALL cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return read_node<CopyOperation>(node, p, [](Context&, auto& copy) { return copy.as_given; });
}

CUDA_CALL cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return read_node<FillOperation>(node, p, [](Context&, auto& fill) -> cudaMemsetParams {
    return {reinterpret_cast<void*>(fill.address),
            fill.pitch_bytes,
            fill.value,
            fill.element_bytes,
            fill.width,
            fill.height};
  });
}

CUDA_CALL cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return read_node<HostOperation>(node, p, [](Context&, auto& host) -> cudaHostNodeParams {
    return {host.function, host.data};
  });
}

CUDA_CALL cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return read_node<KernelOperation>(node, p, [](Context&, auto& kernel) -> cudaKernelNodeParams {
    // Arguments are handed out in place; the list lives until this thread asks again.
    static thread_local std::vector<void*> arguments;
    arguments.clear();
    for (const auto& parameter : kernel.kernel->kernel->parameters)
      arguments.push_back(kernel.parameters.data() + parameter.offset_bytes);
    return {static_cast<CUkern_st*>(kernel.kernel),
            {kernel.grid.x, kernel.grid.y, kernel.grid.z},
            {kernel.block.x, kernel.block.y, kernel.block.z},
            kernel.dynamic_shared_bytes,
            arguments.data(),
            nullptr};
  });
}

CUDA_CALL cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* out) {
  return read_node<ChildGraphOperation>(node, out, [](Context& only, auto& child) {
    const cudaGraph_t known = only.graphs.handle_of(child.graph.get());
    return known != nullptr ? known : only.graphs.add(child.graph);
  });
}

CUDA_CALL cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return read_node<RecordOperation>(node, event, [](Context&, auto& o) { return o.event; });
}

CUDA_CALL cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return read_node<WaitOperation>(node, event, [](Context&, auto& o) { return o.event; });
}
