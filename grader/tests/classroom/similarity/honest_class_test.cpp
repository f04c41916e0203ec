// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A class of honest variants of lab 03, compiled: each of its members writes each stage in one of
/// the forms that right answers have, with other names, other orders of terms, other guards, other
/// types, other ways to write an index, tiles of other sizes. Nobody copied, and nobody is to be
/// flagged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "grader/classroom/similarity/similarity.hpp"

namespace membound::similarity {
namespace {

namespace fs = std::filesystem;
using Rewrites = std::vector<std::pair<std::string, std::string>>;

/// The kernels of lab 03, a stage each.
const std::vector<std::string> kKernels = {
    "transpose_row_per_thread", "transpose_element_per_thread", "transpose_tiled",
    "transpose_padded",         "transpose_several_per_thread", "transpose_fast"};

/// What makes a text of the published one that says the same in another way.
const std::vector<Rewrites> kForms = {
    {},
    {{"const int ", "int "},
     {"blockIdx.x * kTile + threadIdx.x", "threadIdx.x + kTile * blockIdx.x"},
     {"if (row < rows && col < cols) {", "if (!(row >= rows || col >= cols)) {"},
     {"kFastThreads = 512", "kFastThreads = 256"}},
    {{"const int ", "const unsigned "},
     {"int row = 0", "unsigned row = 0"},
     {"kFastCols = 64", "kFastCols = 128"}},
    {{"out[at(out_row, row, rows)] = in[at(row, out_row, cols)]",
      "*(out + (long long)out_row * rows + row) = *(in + (long long)row * cols + out_row)"},
     {"out[at(col, row, rows)] = in[at(row, col, cols)]",
      "*(out + (long long)col * rows + row) = *(in + (long long)row * cols + col)"},
     {"= in[at(row, col, cols)]", "= in[(long long)row * cols + col]"},
     {"out[at(out_row, out_col, rows)]", "out[(long long)out_row * rows + out_col]"},
     {"for (int row = 0; row < rows; ++row)", "for (int row = rows - 1; row >= 0; --row)"},
     {"kFastCols = 64", "kFastCols = 32"}}};

std::string rewritten(std::string text, const Rewrites& rewrites) {
  for (const auto& [from, to] : rewrites)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  // Names say nothing: they are not in what is compared.
  for (std::size_t at = 0; (at = text.find("out_row", at)) != std::string::npos; at += 5)
    text.replace(at, 7, "mine_" + std::to_string(rewrites.size()));
  return text;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The PTX that clang makes of a kernel.cu of lab 03; empty where there is no clang for it.
std::string compiled(const std::string& text) {
  static const fs::path kSource = MEMBOUND_SOURCE_DIR;
  std::string pattern = (fs::temp_directory_path() / "membound-honest-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  std::ofstream(folder / "kernel.cu") << text;
  const fs::path student = kSource / "grader/harness/student";
  const std::string command =
      "sh '" + (student / "clang/compile.sh").string() + "' '" + (folder / "kernel.ptx").string() +
      "' clang++ '-I" + student.string() + "' '-I" + (kSource / "labs/03-transpose").string() +
      "' '" + (folder / "kernel.cu").string() + "' 2>/dev/null";
  const bool made = std::system(command.c_str()) == 0;
  const std::string ptx = made ? text_of(folder / "kernel.ptx") : "";
  fs::remove_all(folder);
  return ptx;
}

/// The module without the functions whose name does not hold `kernel`.
std::string with_only(const std::string& ptx, const std::string& kernel) {
  const std::string kEntry = "\n.visible .entry ";
  std::string kept = ptx.substr(0, ptx.find(kEntry));
  for (auto at = ptx.find(kEntry); at != std::string::npos;) {
    const auto next = ptx.find(kEntry, at + 1);
    const std::string function = ptx.substr(at, next == std::string::npos ? next : next - at);
    if (function.substr(0, function.find('(')).find(kernel) != std::string::npos) kept += function;
    at = next;
  }
  return kept;
}

/// Each stage in each form, compiled once for all tests. Empty where nothing compiles.
class HonestClass : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string answer =
        text_of(fs::path(MEMBOUND_SOURCE_DIR) / "solutions/03-transpose/kernel.cu");
    if (answer.empty()) return;
    for (const Rewrites& form : kForms) {
      const std::string ptx = compiled(rewritten(answer, form));
      if (ptx.empty()) return;
      auto& stages = forms_.emplace_back();
      for (const std::string& kernel : kKernels) {
        const auto fingerprint = fingerprint_of(with_only(ptx, kernel), "kernel.ptx");
        ASSERT_TRUE(fingerprint) << base::to_string(fingerprint.error());
        EXPECT_GT(fingerprint->size(), 8U) << kernel;
        stages.push_back(*fingerprint);
      }
    }
  }
  void SetUp() override {
    if (forms_.size() < kForms.size()) GTEST_SKIP() << "no clang that compiles device code";
  }

  /// A whole text: stage i in the form choice[i].
  static Fingerprint text(const std::vector<std::size_t>& choice) {
    Fingerprint all;
    for (std::size_t i = 0; i < choice.size(); ++i)
      all.insert(all.end(), forms_[choice[i]][i].begin(), forms_[choice[i]][i].end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  static std::vector<Fingerprint> honest(std::size_t students, std::size_t first_form,
                                         std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Fingerprint> all;
    for (std::size_t i = 0; i < students; ++i) {
      std::vector<std::size_t> choice;
      for (std::size_t k = 0; k < kKernels.size(); ++k)
        choice.push_back(first_form + random() % (kForms.size() - first_form));
      all.push_back(text(choice));
    }
    return all;
  }
  static Fingerprint answer() { return text({0, 0, 0, 0, 0, 0}); }

  static inline std::vector<std::vector<Fingerprint>> forms_;
};

TEST_F(HonestClass, FormsAreDifferentCode) {
  for (std::size_t a = 0; a < kForms.size(); ++a)
    for (std::size_t b = a + 1; b < kForms.size(); ++b)
      EXPECT_NE(text(std::vector<std::size_t>(6, a)), text(std::vector<std::size_t>(6, b)));
}

TEST_F(HonestClass, OfAHundredMakesTwoClustersAtMostAndRetellsNothing) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto all = honest(100, 0, seed);
    EXPECT_LE(clusters_of(all, {}).size(), 2U) << "seed " << seed;
    EXPECT_LE(clusters_of(all, std::vector<Fingerprint>{answer()}).size(), 2U) << "seed " << seed;
    EXPECT_THAT(retellings_of(all, answer()), testing::IsEmpty()) << "seed " << seed;
  }
}

TEST_F(HonestClass, TwoWhoRetellTheAnswerAreNamedAndNobodyElseIs) {
  auto all = honest(12, 1, 4);
  all[3] = all[9] = answer();
  const auto found = retellings_of(all, answer());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].member, 3U);
  EXPECT_EQ(found[1].member, 9U);
}

}  // namespace
}  // namespace membound::similarity
