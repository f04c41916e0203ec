// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Beginners' mistakes, as a student makes them, on the virtual GPU: what a check prints must name
/// the fault and its line, and a next step that is true. Each is a file of this folder (README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/device_code/compilers/compiler.hpp"

namespace membound {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = MEMBOUND_SOURCE_DIR;

/// A mistake: a reference answer in which text of one stage was replaced.
struct Mistake {
  std::string id;
  std::map<std::string, std::string> head;
  std::vector<std::pair<std::string, std::string>> edits;  ///< taken out, put in

  [[nodiscard]] std::string lab() const { return head.at("lab").substr(0, 2); }
  [[nodiscard]] int stage() const { return std::stoi(head.at("lab").substr(3)); }
  [[nodiscard]] std::string value(const std::string& key) const {
    const auto found = head.find(key);
    return found == head.end() ? "" : found->second;
  }
};

/// The parts between bars, without spaces around them.
std::vector<std::string> alternatives(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '|');) all.emplace_back(base::trimmed(part));
  return all;
}

Mistake read(const fs::path& file) {
  Mistake mistake;
  mistake.id = file.stem().string();
  std::ifstream stream(file);
  std::string* section = nullptr;
  for (std::string line; std::getline(stream, line);) {
    if (line == "--- take out") {
      mistake.edits.emplace_back();
      section = &mistake.edits.back().first;
    } else if (line == "--- put in") {
      section = &mistake.edits.back().second;
    } else if (section != nullptr) {
      *section += line + "\n";
    } else if (const auto colon = line.find(": "); colon != std::string::npos) {
      mistake.head[line.substr(0, colon)] = line.substr(colon + 2);
    }
  }
  // A section may be part of a line: its last end of line is the file's.
  for (auto& [out, in] : mistake.edits)
    for (std::string* text : {&out, &in})
      if (text->ends_with('\n')) text->pop_back();
  return mistake;
}

