// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Graphs made ready to launch: instantiating, launching, changing them in place.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t handle, unsigned long long flags) {
  return api_call(Waits::kNo, [&](Call call) {
    const auto graph = call.context.graphs.find(handle);
    if (!graph || out == nullptr) return cudaErrorInvalidValue;
    ExecutableGraph executable{graph->clone(), {}, flags};
    const auto order = executable.graph->in_order();
    if (!order) return cudaErrorInvalidValue;
    executable.order = *order;
    *out = call.context.graphs.add_executable(std::move(executable));
    return cudaSuccess;
  });
}

template <typename Body>
cudaError_t with_executable(cudaGraphExec_t handle, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    ExecutableGraph* executable = call.context.graphs.find(handle);
    return executable ? body(call, *executable) : cudaErrorInvalidValue;
  });
}

/// Replaces what the executable's copy of `node` does by something of the same kind.
template <typename Make>
cudaError_t change(cudaGraphExec_t handle, cudaGraphNode_t node, Make make) {
  return with_executable(handle, [&](Call call, ExecutableGraph& executable) -> cudaError_t {
    GraphNode* twin = executable.graph->find_clone(node);
    if (twin == nullptr) return cudaErrorInvalidValue;
    Operation operation;
    if (const cudaError_t code = make(call.context, operation); code != cudaSuccess) return code;
    if (operation.index() != twin->operation.index()) return cudaErrorInvalidValue;
    twin->operation = std::move(operation);
    return cudaSuccess;
  });
}

/// Same number of nodes, each of the same kind with the same number of dependencies, in order.
cudaGraphExecUpdateResult compare(const std::vector<GraphNode*>& present,
                                  const std::vector<GraphNode*>& wanted,
                                  cudaGraphNode_t& offender) {
  if (present.size() != wanted.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < present.size(); ++i) {
    offender = static_cast<CUgraphNode_st*>(wanted[i]);
    if (present[i]->dependencies.size() != wanted[i]->dependencies.size())
      return cudaGraphExecUpdateErrorTopologyChanged;
    if (present[i]->operation.index() != wanted[i]->operation.index())
      return cudaGraphExecUpdateErrorNodeTypeChanged;
  }
  offender = nullptr;
  return cudaGraphExecUpdateSuccess;
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_CALL cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(out, graph, flags);
}

CUDA_CALL cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph,
                                        unsigned long long flags) {
  return instantiate(out, graph, flags);
}

CUDA_CALL cudaGraphInstantiateWithParams(cudaGraphExec_t* out, cudaGraph_t graph,
                                         cudaGraphInstantiateParams* p) {
  if (p == nullptr) return remember_error(cudaErrorInvalidValue);
  const cudaError_t code = instantiate(out, graph, p->flags);
  p->errNode_out = nullptr;
  p->result_out = code == cudaSuccess ? 0 : 1;
  return code;
}

CUDA_CALL cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* out, cudaGraph_t graph,
                                              cudaGraphInstantiateParams* p) {
  return cudaGraphInstantiateWithParams(out, graph, p);
}

CUDA_CALL cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return with_executable(executable, [&](Call, ExecutableGraph& e) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = e.flags;
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return api_call(Waits::kNo, [&](Call call) {
    return call.context.graphs.remove(executable) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_STREAM_CALL(cudaGraphUpload, (cudaGraphExec_t executable, cudaStream_t stream),
                 (executable, stream)) {
  return with_executable(executable, [&](Call call, ExecutableGraph&) {
    return call.stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

CUDA_STREAM_CALL(cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream),
                 (executable, stream)) {
  return with_executable(executable, [&](Call call, ExecutableGraph& e) {
    Stream* target = call.stream(stream);
    if (target == nullptr) return cudaErrorInvalidResourceHandle;
    return launch_graph(call.context, call.lock, *target, e);
  });
}

CUDA_CALL cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaKernelNodeParams* p) {
  return change(executable, node,
                [&](Context& only, Operation& o) { return kernel_node(only, p, o); });
}

CUDA_CALL cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaMemcpy3DParms* p) {
  return change(executable, node,
                [&](Context& only, Operation& o) { return copy_node(only, p, o); });
}

CUDA_CALL cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             void* to, const void* from, std::size_t bytes,
                                             cudaMemcpyKind kind) {
  return change(executable, node, [&](Context& only, Operation& o) {
    return copy_node_1d(only, to, from, bytes, kind, o);
  });
}

CUDA_CALL cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaMemsetParams* p) {
  return change(executable, node,
                [&](Context& only, Operation& o) { return fill_node(only, p, o); });
}

CUDA_CALL cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                         const cudaHostNodeParams* p) {
  return change(executable, node, [&](Context&, Operation& o) { return host_node(p, o); });
}

CUDA_CALL cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaGraph_t child) {
  return change(executable, node,
                [&](Context& only, Operation& o) { return child_node(only, child, o); });
}

CUDA_CALL cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                     cudaGraphNodeParams* p) {
  return change(executable, node,
                [&](Context& only, Operation& o) { return any_node(only, p, o); });
}

CUDA_CALL cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                  unsigned int enabled) {
  return with_executable(executable, [&](Call, ExecutableGraph& e) {
    GraphNode* twin = e.graph->find_clone(node);
    if (twin == nullptr) return cudaErrorInvalidValue;
    twin->enabled = enabled != 0;
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                  unsigned int* enabled) {
  return with_executable(executable, [&](Call, ExecutableGraph& e) {
    const GraphNode* twin = e.graph->find_clone(node);
    if (twin == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = twin->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

CUDA_CALL cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                              cudaGraphExecUpdateResultInfo* info) {
  return with_executable(executable, [&](Call call, ExecutableGraph& e) {
    const auto wanted = call.context.graphs.find(graph);
    const auto order = wanted ? wanted->in_order() : std::nullopt;
    if (!order) return cudaErrorInvalidValue;
    cudaGraphNode_t offender = nullptr;
    const cudaGraphExecUpdateResult result = compare(e.order, *order, offender);
    if (info != nullptr) *info = {result, offender, nullptr};
    if (result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    for (std::size_t i = 0; i < order->size(); ++i) {
      e.order[i]->operation = (*order)[i]->operation;
      e.order[i]->origin = (*order)[i];
    }
    return cudaSuccess;
  });
}

CUDA_CALL cudaUserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy,
                               unsigned int references, unsigned int) {
  if (out == nullptr || destroy == nullptr || references == 0)
    return remember_error(cudaErrorInvalidValue);
  *out = new CUuserObject_st{pointer, destroy, references};
  return cudaSuccess;
}

CUDA_CALL cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
  if (object == nullptr) return remember_error(cudaErrorInvalidValue);
  object->references += count;
  return cudaSuccess;
}

CUDA_CALL cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
  if (object == nullptr || count > object->references) return remember_error(cudaErrorInvalidValue);
  object->references -= count;
  if (object->references > 0) return cudaSuccess;
  object->destroy(object->pointer);
  delete object;
  return cudaSuccess;
}
