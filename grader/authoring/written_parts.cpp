// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/written_parts.hpp"

#include <algorithm>
#include <cstdio>
#include <regex>
#include <sstream>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/contract.hpp"
#include "grader/device_code/checkers/checkers.hpp"
#include "grader/report/svg.hpp"
#include "grader/vgpu/counters/counters.hpp"

namespace membound::authoring {
namespace {

/// "0.75", "1.1", "4096"
std::string shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// "1.1 shared wavefronts for each of its ideal shared wavefronts"; empty where there is none.
std::string budget_of(const course::Stage& stage) {
  std::string text;
  for (const course::CounterBar& bar : stage.counters) {
    std::string words = shortest(bar.at_most) + " " + bar.counter;
    if (!bar.per.empty())
      words += (bar.per == course::kMultiprocessors ? " for each of the " : " for each of its ") +
               bar.per;
    std::replace(words.begin(), words.end(), '_', ' ');
    base::add_word(text, words, "; ");
  }
  return text;
}

}  // namespace

std::vector<Drift> check_written_part(const WrittenPart& part, const std::filesystem::path& root,
                                      bool fix) {
  const auto text = base::read_file(root / part.page);
  if (!text) return {{part.page, 0, "cannot be read", "the page of the " + part.name, ""}};
  const std::string first = "<!-- " + part.name + ": written by `" + part.command + "` -->\n";
  const auto begin = text->find(first);
  const auto end = text->find("<!-- end of " + part.name + " -->\n");
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    return {{part.page, 0, "no place for the " + part.name,
             "the lines that begin and end it, as comments", "take them from git's history"}};
  const auto from = begin + first.size();
  if (text->substr(from, end - from) == part.text) return {};
  if (fix &&
      base::write_file(root / part.page, text->substr(0, from) + part.text + text->substr(end)))
    return {};
  return {{part.page, 0, "its " + part.name + " are not those of " + part.table,
           "the part of the page that is written from there", part.command}};
}

std::vector<WrittenPart> checker_parts() {
  std::string table = "| name | finds |\n| --- | --- |\n", list;
  for (const checkers::CheckerInfo& checker : checkers::kCheckers) {
    const std::string name = "`" + std::string(checker.name) + "`";
    table += "| " + name + " | " + std::string(checker.finds) + " |\n";
    list += "- " + name + ": " + std::string(checker.words) + ".\n";
  }
  const std::string source = "grader/device_code/checkers/checkers.def";
  return {{"docs/checkers.md", "checkers", table, source},
          {"grader/cli/help/run.md", "checkers", list, source}};
}

std::vector<WrittenPart> rule_parts() {
  std::string table =
      "| rule | what the clock takes away | counter | explained in |\n"
      "| --- | --- | --- | --- |\n";
  for (const vgpu::counters::RuleInfo& rule : vgpu::counters::kRules) {
    table += "| `" + std::string(rule.name) + "` | " + std::string(rule.fault) + " | `" +
             std::string(rule.counter) + "` | " + std::string(rule.handout) + ", " +
             std::string(rule.section) + " |\n";
  }
  return {{"docs/guided_analysis.md", "rules", table, "grader/vgpu/counters/rules.def"}};
}

std::vector<WrittenPart> role_parts() {
  std::string table = "| role | stands for |\n| --- | --- |\n";
#define ROLE(name, inside, edge, dark_inside, dark_edge, meaning) \
  table += "| `" #name "` | " meaning " |\n";
#include "grader/authoring/drawing_looks.def"
  return {{"docs/drawing_figures.md", "roles", table, "grader/authoring/drawing_looks.def"}};
}

std::vector<WrittenPart> verdict_parts() {
  const std::string head = "| verdict | meaning |\n| --- | --- |\n";
  std::string check = head, grade = head, order;
  std::string result = "| verdict | meaning | points |\n| --- | --- | --- |\n";
  for (const course::VerdictRow& row : course::verdict_rows()) {
    const std::string meaning = " | " + std::string(row.meaning) + " |";
    check += "| " + std::string(row.words) + meaning + "\n";
    result +=
        "| `" + std::string(row.name) + "`" + meaning + (row.earns_points ? " yes |\n" : " no |\n");
  }
  for (const course::GradeRow& row : course::grade_rows()) {
    grade += "| " + std::string(row.name) + " | " + std::string(row.meaning) + " |\n";
    std::string stages;
    for (const course::VerdictRow& stage : course::verdict_rows())
      if (stage.grade == row.verdict) base::add_word(stages, stage.name);
    order += "- " + std::string(row.name) + (stages.empty() ? "" : " (" + stages + ")") + "\n";
  }
  const std::string source = "grader/course/verdicts.def";
  return {{"grader/cli/help/check.md", "verdicts", check, source},
          {"grader/cli/help/grade.md", "verdicts", grade, source},
          {"docs/result.md", "verdicts", result, source},
          {"docs/grading.md", "verdicts", order, source}};
}

base::Result<std::vector<WrittenPart>> latency_parts(const std::filesystem::path& root) {
  const std::string source = "handouts/memory_latency.csv";
  const auto text = base::read_file(root / source);
  if (!text) return text.error();
  const auto rows = base::read_csv(*text, source);
  if (!rows) return rows.error();
  std::string table =
      "| a load from | which holds | alone | under load |\n"
      "| --- | --- | ---: | ---: |\n";
  std::string measured;
  for (const std::vector<std::string>& row : rows->rows) {
    const auto cell = [&](const char* title) {
      const auto column = rows->column(title);
      return column ? row[*column] : "";
    };
    const std::string loaded = cell("loaded_cycles");
    table += "| " + cell("memory") + " | " + cell("holds") + " | " + cell("idle_cycles") +
             " cycles, " + cell("idle_ns") + " ns | " +
             (loaded.empty() ? "not measured" : loaded + " cycles") + " |\n";
    measured = cell("measured");
  }
  table +=
      "\n" + measured +
      ": one thread follows a chain of addresses, `handouts/09-latency-hiding/experiment.cu`; "
      "under "
      "load others read from the same memory, for L1 those of its SM, else those of all SMs.\n";
  std::vector<WrittenPart> parts;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(root / "handouts", error), end;
       !error && entry != end; entry.increment(error)) {
    const auto page = base::read_file(entry->path() / "handout.md");
    if (page && page->find("<!-- latencies: ") != std::string::npos)
      parts.push_back({(entry->path() / "handout.md").lexically_relative(root).generic_string(),
                       "latencies", table, source});
  }
  return parts;
}

