// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes a lab in its least form: six files from the templates in new_lab/, and where the course's
/// build lists its labs, a line of that list.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/files.hpp"
#include "grader/base/filled_template.hpp"
#include "grader/base/strings.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr int kMostStages = 9;
constexpr int kAllPoints = 100;

/// "15" of "15-my-lab".
std::string number_of(const std::string& id) { return id.substr(0, id.find('-')); }

/// "My lab".
std::string title_of(const std::string& id) {
  std::string title = id.substr(id.find('-') + 1);
  std::replace(title.begin(), title.end(), '-', ' ');
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

nlohmann::json values_of(const NewLab& request, bool answer) {
  std::string name = request.id.substr(request.id.find('-') + 1);
  std::replace(name.begin(), name.end(), '-', '_');
  auto stages = nlohmann::json::array();
  for (int stage = 1; stage <= request.stages; ++stage) {
    // What does not divide evenly is the last one's.
    const int each = kAllPoints / request.stages;
    const int points = stage < request.stages ? each : kAllPoints - each * (request.stages - 1);
    const std::string number = std::to_string(stage);
    stages.push_back({{"number", number},
                      {"stage", number},
                      {"name", "stage-" + number},
                      {"kernel", name + "_" + number},
                      {"points", std::to_string(points)},
                      {"comma", stage < request.stages ? "," : ""}});
  }
  return {{"interface", std::to_string(course::kLabInterface)},
          {"id", request.id},
          {"number", number_of(request.id)},
          {"title", title_of(request.id)},
          {"program", request.is_program},
          {"answer", answer},
          {"stages", stages}};
}

base::Error wrong_name(const std::string& found, const std::string& expected,
                       const std::string& advice) {
  return {base::ErrorKind::kUsage, "membound dev new", found, expected, advice};
}

base::Status check_name(const NewLab& request, const std::vector<course::Lab>& known) {
  static const std::regex kForm(R"(\d\d-[a-z][a-z0-9]*(-[a-z0-9]+)*)");
  if (!std::regex_match(request.id, kForm))
    return wrong_name("\"" + request.id + "\" is no name of a lab",
                      "two digits and words of small letters, with '-' between", "15-my-lab");
  if (request.stages < 1 || request.stages > kMostStages)
    return wrong_name(std::to_string(request.stages) + " stages",
                      "1 to " + std::to_string(kMostStages), "");
  for (const course::Lab& lab : known)
    if (number_of(lab.id) == number_of(request.id))
      return wrong_name("there is a lab " + lab.id + ", in " + lab.folder.string(),
                        "a number that no lab has", "another number, or remove that lab");
  std::error_code ignored;
  for (const char* part : {"labs", "solutions", "handouts"})
    if (const fs::path folder = request.tree / part / request.id; fs::exists(folder, ignored))
      return wrong_name(folder.string() + " is there already", "a new folder", "another name");
  return base::Done{};
}

/// `text` without the empty lines that sections of a template leave: in JSON all, elsewhere those
/// that follow another one or begin a block.
std::string without_gaps(std::string_view text, bool is_json) {
  std::string kept;
  bool is_open = true;
  for (const std::string_view line : base::lines_of(text)) {
    const bool is_empty = base::trimmed(line).empty();
    if (is_empty && (is_open || is_json)) continue;
    kept += std::string(line) + "\n";
    is_open = is_empty || line.ends_with('{');
  }
  return kept;
}

/// The course's own build has a list of its labs.
base::Status add_to_build(const NewLab& request) {
  const fs::path list = request.tree / "labs" / "CMakeLists.txt";
  auto text = base::read_file(list);
  if (!text) return base::Done{};
  const auto last = text->rfind("\nadd_lab(");
  if (last == std::string::npos) return base::Done{};
  text->insert(text->find('\n', last + 1) + 1, "add_lab(" + request.id + ")\n");
  return base::write_file(list, *text);
}

}  // namespace

base::Result<std::vector<fs::path>> write_new_lab(const NewLab& request,
                                                  const std::vector<course::Lab>& known) {
  if (auto fits = check_name(request, known); !fits) return fits.error();
  struct File {
    const char* folder;
    const char* name;
    const char* text;
    bool answer;
  };
  constexpr File kFiles[] = {
      {"labs", "lab.json", "lab", false},         {"labs", "kernel.cuh", "contract", false},
      {"labs", "kernel.cu", "kernel", false},     {"labs", "oracle.cpp", "oracle", false},
      {"solutions", "kernel.cu", "kernel", true}, {"handouts", "handout.md", "page", false}};
  std::vector<fs::path> written;
  for (const File& file : kFiles) {
    const auto text = base::filled_template(std::string(new_lab_text(file.text)),
                                            values_of(request, file.answer), base::Quoting::kNone);
    if (!text) return text.error();
    written.push_back(request.tree / file.folder / request.id / file.name);
    const bool is_json = written.back().extension() == ".json";
    const auto put = base::write_file(written.back(), without_gaps(*text, is_json));
    if (!put) return put.error();
  }
  if (auto listed = add_to_build(request); !listed) return listed.error();
  return written;
}

}  // namespace membound::authoring
