// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/claims.hpp"

#include <sstream>

#include "grader/authoring/wrong_answer.hpp"
#include "grader/course/contract.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

std::vector<int> stages_of(const course::Lab& lab, const course::StageKind* kind) {
  std::vector<int> numbers;
  for (const course::Stage& stage : lab.stages)
    if (stage.kind == kind) numbers.push_back(stage.number);
  return numbers;
}

/// The lines of code that contain `part`.
std::set<int> lines_with(const std::string& text, const std::string& part) {
  std::set<int> lines;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (!line.starts_with("//") && line.find(part) != std::string::npos) lines.insert(number);
  }
  return lines;
}

/// "Finds: data race in `tile[y][x] =`": what the checkers say first, and a piece of the line; or
/// "Finds: order of warps", which names no line.
base::Status read_finds(const WrongAnswer& answer, Claim& claim) {
  const std::string& finds = answer.head.finds;
  if (finds.empty()) return base::Done{};
  const auto at = finds.find(" in `");
  if (at == std::string::npos) {  // a kind of which no line is told
    claim.finds = finds;
    claim.lines = {0};
  }
  if (at != std::string::npos && finds.ends_with('`') && finds.size() > at + 6) {
    claim.finds = finds.substr(0, at);
    claim.lines = lines_with(answer.text, finds.substr(at + 5, finds.size() - at - 6));
  }
  if (!claim.lines.empty()) return base::Done{};
  return base::Error{base::ErrorKind::kInput, answer.file.string(), "Finds: " + finds,
                     "a kind of finding and a piece of a line of the wrong answer, as in "
                     "\"Finds: data race in `tile[y][x] =`\"",
                     "docs/checkers.md lists the kinds"};
}

base::Result<Claim> claim_of(const course::Lab& lab, const WrongAnswer& answer,
                             const fs::path& folder) {
  if (lab.stage(answer.head.stage) == nullptr || answer.head.fails.empty()) {
    return base::Error{base::ErrorKind::kInput, answer.file.string(),
                       "does not say which stage it answers and which test it fails",
                       "\"Stage: 3\" and \"Fails: <test>\" at the head",
                       "membound dev check tells more"};
  }
  WrongAnswer compiled = answer;
  // The rest is the reference answer's, which has a claim of its own; a program calls all of it.
  if (lab.stage(answer.head.stage)->kind->has_reference)
    compiled.text = course::without_other_stages(answer.text, answer.head.stage);
  const auto kernel = write_kernel(compiled, folder);
  if (!kernel) return kernel.error();
  Claim claim{&lab, *kernel, {answer.head.stage}, answer.head.fails};
  if (const std::string& on_gpu = answer.head.fails_on_gpu; !on_gpu.empty())
    claim.fails_on_gpu = on_gpu == "passes" ? "" : on_gpu == "fails" ? kAnyTest : on_gpu;
  if (const auto read = read_finds(answer, claim); !read) return read.error();
  return claim;
}

}  // namespace

const course::StageKind& kind_of(const Claim& claim) {
  return *claim.lab->stage(claim.stages.front())->kind;
}

base::Result<std::vector<Claim>> claims_of(const course::Lab& lab, const judge::Workplace& place) {
  const fs::path solution = place.root / "solutions" / lab.id;
  std::vector<Claim> claims;
  for (const course::StageKind* kind : lab.kinds()) {
    claims.push_back({&lab, lab.folder / "kernel.cu", stages_of(lab, kind), kAnyTest});
    claims.push_back({&lab, solution / "kernel.cu", stages_of(lab, kind), ""});
  }
  const auto answers = read_wrong_answers(solution);
  if (!answers) return answers.error();
  for (const WrongAnswer& answer : *answers) {
    auto claim = claim_of(lab, answer, place.state / "wrong" / lab.id);
    if (!claim) return claim.error();
    claims.push_back(std::move(*claim));
  }
  return claims;
}

std::size_t claim_of_a_gpu(std::vector<Claim>& claims) {
  // A program is judged on the virtual GPU wherever the check runs.
  const auto runs_there = [](const Claim& claim) { return !kind_of(claim).needs_timeline; };
  for (Claim& claim : claims)
    if (claim.fails_on_gpu && runs_there(claim)) claim.fails = *claim.fails_on_gpu;
  return std::erase_if(claims, [&](const Claim& claim) {
    if (!runs_there(claim)) return false;
    return claim.fails == kChance || claim.fails == to_string(course::BuiltInTest::kBudget);
  });
}

std::size_t leave_out_uncompiled(std::vector<Claim>& claims, compilers::DeviceCompiler compiler) {
  if (compiler == compilers::DeviceCompiler::kNvcc) return 0;
  return std::erase_if(claims, [](const Claim& claim) { return !kind_of(claim).every_compiler; });
}

}  // namespace membound::authoring