std::vector<WrittenPart> prediction_parts(const course::Lab& lab) {
  std::vector<WrittenPart> parts;
  for (const course::Stage& stage : lab.stages) {
    if (!stage.question) continue;
    const std::string number = std::to_string(stage.number);
    const std::string text = "**Predict, stage " + number + ":** " + stage.question->ask +
                             "\n`./membound predict " + lab.id.substr(0, lab.id.find('-')) + "/" +
                             number + " NUMBER`; then `check` puts the count beside it.\n";
    parts.push_back({lab.handout.generic_string(), "prediction " + number, text,
                     "labs/" + lab.id + "/lab.json"});
  }
  return parts;
}

std::vector<WrittenPart> bar_parts(const course::Lab& lab) {
  if (!lab.has_reference()) return {};
  std::string table =
      "| stage | passes at | full marks at | at most |\n| --- | ---: | ---: | --- |\n";
  for (const course::Stage& stage : lab.stages) {
    if (!stage.kind->has_reference) continue;
    table += "| " + std::to_string(stage.number) + " | " + shortest(stage.pass_ratio) + " | " +
             shortest(stage.full_ratio) + " | " + budget_of(stage) + " |\n";
  }
  const std::string folder = "labs/" + lab.id;
  return {{folder + "/README.md", "bars", table, folder + "/lab.json"}};
}

