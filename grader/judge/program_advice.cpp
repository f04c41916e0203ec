// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the source shows of a whole program that did not do as asked: which line a failed call
/// stands in, host code that follows a device pointer, a result that never came back.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
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

/// The parts of a list, at the commas that no bracket holds.
std::vector<std::string> parts_of_list(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char letter : list) {
    depth += letter == '(' || letter == '{' ? 1 : letter == ')' || letter == '}' ? -1 : 0;
    if (letter == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  for (std::string& part : parts) part = std::string(base::trimmed(part));
  return parts;
}

/// What stands between `<<<` and `>>>` of the line, number by number.
std::vector<std::string> launch_numbers(const std::string& code) {
  const std::size_t begin = code.find("<<<"), end = code.find(">>>");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return parts_of_list(code.substr(begin + 3, end - begin - 3));
}

/// Where a variable of the stage gets its value, at or before a line; 0 where it does not.
int definition_of(const Place& place, const std::string& name, int before) {
  static const std::regex kName(R"(^[A-Za-z_]\w*$)");
  if (!std::regex_match(name, kName)) return 0;
  const std::regex defined(R"(\b)" + name + R"(\s*(?:=[^=]|\(|\{))");
  for (int line = before; line >= place.first; --line)
    if (std::regex_search(place.code(line), defined)) return line;
  return 0;
}

/// A grid that was rounded down, to 0 blocks for a small array.
bool name_rounded_grid(const Place& place, Finding& finding) {
  const std::vector<std::string> numbers = launch_numbers(place.code(finding.line));
  if (numbers.empty()) return false;
  const int defined = definition_of(place, numbers[0], finding.line);
  const std::string code = defined > 0 ? place.code(defined) : numbers[0];
  if (!holds(code, "/") || holds(code, "- 1)") || holds(code, "ceil")) return false;
  if (defined > 0) finding.line = defined;
  finding.advice =
      "`/` of whole numbers rounds down, to 0 blocks where there is less than one block's work: "
      "(n + threads - 1) / threads";
  return true;
}

/// The variables that were looked up. Each is looked up once, and no more than so many: a line may
/// name hundreds, and each of these hundreds of others.
using LookedUp = std::set<std::string>;
constexpr std::size_t kMostLookedUp = 32;

/// Whether a number of a call counts bytes, as far as its words and those of its variables say.
bool counts_bytes(const Place& place, const std::string& number, int line, LookedUp& known) {
  static const std::regex kSaysSo(
      R"(sizeof|[bB]ytes|[sS]ize\b(?!\s*\()|\*\s*[248]\b|\b[248]\s*\*|<<\s*[123]\b)"),
      kWord(R"([A-Za-z_]\w*)");
  if (std::regex_search(number, kSaysSo)) return true;
  bool has_word = false;
  for (auto word = std::sregex_iterator(number.begin(), number.end(), kWord);
       word != std::sregex_iterator(); ++word) {
    has_word = true;
    if (known.size() == kMostLookedUp) return true;  // who knows
    if (!known.insert((*word)[0]).second) continue;
    const int defined = definition_of(place, (*word)[0], line - 1);
    if (defined == 0) continue;
    const std::string code = place.code(defined);
    const std::size_t sign = code.find_first_of("=({");
    if (counts_bytes(place, code.substr(sign), defined, known)) return true;
  }
  return !has_word;  // 4096: who knows
}

bool counts_bytes(const Place& place, const std::string& number, int line) {
  LookedUp known;
  return counts_bytes(place, number, line, known);
}

/// A copy back whose third number counts elements.
bool name_copy_of_elements(const Place& place, Finding& finding) {
  static const std::regex kCopy(
      R"(cudaMemcpy(?:Async)?\s*\(\s*([^,]+),\s*([^,]+),\s*([^,]+),\s*cudaMemcpyDeviceToHost)");
  for (int line = place.first; line <= place.last; ++line) {
    const std::string code = place.code(line);
    std::smatch match;
    if (!std::regex_search(code, match, kCopy)) continue;
    const std::string number(base::trimmed(match[3].str()));
    if (counts_bytes(place, number, line)) continue;
    finding.file = place.file;
    finding.line = line;
    finding.advice = "the third number of a copy counts bytes, and `" + number +
                     "` counts elements: times sizeof of an element";
    return true;
  }
  return false;
}

/// A copy to or from a place that lies as many elements further on as it should lie bytes.
bool name_pointer_plus_bytes(const Place& place, Finding& finding) {
  static const std::regex kSum(
      R"(cudaMemcpy(?:Async)?\s*\([^;]*?\b(\w+ \+ (?:\w* \* )?\w*[bB]ytes)\s*,)");
  for (int line = place.first; line <= place.last; ++line) {
    const std::string code = place.code(line);
    std::smatch match;
    if (!std::regex_search(code, match, kSum)) continue;
    const std::string pointer = match[1].str().substr(0, match[1].str().find(' '));
    const int defined = definition_of(place, pointer, line - 1);
    if (defined > 0 && (holds(place.code(defined), "char") || holds(place.code(defined), "byte*")))
      continue;
    finding.file = place.file;
    finding.line = line;
    finding.advice = "`" + match[1].str() +
                     "` lies that many elements further on: what is added to a pointer counts "
                     "elements, and bytes only the third number of the copy";
    return true;
  }
  return false;
}

/// A grid of two directions that are exchanged: `dim3 grid(x, y)` before the launch.
bool name_exchanged_grid(const Place& place, Finding& finding) {
  const int launch = place.source.find_line("<<<", place.first, place.last);
  if (launch == 0) return false;
  const std::vector<std::string> numbers = launch_numbers(place.code(launch));
  if (numbers.empty()) return false;
  const int defined = definition_of(place, numbers[0], launch);
  const std::string code = defined > 0 ? place.code(defined) : numbers[0];
  static const std::regex kTwo(R"(\bdim3\b[^(){}]*[({](.*)[)}])");
  std::smatch match;
  if (!std::regex_search(code, match, kTwo)) return false;
  const std::vector<std::string> two = parts_of_list(match[1]);
  if (two.size() != 2) return false;
  std::string advice = exchanged_grid(place, two[0], two[1]);
  if (advice.empty()) return false;
  finding.file = place.file;
  finding.line = defined > 0 ? defined : launch;
  finding.advice = std::move(advice);
  return true;
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
      {"allocate", "cudaMalloc("},
      {"free", "cudaFree("},
      {"launch", "<<<"},
      {"begin-capture", "cudaStreamBeginCapture"},
      {"end-capture", "cudaStreamEndCapture"},
      {"instantiate-graph", "cudaGraphInstantiate"},
      {"launch-graph", "cudaGraphLaunch"},
      {"elapsed", "cudaEventElapsedTime"}};
  const std::string kind = match[1];
  int left = std::stoi(match[2]);
  for (const auto& [name, word] : kWords) {
    if (name != kind) continue;
    // The only one of its kind is it, in a loop, too.
    if (const int only = place.source.find_line(word, place.first, place.last);
        only > 0 && place.source.find_line(word, only + 1, place.last) == 0) {
      finding.file = place.file;
      finding.line = only;
      break;
    }
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
  if (kind == "end-capture" && holds(finding.text, "unjoined"))
    finding.advice =
        "whatever stream the capture has reached has to come back to the one that began it: "
        "cudaEventRecord in that stream after its last work, and cudaStreamWaitEvent of the first "
        "stream for this event before the capture ends";
  if (kind == "launch" && !name_rounded_grid(place, finding))
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

/// A result that was never copied back, or in part, or a grid that left it out.
void name_missing_copy(const Place& place, Finding& finding) {
  if (name_copy_of_elements(place, finding) || name_pointer_plus_bytes(place, finding) ||
      name_exchanged_grid(place, finding))
    return;
  if (!device_pointers(place).empty() &&
      place.source.find_line("DeviceToHost", place.first, place.last) == 0 &&
      place.source.find_line("cudaMemcpyDefault", place.first, place.last) == 0) {
    finding.file = place.file;
    finding.line = place.source.find_line("program.write(", place.first, place.last);
    finding.text +=
        "\nNothing is copied back from the device: what is written is what the host's "
        "array held before.";
    finding.advice =
        "cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost) after the kernel, before the host "
        "looks at the array";
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

/// A copy that names no stream, beside others that do.
void name_copy_without_stream(const Place& place, Finding& finding) {
  static const std::regex kAsync(R"(cudaMemcpyAsync\s*\((.*)$)");
  for (int line = place.first; line <= place.last; ++line) {
    std::string code = place.code(line);
    for (int next = line + 1; code.find(';') == std::string::npos && next < line + 4; ++next)
      code += place.code(next);
    std::smatch match;
    if (!holds(place.code(line), "cudaMemcpyAsync") || !std::regex_search(code, match, kAsync))
      continue;
    std::string list = match[1];
    int depth = 1;
    std::size_t end = 0;
    for (; end < list.size() && depth > 0; ++end)
      depth += list[end] == '(' ? 1 : list[end] == ')' ? -1 : 0;
    if (depth > 0 || parts_of_list(list.substr(0, end - 1)).size() != 4) continue;
    finding.file = place.file;
    finding.line = line;
    finding.advice =
        "this copy names no stream, so that it is in the default stream, which waits for the work "
        "of all others and lets them wait: give it its piece's stream, the fifth argument";
    return;
  }
}

}  // namespace

void advise_shared_of_program(const StagePlace& place, course::Finding& finding) {
  const int line = place.source.find_line("<<<", place.first, place.last);
  if (line == 0 || !holds(finding.text, "dynamic shared memory")) return;
  const std::vector<std::string> numbers = launch_numbers(place.code(line));
  const std::string in_line = "<<<…>>> in line " + std::to_string(line);
  if (numbers.size() == 2)
    finding.advice = "extern __shared__ is as large as the launch says, and the " + in_line +
                     " asks for nothing: its third number is the elements * sizeof(element)";
  else if (numbers.size() > 2 && !counts_bytes(place, numbers[2], line))
    finding.advice = "the third number of the " + in_line + ", `" + numbers[2] +
                     "`, counts bytes, not elements: multiply by sizeof(element)";
  else if (numbers.size() > 2)
    finding.advice = "compare the largest index with the third number of the " + in_line + ", `" +
                     numbers[2] + "`, which counts the bytes of all arrays in it together";
}

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
  // A program that compares with the CPU ends with a code of its own.
  const bool differs = holds(finding.text, "first wrong") ||
                       (holds(finding.text, "the program ended with exit code") &&
                        !holds(finding.text, "failed with CUDA error"));
  if (finding.line == 0 && verdict == course::Verdict::kWrong && differs)
    name_missing_copy(place, finding);
  if (finding.line == 0 && holds(finding.text, "A kernel ran during"))
    name_copy_without_stream(place, finding);
  if (const int asks = place.source.find_line("cudaEventElapsedTime", place.first, place.last);
      finding.line == 0 && asks > 0 && holds(finding.text, "device not ready")) {
    finding.line = asks;
    finding.file = place.file;
    finding.advice =
        "cudaEventSynchronize of the second event before this line: the host does not wait for the "
        "kernel, so that this event has not happened yet";
  }
  static const std::regex kLaunch(R"(launch (\d+) \()");
  std::smatch match;
  if (finding.line == 0 && std::regex_search(finding.text, match, kLaunch)) {
    // The only launch is it, in a loop, too.
    const int only = place.source.find_line("<<<", place.first, place.last);
    const bool is_only = only > 0 && place.source.find_line("<<<", only + 1, place.last) == 0;
    if (is_only) finding.line = only, finding.file = place.file;
    int left = is_only ? 0 : std::stoi(match[1]);
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
