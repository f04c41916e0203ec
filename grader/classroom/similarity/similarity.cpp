// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/similarity/similarity.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

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

/// How many of a class have each hash.
using Holders = std::map<std::uint64_t, std::size_t>;

Holders holders_in(std::span<const Fingerprint> submissions) {
  Holders holders;
  for (const Fingerprint& submission : submissions)
    for (const std::uint64_t hash : submission) ++holders[hash];
  return holders;
}

/// More holders than this, and a hash says nothing.
std::size_t most_holders(std::size_t submissions, const Limits& limits) {
  return std::max(limits.shared_least,
                  static_cast<std::size_t>(limits.shared_by * static_cast<double>(submissions)));
}

/// Tells which hashes few of a class have and the course did not hand out.
class Telling {
 public:
  Telling(std::span<const Fingerprint> submissions, std::span<const Fingerprint> given,
          const Limits& limits)
      : holders_(holders_in(submissions)), most_(most_holders(submissions.size(), limits)) {
    for (const Fingerprint& text : given) given_.insert(text.begin(), text.end());
  }

  [[nodiscard]] bool tells(std::uint64_t hash) const {
    const auto found = holders_.find(hash);
    return !given_.contains(hash) && (found == holders_.end() || found->second <= most_);
  }
  [[nodiscard]] Fingerprint of(const Fingerprint& text) const {
    Fingerprint telling;
    std::copy_if(text.begin(), text.end(), std::back_inserter(telling),
                 [this](std::uint64_t hash) { return tells(hash); });
    return telling;
  }

 private:
  Holders holders_;
  std::size_t most_;
  std::set<std::uint64_t> given_;
};

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
  const Telling tells(submissions, given, limits);
  std::vector<Fingerprint> telling;
  for (const Fingerprint& submission : submissions) telling.push_back(tells.of(submission));
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

std::vector<Retelling> retellings_of(std::span<const Fingerprint> submissions,
                                     const Fingerprint& reference,
                                     std::span<const Fingerprint> given, const Limits& limits) {
  const Fingerprint telling = Telling(submissions, given, limits).of(reference);
  std::vector<Retelling> found;
  if (telling.size() < limits.least_retold) return found;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    Fingerprint both;
    std::set_intersection(submissions[i].begin(), submissions[i].end(), telling.begin(),
                          telling.end(), std::back_inserter(both));
    const double share = static_cast<double>(both.size()) / static_cast<double>(telling.size());
    if (share >= limits.retold) found.push_back({i, share});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Retelling& a, const Retelling& b) { return a.share > b.share; });
  return found;
}

std::vector<Match> matches_of(std::span<const Fingerprint> submissions,
                              std::span<const Fingerprint> earlier,
                              std::span<const Fingerprint> given, const Limits& limits) {
  const Telling now(submissions, given, limits), then(earlier, given, limits);
  std::vector<Fingerprint> old;
  for (const Fingerprint& text : earlier) old.push_back(now.of(then.of(text)));
  std::vector<Match> matches;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    const Fingerprint telling = then.of(now.of(submissions[i]));
    if (telling.size() < limits.least_hashes) continue;
    Match best{i, 0, 0};
    for (std::size_t k = 0; k < old.size(); ++k)
      if (const double alike = jaccard(telling, old[k]); alike > best.alike) best = {i, k, alike};
    if (best.alike >= limits.alike) matches.push_back(best);
  }
  return matches;
}

namespace {

constexpr const char* kDigestsSchema = "membound-digests/1";

}  // namespace

std::string to_text(const Digests& digests) {
  nlohmann::json labs = nlohmann::json::object();
  for (const auto& [lab, texts] : digests) {
    // In an order that says nothing about whose they were.
    std::vector<Fingerprint> sorted = texts;
    std::sort(sorted.begin(), sorted.end());
    labs[lab] = sorted;
  }
  return nlohmann::json{{"schema", kDigestsSchema}, {"labs", labs}}.dump() + "\n";
}

base::Result<Digests> digests_from_text(const std::string& text, const std::string& file_name) {
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("schema") == kDigestsSchema) return json.at("labs").get<Digests>();
  } catch (const nlohmann::json::exception&) {
    // said below
  }
  return base::Error{base::ErrorKind::kInput, file_name, "holds no digests of a term",
                     "what membound report --keep-digests wrote", "write it anew"};
}

}  // namespace membound::similarity
