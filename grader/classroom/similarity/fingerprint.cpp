// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iterator>

#include "grader/base/digest.hpp"
#include "grader/classroom/similarity/similarity.hpp"
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

}  // namespace membound::similarity
