// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device work as data: one operation, complete in itself, and graphs of operations with an order
/// in which all may run. A stream runs an operation at once; a capturing stream or a graph keeps it
/// as a node. Left out: running (operation_executor), conditional nodes, edge ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/memory/dim3.hpp"
#include "grader/vgpu/runtime/device/modules.hpp"

namespace membound::vgpu::runtime {

class Context;
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