namespace {

constexpr const char* kFlags = "grader/harness/student/clang.flags";
constexpr const char* kProgramFlags = "grader/harness/student/clang-program.flags";
constexpr const char* kNeeds = "grader/launcher/needs.sh";
constexpr const char* kLicense =
    "# SPDX-FileCopyrightText: The Membound authors\n# SPDX-License-Identifier: Apache-2.0\n#\n";
constexpr const char* kWritten = "# Written by `membound dev check --fix` from ";

/// The course's own labs that have a stage with host code: "12-streams".
std::vector<std::string> labs_with_programs(const course::Course& course) {
  std::vector<std::string> ids;
  for (const course::Lab& lab : course.labs)
    if (lab.tree.empty() &&
        std::ranges::any_of(lab.stages, [](const auto& s) { return s.kind->has_host_code; }))
      ids.push_back(lab.id);
  return ids;
}

std::vector<std::string> all_flags(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string clangd_text(const std::string& flags, const std::string& program_flags,
                        const course::Course& course) {
  std::vector<std::string> all = reading_flags(flags);
  // clangd reads a kernel in its own folder.
  all.insert(all.end(), {"-I../../grader/harness/student/clang", "-I../../grader/harness/student"});
  std::string text =
      std::string(kLicense) +
      "# How clangd, which VS Code, Neovim, Emacs and others use, reads the labs' "
      "kernels: as our clang does, which\n# needs no CUDA toolkit.\n" +
      kWritten + kFlags +
      ".\nIf:\n  PathMatch: labs/.*/kernel\\.cuh?\nCompileFlags:\n"
      "  CompilationDatabase: None\n  Add: [" +
      base::joined(all) +
      "]\nDiagnostics:\n  ClangTidy: {Remove: '*'}  # what .clang-tidy asks of the grader\n";
  const std::vector<std::string> programs = labs_with_programs(course);
  if (!programs.empty())
    text += "---\n# Whole programs, which call the runtime.\nIf:\n  PathMatch: labs/(" +
            base::joined(programs, "|") +
            ")/kernel\\.cuh?\nCompileFlags:\n  Add: [-DMEMBOUND_EDITOR, -I../.., " +
            base::joined(all_flags(program_flags)) + "]\n";
  return text;
}

std::string dockerfile_text(const std::string& needs) {
  const std::vector<std::string> packages = listed_packages(needs);
  return std::string(kLicense) +
         "# A container with all that ./membound would ask for; .devcontainer/devcontainer.json "
         "names it.\n" +
         kWritten + kNeeds +
         ".\nFROM debian:bookworm\nRUN apt-get update \\\n  && apt-get install -y "
         "--no-install-recommends \\\n    " +
         base::joined(packages, " \\\n    ") + " \\\n  && rm -rf /var/lib/apt/lists/*\n";
}

}  // namespace

std::vector<std::string> reading_flags(std::string_view clang_flags) {
  std::vector<std::string> kept;
  std::istringstream words{std::string(clang_flags)};
  for (std::string word; words >> word;) {
    if (word == "-mllvm" || word == "-Xclang") {
      words >> word;  // its argument, which is about code that is made
    } else if (word != "-S" && !word.starts_with("-O") && !word.starts_with("-g")) {
      kept.push_back(word);
    }
  }
  return kept;
}

std::vector<std::string> listed_packages(std::string_view needs_sh) {
  std::vector<std::string> packages;
  std::istringstream lines{std::string(needs_sh)};
  bool in_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "LIST") break;
    std::istringstream words(line);
    std::string package, file, who;
    words >> package >> file >> who;
    const bool listed = in_list && who != "ci" && who != "ccache";
    if (listed && std::ranges::find(packages, package) == packages.end())
      packages.push_back(package);
    in_list = in_list || line.ends_with("<<'LIST'");
  }
  return packages;
}

