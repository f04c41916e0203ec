// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/similarity/similarity.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>

#include "grader/base/digest.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"
#include "grader/device_code/ptx/parser.hpp"

namespace membound::similarity {
namespace {

using ptx::Operand;
using ptx::OperandKind;

constexpr std::uint32_t kArchitecture = 90;  // any: all submissions are compiled alike

/// Of texts and numbers, one after another.
class Hash {
 public:
  void add(std::string_view text) {
    bytes_.add_bytes(text);
    bytes_.add_byte(0xFF);  // in no UTF-8 text: "ab","c" is not "a","bc"
  }
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) bytes_.add_byte(static_cast<unsigned char>(number >> (8 * i)));
  }
  [[nodiscard]] std::uint64_t value() const { return bytes_.value(); }

 private:
  base::StableHash bytes_;
};

/// Numbers count, names do not: a constant is the author's choice, a register the compiler's.
void add_operand(const Operand& operand, Hash& hash) {
  hash.add(static_cast<std::uint64_t>(operand.kind));
  hash.add(static_cast<std::uint64_t>(operand.reference.kind));
  if (operand.reference.kind == ptx::ReferenceKind::kSpecialRegister)
    hash.add(operand.reference.name);
  if (operand.kind != OperandKind::kRegister) hash.add(operand.bits);
  for (const Operand& child : operand.children) add_operand(child, hash);
}

std::uint64_t word_of(const ptx::Instruction& instruction) {
  Hash hash;
  hash.add(instruction.mnemonic);
  hash.add(instruction.guard == ptx::kNoIndex ? 0U : 1U);
  for (const Operand& operand : instruction.operands) add_operand(operand, hash);
  return hash.value();
}

/// A function shorter than one gram says nothing about its author.
void add_function(const ptx::Function& function, Fingerprint& kept) {
  std::vector<std::uint64_t> words, grams;
  for (const auto& instruction : function.instructions) words.push_back(word_of(instruction));
  for (std::size_t first = 0; first + kWordsPerGram <= words.size(); ++first) {
    Hash gram;
    for (std::size_t i = 0; i < kWordsPerGram; ++i) gram.add(words[first + i]);
    grams.push_back(gram.value());
  }
  if (grams.empty()) return;
  const std::size_t window = std::min(kWindowGrams, grams.size());
  for (auto first = grams.begin(); first + static_cast<std::ptrdiff_t>(window) <= grams.end();
       ++first)
    kept.push_back(*std::min_element(first, first + static_cast<std::ptrdiff_t>(window)));
}

}  // namespace

base::Result<Fingerprint> fingerprint_of(std::string_view ptx, const std::string& file_name) {
  const auto module = ptx::parse(ptx, file_name);
  if (!module) return module.error();
  Fingerprint kept;
  for (const ptx::Function& function : module->functions) add_function(function, kept);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

base::Result<Fingerprint> fingerprint_of_code(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto entries = fatbin::read(std::as_bytes(std::span(bytes)), file.string());
  if (!entries) return entries.error();
  const auto ptx = fatbin::choose_ptx(*entries, kArchitecture, file.string());
  if (!ptx) return ptx.error();
  return fingerprint_of((*ptx)->text(), file.string());
}

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
