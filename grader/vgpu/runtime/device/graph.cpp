// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/graph.hpp"

#include <algorithm>

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/data_movement.hpp"
#include "grader/vgpu/runtime/device/device_properties.hpp"
#include "grader/vgpu/runtime/device/kernel_launch.hpp"

namespace membound::vgpu::runtime {

GraphNode& Graph::add(Operation operation, const std::vector<GraphNode*>& dependencies) {
  CUgraphNode_st& node = nodes.emplace_back();
  node.graph = this;
  node.operation = std::move(operation);
  for (GraphNode* dependency : dependencies)
    if (std::find(node.dependencies.begin(), node.dependencies.end(), dependency) ==
        node.dependencies.end())
      node.dependencies.push_back(dependency);
  return node;
}

void Graph::remove(GraphNode& node) {
  for (GraphNode& other : nodes) std::erase(other.dependencies, &node);
  nodes.remove_if([&](const CUgraphNode_st& candidate) { return &candidate == &node; });
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode& node : nodes) {
    GraphNode& twin = copy->add(node.operation, {});
    twin.origin = &node;
    twin.enabled = node.enabled;
    if (auto* child = std::get_if<ChildGraphOperation>(&twin.operation))
      child->graph = child->graph->clone();
    copies[&node] = &twin;
  }
  for (const GraphNode& node : nodes)
    for (GraphNode* dependency : node.dependencies)
      copies[&node]->dependencies.push_back(copies[dependency]);
  return copy;
}

GraphNode* Graph::find_clone(const GraphNode* original) {
  for (GraphNode& node : nodes)
    if (node.origin == original || &node == original) return &node;
  return nullptr;
}

std::optional<std::vector<GraphNode*>> Graph::in_order() {
  std::vector<GraphNode*> order;
  std::map<const GraphNode*, std::size_t> waiting;
  for (GraphNode& node : nodes) waiting[&node] = node.dependencies.size();
  // Repeatedly take, in order of making, what waits for nothing: stable from run to run.
  while (order.size() < nodes.size()) {
    const std::size_t before = order.size();
    for (GraphNode& node : nodes) {
      const auto entry = waiting.find(&node);
      if (entry == waiting.end() || entry->second > 0) continue;
      waiting.erase(entry);
      order.push_back(&node);
      for (GraphNode& other : nodes)
        if (std::find(other.dependencies.begin(), other.dependencies.end(), &node) !=
            other.dependencies.end())
          --waiting[&other];
    }
    if (order.size() == before) return std::nullopt;
  }
  return order;
}

std::vector<GraphNode*> Graph::leaves() {
  std::vector<GraphNode*> result;
  for (GraphNode& node : nodes) {
    const bool awaited = std::any_of(nodes.begin(), nodes.end(), [&](const GraphNode& other) {
      return std::find(other.dependencies.begin(), other.dependencies.end(), &node) !=
             other.dependencies.end();
    });
    if (!awaited) result.push_back(&node);
  }
  return result;
}

cudaGraph_t GraphTable::add(std::shared_ptr<Graph> graph) {
  auto entry = std::make_unique<CUgraph_st>();
  entry->graph = std::move(graph);
  const cudaGraph_t handle = entry.get();
  graphs_.emplace(handle, std::move(entry));
  return handle;
}

cudaGraphExec_t GraphTable::add_executable(ExecutableGraph executable) {
  auto entry = std::make_unique<CUgraphExec_st>();
  static_cast<ExecutableGraph&>(*entry) = std::move(executable);
  const cudaGraphExec_t handle = entry.get();
  executables_.emplace(handle, std::move(entry));
  return handle;
}

std::shared_ptr<Graph> GraphTable::find(cudaGraph_t handle) const {
  const auto found = graphs_.find(handle);
  return found == graphs_.end() ? nullptr : found->second->graph;
}

ExecutableGraph* GraphTable::find(cudaGraphExec_t handle) const {
  const auto found = executables_.find(handle);
  return found == executables_.end() ? nullptr : found->second.get();
}

cudaGraph_t GraphTable::handle_of(const Graph* graph) const {
  for (const auto& [handle, entry] : graphs_)
    if (entry->graph.get() == graph) return handle;
  return nullptr;
}

bool GraphTable::remove(cudaGraph_t handle) { return graphs_.erase(handle) > 0; }

bool GraphTable::remove(cudaGraphExec_t handle) { return executables_.erase(handle) > 0; }

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
