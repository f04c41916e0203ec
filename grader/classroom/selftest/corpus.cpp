// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/corpus.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"

namespace membound::selftest {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSectionMark = "--- ";
constexpr const char* kKernelName = "kernel.cu";
constexpr const char* kScript = "attack.sh";

base::Error wrong(const fs::path& file, const std::string& found) {
  return {base::ErrorKind::kInput, file.string(), found, "a case of the attack corpus",
          "see docs/security.md, \"The corpus\""};
}

using Sections = std::map<std::string, std::string>;

/// A case as its file has it.
struct CaseText {
  std::vector<std::pair<std::string, std::string>> head;
  Sections sections;
};

base::Result<CaseText> parts_of(const fs::path& file) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  CaseText parts;
  std::string* section = nullptr;
  for (std::size_t at = 0, end; at < text->size(); at = end) {
    end = std::min(text->find('\n', at), text->size() - 1) + 1;
    const std::string_view line(text->data() + at, end - at);
    if (line.starts_with(kSectionMark)) {
      section = &parts.sections[std::string(base::trimmed(line.substr(kSectionMark.size())))];
    } else if (section != nullptr) {
      *section += line;
    } else if (!line.starts_with('#') && !base::trimmed(line).empty()) {
      const auto colon = line.find(": ");
      if (colon == std::string_view::npos)
        return wrong(file, "\"" + std::string(base::trimmed(line)) + "\" is no line of a head");
      parts.head.emplace_back(line.substr(0, colon), base::trimmed(line.substr(colon + 2)));
    }
  }
  return parts;
}

/// "A, B" as its words.
std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    words.emplace_back(base::trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

/// Whether `value` is a number, which `number` then is.
template <typename Number>
bool reads(const std::string& value, Number& number) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size();
}

/// Whether a line of the head says something, and what of the case or its frame.
bool takes(const std::string& key, const std::string& value, Case& one, std::string& frame) {
  static const std::map<std::string, std::string Case::*> kTexts = {
      {"title", &Case::title},
      {"defence", &Case::defence},
      {"lab", &Case::lab},
      {"secret", &Case::secret},
      {"generator", &Case::generator},
      {"switch off", &Case::switch_off}};
  constexpr std::string_view kWith = "expected with ";
  if (const auto text = kTexts.find(key); text != kTexts.end())
    one.*(text->second) = value;
  else if (key == "frame")
    frame = value;
  else if (key == "kind" && value == "gpu")
    one.kind = CaseKind::kGpu;
  else if (key == "expected")
    one.expected = words_of(value);
  else if (key.starts_with(kWith))
    one.expected_with[key.substr(kWith.size())] = words_of(value);
  else if (key == "stage")
    return reads(value, one.stage);
  else if (key == "launch seconds")
    return reads(value, one.launch_seconds);
  else
    return false;
  return true;
}

/// The frame with each section in its place.
base::Result<std::string> framed(const fs::path& file, const std::string& frame,
                                 Sections sections) {
  const fs::path folder = file.parent_path().parent_path().parent_path() / "frames";
  const auto text = base::read_file(folder / (frame + ".frame"));
  if (!text) return text.error();
  std::string whole;
  for (const std::string_view line : base::lines_of(*text)) {
    const bool is_place = line.size() > 2 && line.starts_with('@') && line.ends_with('@');
    if (!is_place)
      whole.append(line) += '\n';
    else if (auto section = sections.extract(std::string(line.substr(1, line.size() - 2))))
      whole += section.mapped();
  }
  if (!sections.empty())
    return wrong(file, "\"" + sections.begin()->first + "\" has no place in the frame " + frame);
  return whole;
}

}  // namespace

const std::vector<std::string>& expected_of(const Case& one, const std::string& compiler,
                                            const std::string& device) {
  for (const std::string& difference : {compiler, device})
    if (const auto place = one.expected_with.find(difference); place != one.expected_with.end())
      return place->second;
  return one.expected;
}

base::Result<Case> read_case(const fs::path& file) {
  auto parts = parts_of(file);
  if (!parts) return parts.error();
  Case one;
  one.id = file.parent_path().filename().string() + "/" + file.stem().string();
  std::string frame = "reverse_direct";
  for (const auto& [key, value] : parts->head)
    if (!takes(key, value, one, frame))
      return wrong(file, "\"" + key + ": " + value + "\" says nothing of a case");
  if (one.title.empty() || one.expected.empty())
    return wrong(file, "does not say what it is, or what must come of it");
  // An attack has a defence, and its number in front of its name.
  if (!one.defence.empty()) one.number = std::atoi(file.stem().c_str());
  Sections& sections = parts->sections;
  if (!one.generator.empty()) {
    one.kind = CaseKind::kIntake;
  } else if (one.kind == CaseKind::kGpu) {
    return one;
  } else if (sections.empty()) {
    return wrong(file, "hands in nothing");
  } else if (sections.contains(kScript)) {
    one.kind = CaseKind::kJail;
    one.submission = std::move(sections[kScript]);
  } else if (sections.contains(kKernelName)) {
    one.submission = std::move(sections[kKernelName]);
  } else {
    auto whole = framed(file, frame, std::move(sections));
    if (!whole) return whole.error();
    one.submission = *std::move(whole);
  }
  return one;
}

base::Result<fs::path> write_submission(const Case& one, const fs::path& folder) {
  fs::path file = folder / (one.kind == CaseKind::kJail ? kScript : kKernelName);
  const auto written = base::write_file(file, one.submission);
  if (!written) return written.error();
  return file;
}

base::Result<std::vector<Case>> read_corpus(const fs::path& folder) {
  std::vector<Case> all;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".case") continue;
    auto one = read_case(entry->path());
    if (!one) return one.error();
    all.push_back(std::move(*one));
  }
  if (error || all.empty()) return wrong(folder, "holds no case");
  std::sort(all.begin(), all.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  return all;
}

std::string markdown_table(const std::vector<Case>& cases) {
  std::string text = "| case | tries | must come out as | met by |\n| --- | --- | --- | --- |\n";
  for (const Case& one : cases) {
    std::string expected = base::joined(one.expected);
    for (const auto& [compiler, words] : one.expected_with)
      expected += "; with " + compiler + " " + base::joined(words);
    const std::string defence = one.defence.empty() ? "" : one.defence;
    text += "| " + one.id + " | " + one.title + " | " + expected + " | " + defence +
            (one.switch_off.empty() ? "" : " (switch: `" + one.switch_off + "`)") + " |\n";
  }
  return text;
}

}  // namespace membound::selftest