base::Result<std::vector<WrittenFile>> editor_files(const std::filesystem::path& root,
                                                    const course::Course& course) {
  const auto flags = base::read_file(root / kFlags);
  if (!flags) return flags.error();
  const auto needs = base::read_file(root / kNeeds);
  if (!needs) return needs.error();
  const auto program_flags = base::read_file(root / kProgramFlags);
  if (!program_flags) return program_flags.error();
  return std::vector<WrittenFile>{{".clangd", clangd_text(*flags, *program_flags, course), kFlags},
                                  {".devcontainer/Dockerfile", dockerfile_text(*needs), kNeeds}};
}

namespace {

// Lab 13 is about finding mistakes, and needs only lab 01: who reads it then has its tools in all
// others.
constexpr std::string_view kReadEarly = "13", kReadAfter = "01";

std::string number_of(const course::Lab& lab) { return lab.id.substr(0, lab.id.find('-')); }

std::vector<const course::Lab*> in_reading_order(const course::Course& course) {
  std::vector<const course::Lab*> labs;
  const course::Lab* early = nullptr;
  for (const course::Lab& lab : course.labs) {
    if (!lab.tree.empty() || lab.draft) continue;  // of another folder, or not finished
    if (number_of(lab) == kReadEarly)
      early = &lab;
    else
      labs.push_back(&lab);
  }
  const auto after = std::ranges::find_if(
      labs, [](const course::Lab* lab) { return number_of(*lab) == kReadAfter; });
  if (early != nullptr) labs.insert(after == labs.end() ? after : std::next(after), early);
  return labs;
}

int minutes_of(const std::filesystem::path& root, const course::Lab& lab) {
  const auto notes = base::read_file(root / "solutions" / lab.id / "NOTES.md");
  return notes ? minutes_in(*notes) : 0;
}

/// "2", "2½": to the half hour above.
std::string hours_text(int minutes) {
  constexpr int kHalf = 30;
  const int halves = (minutes + kHalf - 1) / kHalf;
  const std::string whole = halves / 2 > 0 || halves % 2 == 0 ? std::to_string(halves / 2) : "";
  return whole + (halves % 2 == 0 ? "" : "½");
}

std::string lab_table(const std::filesystem::path& root, const course::Course& course) {
  std::string table = "| lab | stages | hours | what you do in it |\n| --- | ---: | ---: | --- |\n";
  std::size_t stages = 0;
  int minutes = 0;
  for (const course::Lab* lab : in_reading_order(course)) {
    const int each = minutes_of(root, *lab);
    stages += lab->stages.size();
    minutes += each;
    table += "| " + number_of(*lab) + " " + lab->title + " | " +
             std::to_string(lab->stages.size()) + " | " + (each > 0 ? hours_text(each) : "–") +
             " | " + lab->summary + " |\n";
  }
  return table + "| all | " + std::to_string(stages) + " | " + hours_text(minutes) + " | |\n";
}

std::string syllabus_table(const std::filesystem::path& root, const course::Course& course,
                           int weeks) {
  std::string table = "| week | labs | hours | marks |\n| ---: | --- | ---: | ---: |\n";
  const auto labs = in_reading_order(course);
  int number = 0;
  for (const SyllabusWeek& week : syllabus(weeks)) {
    std::string names;
    int minutes = 0;
    for (const std::string_view each : week.labs) {
      int weeks_of_it = 0;
      for (const SyllabusWeek& other : syllabus(weeks))
        weeks_of_it += static_cast<int>(std::ranges::count(other.labs, each));
      const auto lab = std::ranges::find_if(
          labs, [&](const course::Lab* one) { return number_of(*one) == each; });
      base::add_word(names, each);
      if (lab == labs.end()) continue;
      names += " " + (*lab)->title;
      minutes += minutes_of(root, **lab) / weeks_of_it;
    }
    table += "| " + std::to_string(++number) + " | " + names + " | " +
             (minutes > 0 ? hours_text(minutes) : "–") + " | " + std::to_string(week.marks) +
             " |\n";
  }
  return table;
}

}  // namespace

