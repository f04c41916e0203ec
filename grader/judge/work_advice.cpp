// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the source shows of how the work is shared out: a launch that is not allowed or leaves
/// elements out, and loops that all threads walk from the same element, or that do not end.
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using Place = StagePlace;
using compilers::Branch;
using compilers::SourceFunction;
using course::Finding;

/// The three parts of a for's head.
struct LoopHead {
  std::string start, test, step;
};

std::optional<LoopHead> head_of(const Branch& branch) {
  const std::string& all = branch.condition;
  const std::size_t first = all.find(';');
  const std::size_t second = first == std::string::npos ? first : all.find(';', first + 1);
  if (branch.keyword != "for" || second == std::string::npos) return std::nullopt;
  const auto part = [&](std::size_t from, std::size_t to) {
    return std::string(base::trimmed(std::string_view(all).substr(from, to - from)));
  };
  return LoopHead{part(0, first), part(first + 1, second), part(second + 1, all.size())};
}

/// Why the loop does not end, or takes too long, and what to do; empty where its head looks right.
std::string mistake_in(const LoopHead& loop, bool knows_its_thread) {
  static const std::regex kChanges(R"(\+\+|--|=)");
  if (!loop.step.empty() && !std::regex_search(loop.step, kChanges))
    return "`" + loop.step +
           "` computes a value and changes nothing: += instead of +, or what else is meant";
  static const std::regex kDownTo0(R"((\w+)\s*>=\s*0$)"), kHalves(R"(/=|>>=|=[^=]*/)");
  std::smatch match;
  if (std::regex_search(loop.test, match, kDownTo0) && std::regex_search(loop.step, kHalves))
    return "`" + match[1].str() + "` becomes 0 and stays 0, for which `" + loop.test +
           "` holds: > instead of >=";
  static const std::regex kFrom0(R"(=\s*0$)"), kByOne(R"(^(?:\+\+\w+|\w+\+\+)$)");
  if (!knows_its_thread && std::regex_search(loop.start, kFrom0) &&
      std::regex_search(loop.step, kByOne))
    return "every thread runs this whole loop, as the CPU would alone: let a thread do the element "
           "of its own number, blockIdx.x * blockDim.x + threadIdx.x, with an if instead of the "
           "for";
  return "";
}

}  // namespace

std::string launch_body(const Place& place) {
  constexpr std::size_t kLongest = 4000;  // std::regex recurses over what it matches
  for (const SourceFunction& function : place.source.functions())
    if (function.is_launch && function.line >= place.first && function.line <= place.last &&
        function.end - function.begin < kLongest)
      return std::string(place.source.code().substr(function.begin, function.end - function.begin));
  return "";
}

int launch_line(const Place& place, std::string_view word) {
  for (const SourceFunction& function : place.source.functions())
    if (function.is_launch && function.line >= place.first && function.line <= place.last) {
      const int found =
          place.source.find_line(word, function.line, place.source.line_of(function.end - 1));
      return found > 0 ? found : function.line;
    }
  return 0;
}

void advise_never_written(const Place& place, Finding& finding) {
  const std::string launch = launch_body(place);
  if (launch.empty()) return;
  const auto at = [&](std::string_view word) { return launch_line(place, word); };
  const auto blame = [&](int line, std::string advice) {
    finding.file = place.file;
    finding.line = line;
    finding.advice = std::move(advice);
  };
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  for (const Branch& branch : place.source.branches())
    if (kernel != nullptr && branch.keyword == "for" && branch.begin > kernel->begin &&
        branch.end <= kernel->end && holds(branch.condition, "threadIdx") &&
        !holds(branch.condition, "blockIdx") && holds(branch.condition, "grid")) {
      blame(branch.line,
            "every block starts this loop at the same element: start at the thread's number in the "
            "grid, blockIdx.x * blockDim.x + threadIdx.x");
      return;
    }
  const bool sets_fields = holds(launch, "shape.");
  if (sets_fields && !holds(launch, ".grid")) {
    blame(at("LaunchShape"), "set shape.grid: without it the grid is 1 block");
    return;
  }
  if (sets_fields && !holds(launch, ".block")) {
    blame(at("LaunchShape"), "set shape.block: without it a block is 1 thread");
    return;
  }
  static const std::regex kRoundedDown(R"(\.grid\s*=[^;]*\b\w+\s*/\s*\w+)");
  if (std::regex_search(launch, kRoundedDown) && !holds(launch, "- 1)") &&
      !holds(launch, "sm_count")) {
    blame(at(".grid"), "`/` rounds down, so that the last block is missing: ceil_div(n, threads)");
    return;
  }
  static const std::regex kFlatBlock(R"(\.block\s*=\s*\w+\s*;)");
  if (kernel != nullptr && std::regex_search(launch, kFlatBlock) &&
      holds(std::string(place.source.code().substr(kernel->begin, kernel->end - kernel->begin)),
            "threadIdx.y"))
    blame(at(".block"),
          "this block has 1 row, and the kernel counts with threadIdx.y: shape.block = {columns, "
          "rows}");
}

void name_line_of_launch(const Place& place, Finding& finding) {
  for (const std::string_view field : {"grid", "block", "shared_bytes"})
    if (holds(finding.text, "): " + std::string(field)) && !launch_body(place).empty()) {
      finding.file = place.file;
      finding.line = launch_line(place, "." + std::string(field));
      const std::string code(base::trimmed(place.source.line(finding.line)));
      static const std::regex kThreads(R"(block\.x = (\d+))");
      std::smatch match;
      if (std::regex_search(finding.text, match, kThreads) && match[1].length() > 4 &&
          holds(code, "("))
        finding.advice =
            "a block has 1 to 1,024 threads; it is the number of blocks that grows with the array, "
            "shape.grid = ceil_div(n, threads). Are the two exchanged?";
      if (holds(finding.text, " = 0") && holds(code, "/"))
        finding.advice = "`/` of whole numbers rounds down, here to 0: " +
                         (field == "grid" ? std::string("is the dividend the larger of the two? "
                                                        "ceil_div(n, threads) rounds up")
                                          : std::string("choose a number of threads from 1 to "
                                                        "1024"));
      return;
    }
}

void name_endless_loop(const Place& place, Finding& finding) {
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  if (kernel == nullptr) return;
  const std::string code(place.source.code().substr(kernel->begin, kernel->end - kernel->begin));
  const bool knows_its_thread =
      holds(code, "threadIdx") || holds(code, "number_in_grid") || holds(code, "first_number");
  for (const Branch& branch : place.source.branches()) {
    if (branch.begin < kernel->begin || branch.end > kernel->end) continue;
    const auto loop = head_of(branch);
    if (!loop) continue;
    std::string advice = mistake_in(*loop, knows_its_thread);
    if (advice.empty()) continue;
    finding.file = place.file;
    finding.line = branch.line;
    finding.advice = std::move(advice);
    return;
  }
}

}  // namespace membound::judge