std::vector<Mistake> corpus() {
  std::vector<Mistake> all;
  for (const auto& entry : fs::directory_iterator(kRoot / "grader/tests/mistakes"))
    if (entry.path().extension() == ".case") all.push_back(read(entry.path()));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

fs::path folder_of(const std::string& lab, const char* below) {
  for (const auto& entry : fs::directory_iterator(kRoot / below))
    if (entry.path().filename().string().starts_with(lab + "-")) return entry.path();
  return {};
}

/// The reference answer with the mistake in it; empty where a text to be taken out is not there.
std::string with_mistake(const Mistake& mistake) {
  const auto answer = base::read_file(folder_of(mistake.lab(), "solutions") / "kernel.cu");
  if (!answer) return "";
  const std::string part = course::stage_text(*answer, mistake.stage());
  const auto start = answer->find(part);
  std::string before = answer->substr(0, start), changed = part;
  for (const auto& [out, in] : mistake.edits) {
    std::string& text = changed.find(out) != std::string::npos ? changed : before;
    const auto at = text.find(out);
    if (at == std::string::npos) return "";
    text.replace(at, out.size(), in);
  }
  return before + changed + answer->substr(start + part.size());
}

/// The numbers of the stage's lines (or of the file's, before it) in which one of `texts` stands.
std::set<int> lines_with(const std::string& source, const Mistake& mistake,
                         const std::vector<std::string>& texts) {
  std::set<int> numbers;
  int number = 0;
  for (const std::string_view line : base::lines_of(source)) {
    const int stage = course::stage_of_line(source, ++number);
    if (stage != mistake.stage() && stage != 0) continue;
    for (const std::string& text : texts)
      if (line.find(text) != std::string_view::npos) numbers.insert(number);
  }
  return numbers;
}

/// As it is read, without the ends of lines that a narrow terminal puts in.
std::string flowing(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

/// What a check prints, and after it the lab's hint for what it found.
struct Told {
  std::string printed, hints;
  std::vector<std::string> findings;  ///< "line 12: what was found. What to do"
};

/// Without what differs from machine to machine: addresses, and paths.
std::string portable(std::string text, const std::string& id) {
  static const std::regex kAddress("0x[0-9a-f]{6,}");
  text = std::regex_replace(text, kAddress, "0x…");
  text = std::regex_replace(text, std::regex(R"(\S*/)" + id + ".cu"), id + ".cu");
  return text;
}

std::string cut(const std::string& text) {
  constexpr std::size_t kLongest = 180;
  return text.size() > kLongest ? text.substr(0, text.rfind(' ', kLongest)) + " …" : text;
}

/// What the result's JSON holds of a stage, the compiler's first error first.
std::vector<std::string> findings_in(const nlohmann::json& result, const Mistake& mistake) {
  std::vector<std::string> all;
  std::istringstream lines(result.value("compiler_output", ""));
  for (std::string line; std::getline(lines, line);)
    if (line.find("error") != std::string::npos) {
      all.push_back(portable(line, mistake.id));
      break;
    }
  for (const auto& stage : result.value("stages", nlohmann::json::array()))
    for (const auto& finding : stage.value("findings", nlohmann::json::array())) {
      const int line = finding.value("line", 0);
      const std::string advice = finding.value("advice", "");
      const auto shown = [&](const std::string& text) {
        return cut(portable(flowing(text), mistake.id));
      };
      all.push_back((line > 0 ? "line " + std::to_string(line) + ": " : "") +
                    shown(finding.value("text", "")) +
                    (advice.empty() ? "" : " **Try:** " + shown(advice)));
    }
  return all;
}

Told check(const Mistake& mistake, const std::string& compiler, const std::string& source) {
  const base::ScratchFolder scratch("mistake");
  const fs::path file = scratch.path() / (mistake.id + ".cu"),
                 json = scratch.path() / "result.json";
  EXPECT_TRUE(base::write_file(file, source));
  const auto run =
      base::run_process({.arguments = {MEMBOUND_PROGRAM, "check", mistake.head.at("lab"),
                                       "--submission", file.string(), "--device", "vgpu:h200",
                                       "--compiler", compiler, "--json", json.string()},
                         .environment = {{"MEMBOUND_ROOT", kRoot.string()}, {"NO_COLOR", "1"}},
                         .timeout_seconds = 120});
  if (!run) return {base::to_string(run.error()), ""};
  Told told{flowing(run->output), ""};
  const auto text = base::read_file(json);
  const auto lab = base::read_file(folder_of(mistake.lab(), "labs") / "lab.json");
  if (!text || !lab) return told;
  const auto result = nlohmann::json::parse(*text, nullptr, false);
  const auto hints = nlohmann::json::parse(*lab, nullptr, false).value("hints", nlohmann::json());
  for (const auto& one : result.is_array() ? result : nlohmann::json::array({result})) {
    told.findings = findings_in(one, mistake);
    for (const auto& stage : one.value("stages", nlohmann::json::array()))
      for (const auto& finding : stage.value("findings", nlohmann::json::array())) {
        const std::string tag = finding.value("hint_tag", "");
        if (!told.hints.empty() || !hints.contains(tag)) continue;
        for (const auto& tier : hints[tag]) told.hints += flowing(tier.get<std::string>()) + " ";
      }
  }
  return told;
}

bool holds_any(const std::string& text, const std::string& words) {
  const auto all = alternatives(words);
  return words.empty() || std::any_of(all.begin(), all.end(), [&](const std::string& one) {
           return text.find(one) != std::string::npos;
         });
}

bool names_a_line(const std::string& printed, const std::string& id, const std::set<int>& lines) {
  std::string squeezed = printed;  // a narrow terminal breaks a long path anywhere
  std::erase(squeezed, ' ');
  return std::any_of(lines.begin(), lines.end(), [&](int line) {
    const std::string number = std::to_string(line);
    return squeezed.find(id + ".cu:" + number + ":") != std::string::npos ||
           printed.find("line " + number + ":") != std::string::npos ||
           printed.find("line " + number + " ") != std::string::npos ||
           printed.find("line " + number + ",") != std::string::npos;
  });
}

struct Try {
  Mistake mistake;
  std::string compiler;
};

std::vector<Try> tries() {
  std::vector<Try> all;
  for (const Mistake& mistake : corpus()) {
    const std::string with = mistake.value("compiled with");
    for (const char* compiler : {"clang", "nvcc"})
      if (with.empty() ? std::string(compiler) == "clang"
                       : with.find(compiler) != std::string::npos)
        all.push_back({mistake, compiler});
  }
  return all;
}

/// A row of printed.md: the first finding that says what must be named, or else the first one.
std::string row_of(const Mistake& mistake, const Told& told) {
  std::string text = told.findings.empty() ? "nothing: it passes" : told.findings.front();
  const auto names = std::ranges::find_if(told.findings, [&](const std::string& finding) {
    return holds_any(finding, mistake.value("names"));
  });
  if (names != told.findings.end()) text = *names;
  std::string cells;
  for (const char letter : text) cells += letter == '|' ? "\\|" : std::string(1, letter);
  return "| `" + mistake.id + "` | " + mistake.value("title") + " | " + cells + " |\n";
}

/// What the check of a mistake fails to name; empty where it names all. `row`: that of printed.md.
std::string missing(const Try& one, std::string& row) {
  const auto& [mistake, compiler] = one;
  const std::string source = with_mistake(mistake);
  if (source.empty()) return "the reference answer no longer has what this case takes out\n";
  const Told told = check(mistake, compiler, source);
  row = row_of(mistake, told);
  std::string text;
  if (!holds_any(told.printed, mistake.value("names")))
    text += "names: " + mistake.value("names") + "\n";
  if (const std::string line = mistake.value("line"); !line.empty())
    if (!names_a_line(told.printed, mistake.id, lines_with(source, mistake, alternatives(line))))
      text += "line: " + line + "\n";
  if (!holds_any(told.printed + told.hints, mistake.value("step")))
    text += "step: " + mistake.value("step") + "\n";
  for (const std::string& words : alternatives(mistake.value("never")))
    if (told.printed.find(words) != std::string::npos) text += "never: " + words + "\n";
  return text.empty() ? text : text + told.printed + "\n";
}

std::string page_head(const std::string& compilers) {
  return "<!-- SPDX-FileCopyrightText: The Membound authors -->\n"
         "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
         "# What a check prints of each mistake\n\n"
         "Made by `MEMBOUND_WRITE_PRINTED=1 mistakes_tests` on the virtual GPU with " +
         compilers +
         ";\nthe test holds it where these are. Of each the finding that names the fault, long "
         "sentences cut.\n\n| case | what the student did | what is printed |\n| --- | --- | --- "
         "|\n";
}

/// Each number as #: how many elements are wrong is chance where the mistake is a race.
std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

TEST(BeginnersMistakes, AreNamedWithLineAndATrueNextStepInNineteenOfTwenty) {
  const bool has_nvcc = static_cast<bool>(compilers::find_compiler(
      compilers::DeviceCompiler::kNvcc, compilers::compiler_places(kRoot)));
  std::vector<Try> all = tries();
  std::erase_if(all, [&](const Try& one) { return one.compiler == "nvcc" && !has_nvcc; });
  std::vector<std::string> found(all.size()), rows(all.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) found[i] = missing(all[i], rows[i]);
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, base::processors()); ++i) threads.emplace_back(work);
  }
  std::size_t named = 0;
  std::string rest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (found[i].empty())
      ++named;
    else
      rest += "\n" + all[i].mistake.id + ", " + all[i].compiler + "\n" + found[i];
  }
  RecordProperty("named", std::to_string(named) + " of " + std::to_string(all.size()));
  EXPECT_GE(20 * named, 19 * all.size()) << rest;

  if (!has_nvcc) return;
  std::map<std::string, std::string> row;  // clang's, of what it compiles
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string& one = row[all[i].mistake.id];
    if (one.empty() || all[i].compiler == "clang") one = rows[i];
  }
  std::string table;
  for (const auto& [id, text] : row) table += text;
  const fs::path page = kRoot / "grader/tests/mistakes/printed.md";
  const auto kept = base::read_file(page);
  ASSERT_TRUE(kept);
  // Another version of a compiler says some things otherwise.
  std::string versions;
  for (const auto kind : {compilers::DeviceCompiler::kClang, compilers::DeviceCompiler::kNvcc}) {
    const auto compiler = compilers::find_compiler(kind, compilers::compiler_places(kRoot));
    ASSERT_TRUE(compiler);
    versions += (versions.empty() ? "" : " or ") + compiler->name();
  }
  const std::string head = page_head(versions);
  if (std::getenv("MEMBOUND_WRITE_PRINTED") != nullptr) {
    ASSERT_TRUE(base::write_file(page, head + table));
  } else if (kept->starts_with(head)) {
    EXPECT_EQ(without_numbers(*kept), without_numbers(head + table))
        << "write it anew: MEMBOUND_WRITE_PRINTED=1, and this test";
  }
}

TEST(BeginnersMistakes, AreSixtyAtLeastAndFromAllLabs) {
  std::set<std::string> labs;
  for (const Mistake& mistake : corpus()) labs.insert(mistake.lab());
  EXPECT_GE(corpus().size(), 60U);
  EXPECT_THAT(labs, testing::ElementsAre("00", "01", "02", "03", "04", "05", "06", "07", "08", "09",
                                         "10", "11", "12", "14"));  // 13 is made of mistakes
}

TEST(BeginnersMistakes, SayWhatMustBeNamed) {
  for (const Mistake& mistake : corpus()) {
    SCOPED_TRACE(mistake.id);
    EXPECT_FALSE(mistake.value("title").empty());
    EXPECT_FALSE(mistake.value("names").empty());
    EXPECT_FALSE(mistake.value("step").empty());
    EXPECT_FALSE(with_mistake(mistake).empty());
  }
}

}  // namespace
}  // namespace membound
