// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "grader/classroom/similarity/similarity.hpp"

namespace membound::similarity {
namespace {

/// The hashes that few have and that the course did not hand out.
std::vector<Fingerprint> telling_of(std::span<const Fingerprint> submissions,
                                    std::span<const Fingerprint> given, const Limits& limits) {
  std::map<std::uint64_t, std::size_t> holders;
  for (const Fingerprint& submission : submissions)
    for (const std::uint64_t hash : submission) ++holders[hash];
  for (const Fingerprint& text : given)
    for (const std::uint64_t hash : text) holders.erase(hash);
  const auto most = std::max(
      limits.shared_least,
      static_cast<std::size_t>(limits.shared_by * static_cast<double>(submissions.size())));
  std::vector<Fingerprint> telling(submissions.size());
  for (std::size_t i = 0; i < submissions.size(); ++i)
    std::copy_if(submissions[i].begin(), submissions[i].end(), std::back_inserter(telling[i]),
                 [&](std::uint64_t hash) {
                   const auto found = holders.find(hash);
                   return found != holders.end() && found->second <= most;
                 });
  return telling;
}

double jaccard(const Fingerprint& a, const Fingerprint& b) {
  Fingerprint both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const double all = static_cast<double>(a.size() + b.size() - both.size());
  return all > 0 ? static_cast<double>(both.size()) / all : 0;
}

/// Disjoint sets of submissions, each known by its least index.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count), least_alike_(count, 1.0) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  [[nodiscard]] std::size_t root(std::size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void join(std::size_t a, std::size_t b, double alike) {
    const std::size_t low = std::min(root(a), root(b)), high = std::max(root(a), root(b));
    parent_[high] = low;
    least_alike_[low] = std::min({least_alike_[low], least_alike_[high], alike});
  }
  [[nodiscard]] double least_alike(std::size_t root) const { return least_alike_[root]; }

 private:
  std::vector<std::size_t> parent_;
  std::vector<double> least_alike_;
};

}  // namespace

std::vector<Cluster> clusters_of(std::span<const Fingerprint> submissions,
                                 std::span<const Fingerprint> given, const Limits& limits) {
  const std::vector<Fingerprint> telling = telling_of(submissions, given, limits);
  Sets sets(telling.size());
  for (std::size_t a = 0; a < telling.size(); ++a) {
    if (telling[a].size() < limits.least_hashes) continue;
    for (std::size_t b = a + 1; b < telling.size(); ++b) {
      if (telling[b].size() < limits.least_hashes) continue;
      const double alike = jaccard(telling[a], telling[b]);
      if (alike >= limits.alike) sets.join(a, b, alike);
    }
  }
  std::map<std::size_t, Cluster> by_root;
  for (std::size_t i = 0; i < telling.size(); ++i) by_root[sets.root(i)].members.push_back(i);
  std::vector<Cluster> clusters;
  for (auto& [root, cluster] : by_root)
    if (cluster.members.size() > 1) {
      cluster.least_alike = sets.least_alike(root);
      clusters.push_back(std::move(cluster));
    }
  std::stable_sort(clusters.begin(), clusters.end(), [](const Cluster& a, const Cluster& b) {
    return a.members.size() > b.members.size();
  });
  return clusters;
}

}  // namespace membound::similarity
