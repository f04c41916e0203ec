// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/graph.hpp"

#include <gmock/gmock.h>

namespace membound::vgpu::runtime {
namespace {

TEST(Graph, OrderPutsEveryNodeAfterWhatItDependsOn) {
  Graph graph;
  GraphNode& last = graph.add(EmptyOperation{}, {});
  GraphNode& first = graph.add(EmptyOperation{}, {});
  GraphNode& middle = graph.add(EmptyOperation{}, {&first});
  last.dependencies.push_back(&middle);
  const auto order = graph.in_order();
  ASSERT_TRUE(order);
  EXPECT_THAT(*order, testing::ElementsAre(&first, &middle, &last));
}

TEST(Graph, ACircleHasNoOrder) {
  Graph graph;
  GraphNode& a = graph.add(EmptyOperation{}, {});
  GraphNode& b = graph.add(EmptyOperation{}, {&a});
  a.dependencies.push_back(&b);
  EXPECT_FALSE(graph.in_order());
}

TEST(Graph, ACloneHasItsOwnNodesAndKnowsWhereTheyComeFrom) {
  Graph graph;
  GraphNode& a = graph.add(EmptyOperation{}, {});
  GraphNode& b = graph.add(FreeOperation{7}, {&a});
  const auto clone = graph.clone();
  GraphNode* twin = clone->find_clone(&b);
  ASSERT_NE(twin, nullptr);
  EXPECT_NE(twin, &b);
  EXPECT_THAT(twin->dependencies, testing::ElementsAre(clone->find_clone(&a)));
  EXPECT_EQ(std::get<FreeOperation>(twin->operation).address, 7u);
}

TEST(Graph, RemovingANodeRemovesItsEdges) {
  Graph graph;
  GraphNode& a = graph.add(EmptyOperation{}, {});
  GraphNode& b = graph.add(EmptyOperation{}, {&a});
  graph.remove(a);
  EXPECT_TRUE(b.dependencies.empty());
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(Graph, LeavesAreWhatNothingWaitsFor) {
  Graph graph;
  GraphNode& a = graph.add(EmptyOperation{}, {});
  GraphNode& b = graph.add(EmptyOperation{}, {&a});
  GraphNode& c = graph.add(EmptyOperation{}, {&a});
  EXPECT_THAT(graph.leaves(), testing::ElementsAre(&b, &c));
}

TEST(Graph, EqualDependenciesCountOnce) {
  Graph graph;
  GraphNode& a = graph.add(EmptyOperation{}, {});
  EXPECT_EQ(graph.add(EmptyOperation{}, {&a, &a}).dependencies.size(), 1u);
}

}  // namespace
}  // namespace membound::vgpu::runtime
