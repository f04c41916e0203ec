// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graph of device work: nodes with their operations, edges, an order in which all may run.
/// Place in the chain: captures and the graph API -> [graph] -> operation_executor.
/// Left out: running it (executor.cpp), conditional nodes, edge ports.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "grader/vgpu/runtime/device/operation.hpp"

namespace membound::vgpu::runtime {

/// One node. `origin` is the node of the graph this one was cloned from.
struct GraphNode {
  Graph* graph = nullptr;
  Operation operation;
  std::vector<GraphNode*> dependencies;
  const GraphNode* origin = nullptr;
  bool enabled = true;
};

}  // namespace membound::vgpu::runtime

/// What a cudaGraphNode_t points to.
struct CUgraphNode_st final : membound::vgpu::runtime::GraphNode {};

namespace membound::vgpu::runtime {

/// Nodes live as long as their graph (or until removed) and keep their addresses.
struct Graph {
  std::list<CUgraphNode_st> nodes;

  GraphNode& add(Operation operation, const std::vector<GraphNode*>& dependencies);
  /// Removes a node and every edge to it.
  void remove(GraphNode& node);
  /// A deep copy; `origin` of each node names the node it comes from.
  [[nodiscard]] std::shared_ptr<Graph> clone() const;
  /// The node of this graph cloned from `original`; null when there is none.
  [[nodiscard]] GraphNode* find_clone(const GraphNode* original);
  /// Every node after all it depends on; nothing when the edges form a circle.
  [[nodiscard]] std::optional<std::vector<GraphNode*>> in_order();
  /// Nodes no other node depends on.
  [[nodiscard]] std::vector<GraphNode*> leaves();
};

/// A graph ready to launch: a clone of its own.
struct ExecutableGraph {
  std::shared_ptr<Graph> graph;
  std::vector<GraphNode*> order;
  unsigned long long flags = 0;
  double busy_until_ns = 0;  ///< its latest launch ends
};

}  // namespace membound::vgpu::runtime

/// What a cudaGraph_t and a cudaGraphExec_t point to.
struct CUgraph_st {
  std::shared_ptr<membound::vgpu::runtime::Graph> graph;
};
struct CUgraphExec_st final : membound::vgpu::runtime::ExecutableGraph {};

/// A counted reference to something of the caller's.
struct CUuserObject_st {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned int references = 0;
};

namespace membound::vgpu::runtime {

/// All graphs of the process, by handle.
class GraphTable {
 public:
  cudaGraph_t add(std::shared_ptr<Graph> graph);
  cudaGraphExec_t add_executable(ExecutableGraph executable);
  /// Null for handles nobody made.
  [[nodiscard]] std::shared_ptr<Graph> find(cudaGraph_t handle) const;
  [[nodiscard]] ExecutableGraph* find(cudaGraphExec_t handle) const;
  /// The handle of a graph that has one; null otherwise.
  [[nodiscard]] cudaGraph_t handle_of(const Graph* graph) const;
  bool remove(cudaGraph_t handle);
  bool remove(cudaGraphExec_t handle);

 private:
  std::map<cudaGraph_t, std::unique_ptr<CUgraph_st>> graphs_;
  std::map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>> executables_;
};

}  // namespace membound::vgpu::runtime
