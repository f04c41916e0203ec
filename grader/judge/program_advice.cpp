// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the source shows of a whole program that did not do as asked: which line a failed call
/// stands in, host code that follows a device pointer, a result that never came back.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/findings.hpp"

namespace membound::judge {

StagePlace::StagePlace(const compilers::StudentSource& text, std::string name,
                       const course::Stage& asked)
    : source(text), stage(asked), file(std::move(name)), last(text.line_count()) {
  bool inside = false;
  for (int line = 1; line <= source.line_count(); ++line) {
    const int head = course::stage_of_head(source.line(line));
    if (head == stage.number) first = line, inside = true;
    if (inside && head > stage.number) {
      last = line - 1;
      break;
    }
  }
}

bool StagePlace::has(const course::Finding& finding) const {
  namespace fs = std::filesystem;
  return finding.line > 0 && fs::path(finding.file).filename() == fs::path(file).filename();
}

std::string StagePlace::code(int line) const {
  constexpr std::size_t kLongest = 1000;  // std::regex recurses over what it matches
  const std::string_view text = source.code_of_line(line);
  return text.size() > kLongest ? std::string() : std::string(text);
}

namespace {

using compilers::Branch;
using compilers::SourceFunction;
using course::Finding;
using Place = StagePlace;

/// Pointers that cudaMalloc filled, by name, with the line.
std::vector<std::pair<std::string, int>> device_pointers(const Place& place) {
  static const std::regex kMalloc(R"(cudaMalloc(?:Async)?\s*\(\s*(?:\([^)]*\)\s*)?&\s*(\w+))");
  std::vector<std::pair<std::string, int>> all;
  for (int line = place.first; line <= place.last; ++line) {
    const std::string code = place.code(line);
    if (std::smatch match; std::regex_search(code, match, kMalloc))
      all.emplace_back(match[1].str(), line);
  }
  return all;
}

/// Names the line in which the program itself told that its host code stood.
bool name_host_line(const Place& place, Finding& finding) {
  static const std::regex kStood(R"(host code was (running|in a call of) line (\d{1,6}))");
  std::smatch match;
  if (!std::regex_search(finding.text, match, kStood)) return false;
  const int line = std::stoi(match[2]);
  if (line > place.source.line_count()) return false;
  finding.file = place.file;
  finding.line = line;
  if (!holds(finding.text, "its limit of") || match[1] != "running") return true;
  for (const Branch* branch : place.source.around(line))
    if (branch->keyword != "if") {
      finding.hint_tag.clear();
      finding.advice = "what ends the loop `" + branch->keyword + " (" + branch->condition +
                       ")` of line " + std::to_string(branch->line) +
                       "? Let each turn come nearer to that";
    }
  return true;
}

/// Host code that follows a device pointer: its line, and a sentence.
bool name_host_access(const Place& place, Finding& finding) {
  const int told = finding.line;  // by the program itself
  for (const auto& [name, malloc_line] : device_pointers(place))
    for (int line = malloc_line + 1; line <= place.last; ++line) {
      if (told > 0 && line != told) continue;
      const SourceFunction* const function = place.source.function_at(line);
      if (function == nullptr || function->is_kernel || function->is_device) continue;
      const std::string code = place.code(line);
      const std::size_t at = compilers::find_word(code, name);
      if (at == std::string::npos) continue;
      const bool indexed = code.compare(at + name.size(), 1, "[") == 0;
      const bool followed = at > 0 && code[at - 1] == '*' && holds(code, "= *");
      if ((!indexed && !followed) || (at > 0 && code[at - 1] == '&')) continue;
      finding.file = place.file;
      finding.line = line;
      finding.text += ". Host code follows `" + name +
                      "`, a pointer of the device (cudaMalloc in line " +
                      std::to_string(malloc_line) + ")";
      finding.advice = "copy with cudaMemcpy, and let the host read and write its own copy";
      finding.hint_tag.clear();
      return true;
    }
  return false;
}

/// The line of a call that failed, from its kind's number among the calls of that kind: the n-th
/// in the text, where no loop stands around it.
void name_failed_call(const Place& place, Finding& finding) {
  static const std::regex kCall(R"(call number \d+ \(([\w-]+)(?:, number (\d+))?\) failed)");
  std::smatch match;
  if (!std::regex_search(finding.text, match, kCall) || !match[2].matched) return;
  static const std::pair<std::string_view, std::string_view> kWords[] = {
      {"copy-in", "HostToDevice"},
      {"copy-out", "DeviceToHost"},
      {"malloc", "cudaMalloc"},
      {"free", "cudaFree"},
      {"launch", "<<<"}};
  const std::string kind = match[1];
  int left = std::stoi(match[2]);
  for (const auto& [name, word] : kWords) {
    if (name != kind) continue;
    for (int line = place.first; line <= place.last; ++line) {
      if (!holds(place.code(line), word)) continue;
      for (const Branch* branch : place.source.around(line))
        if (branch->keyword != "if") return;  // a loop: the number says nothing
      if (--left == 0) {
        finding.file = place.file;
        finding.line = line;
        break;
      }
    }
  }
  if (finding.line == 0) return;
  const std::string code = place.code(finding.line);
  if (kind == "launch")
    finding.advice =
        "<<<blocks, threads>>>: a block has 1 to 1,024 threads, and a grid at least 1 block. Do "
        "the "
        "two numbers stand in this order?";
  static const std::regex kFirstTwo(R"(cudaMemcpy\w*\s*\(\s*([^,]+),\s*([^,]+),)");
  std::smatch copy;
  if (!std::regex_search(code, copy, kFirstTwo)) return;
  bool to_device = false, from_device = false;
  for (const auto& [name, line] : device_pointers(place)) {
    const std::string to = copy[1], from = copy[2];
    to_device = to_device || compilers::find_word(to, name) != std::string::npos;
    from_device = from_device || compilers::find_word(from, name) != std::string::npos;
  }
  if (to_device && !from_device && kind == "copy-out")
    finding.advice =
        "the destination, the first argument, is memory of the device: for a copy to the device "
        "the direction is cudaMemcpyHostToDevice; for a copy back, the destination is the host's "
        "and stands first";
  else if (from_device && !to_device && kind == "copy-in")
    finding.advice =
        "the source, the second argument, is memory of the device: the direction is "
        "cudaMemcpyDeviceToHost, or the two arguments are exchanged (the destination is first)";
  else
    finding.advice =
        "sizes are in bytes: is each of the two arrays as large as this copy, n * sizeof(float)?";
}

/// A result that was never copied back.
void name_missing_copy(const Place& place, Finding& finding) {
  if (!device_pointers(place).empty() &&
      place.source.find_line("DeviceToHost", place.first, place.last) == 0 &&
      place.source.find_line("cudaMemcpyDefault", place.first, place.last) == 0) {
    finding.file = place.file;
    finding.line = place.source.find_line("program.write(", place.first, place.last);
    finding.text +=
        "\nNothing is copied back from the device: what is written is what the host's "
        "array held before.";
    finding.advice = "cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost) before this line";
  } else if (place.source.find_line("Async(", place.first, place.last) > 0) {
    // A copy that has only been queued: nothing waits between it and the output.
    const int out = place.source.find_line("program.write(", place.first, place.last);
    int waits = 0;
    for (int line = place.first; line < out; ++line)
      if (holds(place.code(line), "Synchronize(")) waits = line;
    const auto copies = [&] {
      int last = 0;
      for (int line = place.first; line < out; ++line)
        if (holds(place.code(line), "DeviceToHost")) last = line;
      return last;
    }();
    if (out == 0 || copies == 0 || waits > copies) return;
    finding.file = place.file;
    finding.line = out;
    finding.text += "\nThe host does not wait between the copy back in line " +
                    std::to_string(copies) + " and this line.";
    finding.advice =
        "cudaDeviceSynchronize() before this line: cudaMemcpyAsync returns before its bytes have "
        "arrived";
  }
}

}  // namespace

void advise_program(const StagePlace& place, course::Verdict verdict, course::Finding& finding) {
  const bool has_line = name_host_line(place, finding);
  if (holds(finding.text, "Segmentation fault") || holds(finding.text, "Bus error")) {
    if (!name_host_access(place, finding) && has_line)
      finding.advice =
          "host code reads or writes here what is not its own: an index past an array's end, or a "
          "pointer that was never set";
    return;
  }
  if (has_line) return;
  name_failed_call(place, finding);
  if (finding.line == 0 && verdict == course::Verdict::kWrong && holds(finding.text, "first wrong"))
    name_missing_copy(place, finding);
  static const std::regex kLaunch(R"(launch (\d+) \()");
  std::smatch match;
  if (finding.line == 0 && std::regex_search(finding.text, match, kLaunch)) {
    int left = std::stoi(match[1]);
    for (int line = place.first; line <= place.last && left > 0; ++line) {
      if (!holds(place.code(line), "<<<")) continue;
      for (const Branch* branch : place.source.around(line))
        if (branch->keyword != "if") return;
      if (--left == 0) finding.line = line, finding.file = place.file;
    }
  }
  static const std::pair<std::string_view, std::string_view> kRules[] = {
      {" was launched in ", "<<<"},
      {"left at the end", "cudaMalloc"},
      {"graph with", "cudaGraphInstantiate"},
      {"graphs with", "cudaGraphInstantiate"},
      {"program printed", "printf("}};
  for (const auto& [words, code] : kRules)
    if (finding.line == 0 && holds(finding.text, words)) {
      int line = place.source.find_line(code, place.first, place.last);
      if (code == "printf(")  // and not fprintf
        for (line = place.first;
             line <= place.last &&
             compilers::find_word(place.code(line), "printf") == std::string::npos;)
          ++line;
      if (code == "cudaMalloc") {
        // The one whose pointer nothing frees.
        for (const auto& [name, malloc_line] : device_pointers(place))
          if (place.source.find_line("Free(" + name + ")", place.first, place.last) == 0 &&
              place.source.find_line("FreeAsync(" + name, place.first, place.last) == 0) {
            line = malloc_line;
            finding.advice = "cudaFree(" + name + ") after its last use";
            break;
          }
      }
      if (line > 0) finding.line = line, finding.file = place.file;
    }
}

}  // namespace membound::judge