const std::vector<SyllabusWeek>& syllabus(int weeks) {
  static const std::vector<SyllabusWeek> kSix = {{{"00", "01"}, 15}, {{"13", "02"}, 20},
                                                 {{"03"}, 20},       {{"05", "09"}, 15},
                                                 {{"04"}, 15},       {{"06"}, 15}};
  static const std::vector<SyllabusWeek> kTwelve = {
      {{"00"}, 5},        {{"01", "13"}, 10}, {{"02"}, 8}, {{"03"}, 6},
      {{"03", "05"}, 11}, {{"08", "09"}, 10}, {{"04"}, 8}, {{"10"}, 8},
      {{"11"}, 10},       {{"06"}, 9},        {{"14"}, 9}, {{"07", "12"}, 6}};
  constexpr int kShort = 6;
  return weeks == kShort ? kSix : kTwelve;
}

int minutes_in(std::string_view notes) {
  static const std::regex kMinutes(R"((\d+)( each)? for)");
  const auto begin = notes.find("\n## Minutes");
  if (begin == std::string_view::npos) return 0;
  const std::string part(notes.substr(begin + 1, notes.find("\n## ", begin + 1) - begin - 1));
  int minutes = 0;
  for (std::sregex_iterator found(part.begin(), part.end(), kMinutes), end; found != end; ++found)
    minutes += std::stoi((*found)[1]) * ((*found)[2].matched ? 2 : 1);  // "each for 1 and 2"
  return minutes;
}

std::vector<WrittenPart> course_parts(const std::filesystem::path& root,
                                      const course::Course& course) {
  const std::string page = "docs/course_at_a_glance.md", source = "labs/*/lab.json and NOTES.md";
  constexpr int kShort = 6, kLong = 12;
  return {{page, "labs", lab_table(root, course), source},
          {page, "six weeks", syllabus_table(root, course, kShort), source},
          {page, "twelve weeks", syllabus_table(root, course, kLong), source}};
}

WrittenFile course_picture(const std::filesystem::path& root, const course::Course& course) {
  constexpr double kWidth = 720, kLeft = 300, kHour = 72, kRow = 24, kTop = 46, kSize = 13;
  report::Svg svg(kWidth, "The labs and their hours",
                  "A bar for each lab, in the order in which they are read, as long as it takes.");
  const auto labs = in_reading_order(course);
  const double bottom = kTop + kRow * static_cast<double>(labs.size());
  svg.box(0, 0, kWidth, bottom + kRow, "page");
  constexpr int kMostHours = 5;
  for (int hour = 0; hour <= kMostHours; ++hour) {
    const double x = kLeft + hour * kHour;
    svg.line(x, kTop - 8, x, bottom, "grid");
    svg.text(x, kTop - 14, report::kSmallText, "faint", "middle", std::to_string(hour) + " h");
  }
  double y = kTop;
  for (const course::Lab* lab : labs) {
    const int minutes = minutes_of(root, *lab);
    svg.text(kLeft - 12, y + 16, kSize, "ink", "end", number_of(*lab) + " " + lab->title);
    svg.box(kLeft, y + 4, minutes / 60.0 * kHour, kRow - 8, "mark", 3);
    svg.text(kLeft + minutes / 60.0 * kHour + 8, y + 16, report::kSmallText, "faint", "start",
             std::to_string(lab->stages.size()) + " stages");
    y += kRow;
  }
  return {"docs/site/course.svg", svg.finish(bottom + kRow, true),
          "labs/*/lab.json and solutions/*/NOTES.md"};
}

std::vector<Drift> check_written_file(const WrittenFile& file, const std::filesystem::path& root,
                                      bool fix) {
  const auto text = base::read_file(root / file.name);
  if (text && *text == file.text) return {};
  if (fix && base::write_file(root / file.name, file.text)) return {};
  return {{file.name, 0, text ? "it is not what is written from " + file.source : "is missing",
           "the file that is written from there", "membound dev check --fix"}};
}

}  // namespace membound::authoring
