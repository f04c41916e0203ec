// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Graphs before they are instantiated: making them, their nodes and edges, reading and changing
/// what a node does. A node's handle is the node; it is trusted, as its graph cannot be found
/// without it.
#include <algorithm>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"
#include "grader/vgpu/runtime/device/modules.hpp"

namespace membound::vgpu::runtime {
namespace {

/// What every cudaGraphAdd…Node gets first.
struct NodePlace {
  cudaGraphNode_t* out;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  std::size_t count;
};

/// Adds the node that `make` describes.
template <typename Make>
cudaError_t add_node(const NodePlace& place, Make make) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    const auto graph = call.context.graphs.find(place.graph);
    if (!graph || place.out == nullptr || (place.count > 0 && place.dependencies == nullptr))
      return cudaErrorInvalidValue;
    Operation operation;
    if (const cudaError_t code = make(call.context, operation); code != cudaSuccess) return code;
    const std::vector<GraphNode*> dependencies(place.dependencies,
                                               place.dependencies + place.count);
    *place.out = static_cast<CUgraphNode_st*>(&graph->add(std::move(operation), dependencies));
    return cudaSuccess;
  });
}

template <typename Body>
cudaError_t with_graph(cudaGraph_t handle, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    const auto graph = call.context.graphs.find(handle);
    return graph ? body(call.context, *graph) : cudaErrorInvalidValue;
  });
}

cudaError_t change_edges(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         std::size_t count, bool add) {
  return with_graph(handle, [&](Context&, Graph&) {
    if (count > 0 && (from == nullptr || to == nullptr)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      auto& list = to[i]->dependencies;
      const bool present = std::find(list.begin(), list.end(), from[i]) != list.end();
      if (present == add || from[i] == to[i]) return cudaErrorInvalidValue;
      if (add)
        list.push_back(from[i]);
      else
        std::erase(list, static_cast<GraphNode*>(from[i]));
    }
    return cudaSuccess;
  });
}

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

CUDA_CALL cudaGraphCreate(cudaGraph_t* out, unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || flags != 0) return cudaErrorInvalidValue;
    *out = call.context.graphs.add(std::make_shared<Graph>());
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphDestroy(cudaGraph_t graph) {
  return api_call(Waits::kNo, [&](Call call) {
    return call.context.graphs.remove(graph) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaGraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  return with_graph(graph, [&](Context& only, Graph& original) {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = only.graphs.add(original.clone());
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t original,
                                   cudaGraph_t clone) {
  return with_graph(clone, [&](Context&, Graph& graph) {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = static_cast<CUgraphNode_st*>(graph.find_clone(original));
    return *out ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                const cudaGraphNode_t* dependencies, std::size_t count) {
  return add_node({out, graph, dependencies, count},
                  [](Context&, Operation&) { return cudaSuccess; });
}

CUDA_CALL cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaKernelNodeParams* p) {
  return add_node({out, graph, dependencies, count},
                  [&](Context& only, Operation& o) { return kernel_node(only, p, o); });
}

CUDA_CALL cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaMemcpy3DParms* p) {
  return add_node({out, graph, dependencies, count},
                  [&](Context& only, Operation& o) { return copy_node(only, p, o); });
}

CUDA_CALL cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count, void* to,
                                   const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return add_node({out, graph, dependencies, count}, [&](Context& only, Operation& o) {
    return copy_node_1d(only, to, from, bytes, kind, o);
  });
}

CUDA_CALL cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                         const cudaGraphNode_t* dependencies, std::size_t count,
                                         const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, cudaMemcpyKind kind) {
  return add_node({out, graph, dependencies, count}, [&](Context& only, Operation& o) {
    std::uint64_t address = 0;
    const cudaError_t code = symbol_range(only, symbol, offset, bytes, address);
    if (code != cudaSuccess) return code;
    return copy_node_1d(only, reinterpret_cast<void*>(address), from, bytes, kind, o);
  });
}

CUDA_CALL cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, std::size_t count,
                                           void* to, const void* symbol, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return add_node({out, graph, dependencies, count}, [&](Context& only, Operation& o) {
    std::uint64_t address = 0;
    const cudaError_t code = symbol_range(only, symbol, offset, bytes, address);
    if (code != cudaSuccess) return code;
    return copy_node_1d(only, to, reinterpret_cast<void*>(address), bytes, kind, o);
  });
}

CUDA_CALL cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaMemsetParams* p) {
  return add_node({out, graph, dependencies, count},
                  [&](Context& only, Operation& o) { return fill_node(only, p, o); });
}

CUDA_CALL cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph,
                               const cudaGraphNode_t* dependencies, std::size_t count,
                               const cudaHostNodeParams* p) {
  return add_node({out, graph, dependencies, count},
                  [&](Context&, Operation& o) { return host_node(p, o); });
}

CUDA_CALL cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaGraph_t child) {
  return add_node({out, graph, dependencies, count},
                  [&](Context& only, Operation& o) { return child_node(only, child, o); });
}

CUDA_CALL cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add_node({out, graph, dependencies, count}, [&](Context&, Operation& o) {
    o = RecordOperation{event};
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    cudaEvent_t event) {
  return add_node({out, graph, dependencies, count}, [&](Context&, Operation& o) {
    o = WaitOperation{event};
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph,
                           const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                           std::size_t count, cudaGraphNodeParams* p) {
  return add_node({out, graph, dependencies, count},
                  [&](Context& only, Operation& o) { return any_node(only, p, o); });
}

CUDA_CALL cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                   const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                   std::size_t count) {
  return change_edges(graph, from, to, count, true);
}

CUDA_CALL cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                      const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                      std::size_t count) {
  return change_edges(graph, from, to, count, false);
}

CUDA_CALL cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out, std::size_t* count) {
  return with_graph(graph, [&](Context&, Graph& g) {
    std::vector<GraphNode*> all;
    for (GraphNode& node : g.nodes) all.push_back(&node);
    return list_nodes(all, out, count);
  });
}

CUDA_CALL cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out, std::size_t* count) {
  return with_graph(graph, [&](Context&, Graph& g) {
    std::vector<GraphNode*> roots;
    for (GraphNode& node : g.nodes)
      if (node.dependencies.empty()) roots.push_back(&node);
    return list_nodes(roots, out, count);
  });
}

CUDA_CALL cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                            cudaGraphEdgeData* edges, std::size_t* count) {
  return with_graph(graph, [&](Context&, Graph& g) {
    std::vector<GraphNode*> starts;
    std::vector<GraphNode*> ends;
    for (GraphNode& node : g.nodes)
      for (GraphNode* dependency : node.dependencies) {
        starts.push_back(dependency);
        ends.push_back(&node);
      }
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    if (edges != nullptr) std::fill_n(edges, std::min(*count, starts.size()), cudaGraphEdgeData{});
    std::size_t both = *count;
    list_nodes(starts, from, &both);
    return list_nodes(ends, to, count);
  });
}

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
