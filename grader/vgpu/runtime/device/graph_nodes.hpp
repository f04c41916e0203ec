// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the API's node parameters to operations: used where nodes are made and where they change.
/// Place in the chain: graph_api, graph_node_api, graph_exec_api -> [graph_nodes] -> operation.
#pragma once

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/operation.hpp"

namespace membound::vgpu::runtime {

/// Each checks as the immediate call would and fills `out`.
cudaError_t kernel_node(Context& context, const cudaKernelNodeParams* parameters, Operation& out);
cudaError_t copy_node(Context& context, const cudaMemcpy3DParms* parameters, Operation& out);
cudaError_t copy_node_1d(Context& context, void* to, const void* from, std::size_t bytes,
                         cudaMemcpyKind kind, Operation& out);
cudaError_t fill_node(Context& context, const cudaMemsetParams* parameters, Operation& out);
cudaError_t host_node(const cudaHostNodeParams* parameters, Operation& out);
cudaError_t child_node(Context& context, cudaGraph_t graph, Operation& out);
/// cudaGraphAddNode's parameters, whatever their type.
cudaError_t any_node(Context& context, const cudaGraphNodeParams* parameters, Operation& out);

/// Hands out as many handles as fit; with no room given, only their number.
cudaError_t list_nodes(const std::vector<GraphNode*>& nodes, cudaGraphNode_t* out,
                       std::size_t* count);

/// The API's word for an operation.
[[nodiscard]] cudaGraphNodeType type_of(const Operation& operation);

}  // namespace membound::vgpu::runtime
