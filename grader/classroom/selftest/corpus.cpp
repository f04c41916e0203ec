// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/corpus.hpp"

#include <algorithm>
#include <system_error>

#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"

namespace membound::selftest {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<CaseKind, std::string_view> kKinds[] = {{CaseKind::kGrade, "grade"},
                                                            {CaseKind::kJail, "jail"},
                                                            {CaseKind::kIntake, "intake"},
                                                            {CaseKind::kGpu, "gpu"}};

base::Error wrong(const fs::path& file, const std::string& found) {
  return {base::ErrorKind::kInput, file.string(), found, "a case of the attack corpus",
          "see docs/security.md, \"The corpus\""};
}

base::Result<Case> read_case(const fs::path& file) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) return wrong(file, "is not a JSON object");
  Case one;
  one.folder = file.parent_path();
  one.id = one.folder.parent_path().filename().string() + "/" + one.folder.filename().string();
  try {
    one.number = json.value("number", 0);
    one.title = json.at("title").get<std::string>();
    one.defence = json.value("defence", "");
    one.note = json.value("note", "");
    one.lab = json.value("lab", one.lab);
    one.stage = json.value("stage", one.stage);
    one.launch_seconds = json.value("launch_seconds", 0.0);
    one.expected = json.at("expected").get<std::vector<std::string>>();
    one.expected_with = json.value("expected_with", one.expected_with);
    one.secret = json.value("secret", "");
    one.generator = json.value("generator", "");
    one.switch_off = json.value("switch_off", "");
    const std::string kind = json.value("kind", "grade");
    const auto* const known =
        std::find_if(std::begin(kKinds), std::end(kKinds),
                     [&kind](const auto& entry) { return entry.second == kind; });
    if (known == std::end(kKinds)) return wrong(file, "\"" + kind + "\" is no kind of case");
    one.kind = known->first;
  } catch (const nlohmann::json::exception& problem) {
    return wrong(file, problem.what());
  }
  return one;
}

}  // namespace

const std::vector<std::string>& expected_of(const Case& one, const std::string& compiler,
                                            const std::string& device) {
  for (const std::string& difference : {compiler, device})
    if (const auto place = one.expected_with.find(difference); place != one.expected_with.end())
      return place->second;
  return one.expected;
}

std::string_view to_string(CaseKind kind) {
  for (const auto& [known, word] : kKinds)
    if (known == kind) return word;
  return "";
}

base::Result<std::vector<Case>> read_corpus(const fs::path& folder) {
  std::vector<Case> all;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() != "case.json") continue;
    auto one = read_case(entry->path());
    if (!one) return one.error();
    all.push_back(std::move(*one));
  }
  if (error || all.empty()) return wrong(folder, "holds no case");
  std::sort(all.begin(), all.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  return all;
}

namespace {

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string markdown_table(const std::vector<Case>& cases) {
  std::string text = "| case | tries | must come out as | met by |\n| --- | --- | --- | --- |\n";
  for (const Case& one : cases) {
    std::string expected = list_of(one.expected);
    for (const auto& [compiler, words] : one.expected_with)
      expected += "; with " + compiler + " " + list_of(words);
    const std::string defence = one.defence.empty() ? "" : one.defence;
    text += "| " + one.id + " | " + one.title + " | " + expected + " | " + defence +
            (one.switch_off.empty() ? "" : " (switch: `" + one.switch_off + "`)") + " |\n";
  }
  return text;
}

}  // namespace membound::selftest
