// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/graph.hpp"

#include <algorithm>

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

}  // namespace membound::vgpu::runtime
