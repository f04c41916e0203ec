// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/lab_check.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "grader/authoring/handout_check.hpp"
#include "grader/authoring/predicted_figures.hpp"
#include "grader/authoring/wrong_answer.hpp"
#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/contract.hpp"
#include "grader/course/experiment.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/student_progress.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/vgpu/counters/counters.hpp"

namespace membound::authoring {

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string_view comment_of(std::string_view line) {
  line = base::trimmed(line);
  if (!line.starts_with("//") || line.starts_with("///")) return {};
  return base::trimmed(line.substr(2));
}

std::string to_string(const Drift& drift) {
  base::Error error{.kind = base::ErrorKind::kInput};
  error.where = drift.line > 0 ? drift.file + ":" + std::to_string(drift.line) : drift.file;
  error.found = drift.found;
  error.expected = drift.expected;
  error.advice = drift.advice;
  return base::to_string(error);
}

LabFolders::LabFolders(const course::Lab& lab_, const std::filesystem::path& root_)
    : root(root_),
      lab(root_ / "labs" / lab_.id),
      solution(root_ / "solutions" / lab_.id),
      handout(root_ / "handouts" / lab_.id) {}

std::string LabFolders::shown(const std::filesystem::path& file) const {
  return file.lexically_relative(root).generic_string();
}

namespace {

// The single checks that check_lab() is made of. Each adds what it finds; none stops at the first
// drift.

namespace fs = std::filesystem;

/// What a draft may still lack.
const std::set<std::string> kLater = {"README.md", "NOTES.md", "wrong", "figures"};

/// `allowed` matches the names of files that may be there, too.
void check_folder(const LabFolders& folders, const fs::path& folder,
                  const std::set<std::string>& wanted, Drifts& drifts,
                  const std::regex& allowed = {}) {
  for (const std::string& name : wanted) {
    if (fs::exists(folder / name)) continue;
    drifts.push_back({folders.shown(folder / name), 0, "the file is missing",
                      "every lab has the same files", "docs/writing_a_lab.md says what it holds",
                      kLater.contains(name)});
  }
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (wanted.contains(name) || std::regex_match(name, allowed)) continue;
    drifts.push_back({folders.shown(entry.path()), 0, "no lab has such a file",
                      "only the files docs/writing_a_lab.md names", "remove or move it"});
  }
}

/// Every lab has the same files; what two test programs share stands in reference.hpp.
void check_files(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  std::set<std::string> wanted = {"README.md", "lab.json", "kernel.cuh"};
  wanted.insert(lab.files.begin(), lab.files.end());
  if (lab.has_oracle()) {
    wanted.emplace(course::kOracleSource);
  } else {
    for (const course::StageKind* kind : lab.kinds()) wanted.emplace(kind->test_source);
  }
  check_folder(folders, folders.lab, wanted, drifts, std::regex("reference.hpp"));
  std::set<std::string> answers(lab.files.begin(), lab.files.end());
  answers.insert({"NOTES.md", "wrong"});
  answers.erase(std::string(course::kWriteUpFile));  // a person knows a good one
  check_folder(folders, folders.solution, answers, drifts);
  std::set<std::string> handout = {"handout.md", "figures"};
  std::vector<course::Experiment> experiments;
  // What cannot be read, check_experiments() says.
  if (!course::read_experiments_of(folders.handout, experiments)) experiments.clear();
  for (const course::Experiment& each : experiments) handout.insert(each.file.filename().string());
  check_folder(folders, folders.handout, handout, drifts,
               std::regex(R"(experiment(_\w+)?\.cu|experiments\.json)"));
}

/// Every stage's kernel, or the plan of that name, is in the skeleton and in the answer.
void check_kernels(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::vector<std::string> description = read_lines(folders.lab / "lab.json");
  for (const fs::path& file : {folders.lab / "kernel.cu", folders.solution / "kernel.cu"}) {
    const auto text = base::read_file(file);
    if (!text) continue;  // check_files() says so
    for (const course::Stage& stage : lab.stages) {
      const std::regex named("\\b" + stage.kernel + "\\s*\\(|LAUNCH_PLAN\\(\\s*" + stage.kernel +
                             "\\b");
      if (std::regex_search(*text, named)) continue;
      const auto line = std::find_if(description.begin(), description.end(), [&](const auto& one) {
        return one.find("\"" + stage.kernel + "\"") != std::string::npos;
      });
      const auto number = line == description.end() ? 0 : line - description.begin() + 1;
      drifts.push_back({folders.shown(folders.lab / "lab.json"), static_cast<int>(number),
                        "there is no kernel " + stage.kernel + " in " + folders.shown(file),
                        "the kernel of stage " + std::to_string(stage.number),
                        "correct one of the two names"});
    }
  }
}

bool opens_todo(const std::string& line) { return comment_of(line).starts_with("TODO"); }

// A TODO is its opening line and the comment lines that follow it: a student may replace them all.
std::vector<bool> mark_todos(const std::vector<std::string>& lines) {
  std::vector<bool> is_todo(lines.size(), false);
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    inside = opens_todo(lines[i]) || (inside && !comment_of(lines[i]).empty());
    is_todo[i] = inside;
  }
  return is_todo;
}

void check_todos(const course::Lab& lab, const std::string& file,
                 const std::vector<std::string>& lines, Drifts& drifts) {
  static const std::regex kForm(R"(TODO \d+ \((about )?\d+([-–]\d+)? lines?\): .+)");
  std::map<int, int> todos_of_stage;
  int stage = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const int head = course::stage_of_head(lines[i]); head != 0) stage = head;
    if (!opens_todo(lines[i])) continue;
    ++todos_of_stage[stage];
    if (!std::regex_match(std::string(comment_of(lines[i])), kForm)) {
      drifts.push_back({file, static_cast<int>(i) + 1, "this TODO does not say how long it is",
                        "\"TODO 2 (about 3 lines): a question or a nudge\"",
                        "count the lines of the reference answer"});
    }
  }
  for (const course::Stage& each : lab.stages) {
    if (todos_of_stage[each.number] > 0) continue;
    drifts.push_back({file, 0, "stage " + std::to_string(each.number) + " has no TODO",
                      "a head \"// Stage " + std::to_string(each.number) +
                          ": …\" and below it at least one TODO",
                      "leave something for the student to do"});
  }
}

/// The skeleton has TODOs, each with the number of lines it takes, for every stage; solving it only
/// adds lines: all its other lines stand in the solution in the same order. The solution has none:
/// whoever reads it reads an answer, and every page and command that shows one quotes this file.
void check_skeleton(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::vector<std::string> skeleton = read_lines(folders.lab / "kernel.cu");
  const std::vector<std::string> solution = read_lines(folders.solution / "kernel.cu");
  const std::string file = folders.shown(folders.lab / "kernel.cu");
  check_todos(lab, file, skeleton, drifts);
  for (std::size_t i = 0; i < solution.size(); ++i) {
    if (!opens_todo(solution[i])) continue;
    drifts.push_back({folders.shown(folders.solution / "kernel.cu"), static_cast<int>(i) + 1,
                      "this TODO is done", "an answer without TODOs",
                      "take away the comment, or say in it why the answer does so"});
  }

  const std::vector<bool> is_todo = mark_todos(skeleton);
  std::size_t next = 0;
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const std::string_view wanted = base::trimmed(skeleton[i]);
    if (wanted.empty() || is_todo[i]) continue;
    std::size_t at = next;
    while (at < solution.size() && base::trimmed(solution[at]) != wanted) ++at;
    if (at < solution.size()) {
      next = at + 1;
      continue;
    }
    drifts.push_back({file, static_cast<int>(i) + 1,
                      "the solution lacks this line: " + std::string(wanted),
                      "solving a lab only adds lines, so each line of the skeleton stands in " +
                          folders.shown(folders.solution / "kernel.cu") + ", in the same order",
                      "make the two lines equal, or turn the skeleton's into a TODO"});
  }
}

/// A test of one of the lab's test sources and the tag of its hint, which may be empty.
struct OwnTest {
  std::string file, name, tag;
};

std::vector<OwnTest> own_tests(const course::Lab& lab, const LabFolders& folders) {
  // LAB_TEST(Suite, Name), LAB_TEST_WITH_HINT(Suite, Name, "tag") and LAB_TEST_AFTER_TIMING
  static const std::regex kMacro(
      R"lit(LAB_TEST(?:_WITH_HINT|_AFTER_TIMING)?\(\s*\w+\s*,\s*(\w+)(?:\s*,\s*"([^"]+)")?)lit");
  // {"Name", "tag", a function}
  static const std::regex kRow(R"lit(\{\s*"(\w+)"\s*,\s*"([^"]*)"\s*,)lit");
  std::vector<OwnTest> tests;
  const auto add = [&](const std::string& file, const std::string& source, const std::regex& form) {
    for (std::sregex_iterator it(source.begin(), source.end(), form), end; it != end; ++it)
      tests.push_back({file, (*it)[1].str(), (*it)[2].str()});
  };
  for (const course::StageKind* kind : lab.kinds()) {
    const std::string file(kind->test_source);
    const base::Result<std::string> text = base::read_file(folders.lab / file);
    if (!text) continue;
    add(file, *text, kMacro);
    add(file, text->substr(std::min(text->find("kTests"), text->size())), kRow);
  }
  return tests;
}

/// A name that a bar or a question uses: a counter that no model had a hand in.
void check_counter(const std::string& name, const std::string& lab_json, Drifts& drifts) {
  if (name == judge::kSharedBytesOfABlock) return;
  const auto* const row = vgpu::counters::find_counter(name);
  if (row != nullptr && row->certainty != "modelled") return;
  drifts.push_back({lab_json, 0,
                    row == nullptr ? "nothing that is counted is called \"" + name + "\""
                                   : "the counter \"" + name + "\" is modelled",
                    "a counter that is exact, or counted from the PTX",
                    "docs/counters.md lists them"});
}

/// A hint belongs to a test, and most tests are every stage's.
void check_every_stage_is_told(const course::Lab& lab, const std::string& tag,
                               const std::string& tier, const std::string& lab_json,
                               Drifts& drifts) {
  for (const course::Stage& stage : lab.stages) {
    const bool told = !judge::hint_for_stage(tier, stage.number).empty();
    if (told || stage.kind->has_reference != lab.has_reference()) continue;
    drifts.push_back({lab_json, 0,
                      "the hint \"" + tag + "\" says nothing to stage " +
                          std::to_string(stage.number) + ": " + tier,
                      "words before the first \"Stage 1: \", or some for each stage",
                      "write them"});
  }
}

/// The names of a lab's tests: its own (LAB_TEST in test.cpp, or the rows of a host-code lab's
/// kTests) and the harness's, or those that a host-code lab's demands become.
std::set<std::string> test_names(const course::Lab& lab, const LabFolders& folders) {
  std::set<std::string> names;
  for (const course::BuiltInTestRow& row : course::built_in_tests())
    if (!row.name.empty() && !(row.kernels_only && !lab.has_reference())) names.emplace(row.name);
  for (const course::Stage& stage : lab.stages)
    for (const course::CallDemand& demand : stage.calls)
      names.insert(std::string(demand.rule->test));
  for (const OwnTest& test : own_tests(lab, folders)) names.insert(test.name);
  if (lab.has_oracle())
    for (const course::OracleTestRow& row : course::kOracleTests) names.emplace(row.name);
  return names;
}

/// Bars on counters name counters that no model had a hand in, and hints that are there.
void check_counter_bars(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::string lab_json = folders.shown(folders.lab / "lab.json");
  for (const course::Stage& stage : lab.stages) {
    if (stage.question && stage.kind->has_reference) {
      check_counter(stage.question->counter, lab_json, drifts);
      if (!stage.question->per.empty() && stage.question->per != course::kMultiprocessors)
        check_counter(stage.question->per, lab_json, drifts);
    }
    for (const course::CounterBar& bar : stage.counters) {
      check_counter(bar.counter, lab_json, drifts);
      if (!bar.per.empty() && bar.per != course::kMultiprocessors)
        check_counter(bar.per, lab_json, drifts);
      if (lab.hints.contains(bar.hint_tag)) continue;
      drifts.push_back({lab_json, 0, "there is no hint \"" + bar.hint_tag + "\"",
                        "three tiers under \"hints\"", "write them, or correct the tag"});
    }
  }
}

/// Every hint tag in test.cpp has three tiers in lab.json, and every tag of lab.json is used by a
/// test or belongs to the harness's own.
void check_hints(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::string lab_json = folders.shown(folders.lab / "lab.json");
  for (const OwnTest& test : own_tests(lab, folders)) {
    if (test.tag.empty() || lab.hints.contains(test.tag)) continue;
    drifts.push_back({folders.shown(folders.lab / test.file), 0,
                      "the hint \"" + test.tag + "\" is not in lab.json",
                      "three tiers under \"hints\"", "write them, or correct the tag"});
  }
  for (const auto& [tag, tiers] : lab.hints) {
    for (const std::string& tier : tiers)
      check_every_stage_is_told(lab, tag, tier, lab_json, drifts);
    if (tiers.size() == 3) continue;
    drifts.push_back({lab_json, 0,
                      "the hint \"" + tag + "\" has " + std::to_string(tiers.size()) + " tiers",
                      "three: a nudge, where to look, nearly the line", "write the missing ones"});
  }
}

/// The names of the constants that `line` defines.
std::set<std::string> constants_of(const std::string& line) {
  static const std::regex kNamed(R"(\b(k[A-Z]\w*)\s*=[^=])");
  const std::string code = line.substr(0, line.find("//"));
  std::set<std::string> names;
  if (code.find("constexpr ") != std::string::npos)
    for (std::sregex_iterator it(code.begin(), code.end(), kNamed), end; it != end; ++it)
      names.insert((*it)[1]);
  return names;
}

/// A constant of kernel.cuh stands once: the build makes a header of them for the tests.
void check_constants(const LabFolders& folders, Drifts& drifts) {
  std::set<std::string> contract;
  for (const std::string& line : read_lines(folders.lab / "kernel.cuh"))
    contract.merge(constants_of(line));
  for (const char* name : {"test.cpp", "program_test.cpp", "reference.hpp", "oracle.cpp"}) {
    const std::vector<std::string> lines = read_lines(folders.lab / name);
    for (std::size_t i = 0; i < lines.size(); ++i)
      for (const std::string& constant : constants_of(lines[i]))
        if (contract.contains(constant))
          drifts.push_back({folders.shown(folders.lab / name), static_cast<int>(i) + 1,
                            constant + " stands here and in kernel.cuh", "it stands once",
                            "include \"labs/" + folders.lab.filename().string() +
                                "/kernel_constants.hpp\", or give it another name"});
  }
}

/// The write-up that is handed out has a heading for each thing that it is marked for.
void check_write_up(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const fs::path file = folders.lab / course::kWriteUpFile;
  const std::vector<std::string> lines = read_lines(file);
  for (const course::RubricItem& item : lab.rubric)
    if (std::find(lines.begin(), lines.end(), "## " + item.item) == lines.end())
      drifts.push_back({folders.shown(file), 0, "the heading \"## " + item.item + "\" is missing",
                        "one for each item of the rubric in lab.json", "write it"});
}

/// The first thing in backquotes of line `line` of `text`, counted from 1; may be empty.
std::string quoted_in_line(const std::string& text, int line) {
  const auto lines = base::lines_of(text);
  if (line < 1 || line > static_cast<int>(lines.size())) return "";
  const std::string_view whole = lines[static_cast<std::size_t>(line - 1)];
  const auto start = whole.find('`'), end = whole.rfind('`');
  return end > start ? std::string(whole.substr(start + 1, end - start - 1)) : "";
}

/// The reference answers.md has every answer; one that names a line quotes it, so that a skeleton
/// that has moved is seen. Returns for each stage the digests that lab.json should have.
std::map<int, std::vector<course::WantedAnswer>> check_answers(const course::Lab& lab,
                                                               const LabFolders& folders,
                                                               Drifts& drifts) {
  std::map<int, std::vector<course::WantedAnswer>> digests;
  const fs::path file = folders.solution / course::kAnswersFile;
  const auto read = base::read_file(file);
  const std::string text = read ? *read : "";  // check_files() says so
  const std::vector<std::string> kernel = read_lines(folders.lab / course::kKernelFile);
  course::ReadAnswers answers = course::read_answers(text);
  for (const course::Stage& stage : lab.stages)
    for (const course::WantedAnswer& wanted : stage.answers) {
      digests[stage.number].push_back({wanted.field, {}});
      const course::GivenAnswer given = answers.stages[stage.number].fields[wanted.field];
      const auto blame = [&](const std::string& found, const std::string& advice) {
        drifts.push_back(
            {folders.shown(file), given.line,
             "stage " + std::to_string(stage.number) + ", " + wanted.field + ": " + found,
             "the right answer, as lab.json allows it", advice});
      };
      const auto own = course::answer_digests(lab, stage.number, wanted.field, given.value);
      if (given.value.empty() || !own) {
        blame(given.value.empty() ? "there is none" : own.error().found, "write it there");
        continue;
      }
      if (!wanted.digests.empty()) digests[stage.number].back().digests = *own;
      const auto& lines = lab.answers.lines;
      if (std::find(lines.begin(), lines.end(), wanted.field) == lines.end()) continue;
      const auto line = static_cast<std::size_t>(std::atoi(given.value.c_str()));
      const std::string quoted = quoted_in_line(text, given.line);
      if (quoted.empty() || line > kernel.size() ||
          kernel[line - 1].find(quoted) == std::string::npos)
        blame("that line of the skeleton does not have `" + quoted + "`",
              "name the line where it stands now, and quote a part of it in backquotes");
    }
  return digests;
}

/// "{\"sha256\": …}" and the stages' "{\"kind\": […]}" as lab.json should have them.
std::string with_digests(const std::string& lab_json, const std::string& mended,
                         const std::map<int, std::vector<course::WantedAnswer>>& digests) {
  static const std::regex kMended(R"lit("mended":\s*\{[^{}]*\})lit");
  static const std::regex kAnswers(R"lit("answers":\s*\{[^{}]*\})lit");
  std::string text = std::regex_replace(lab_json, kMended, "\"mended\": " + mended), out;
  auto stage = digests.begin();
  std::sregex_iterator match(text.begin(), text.end(), kAnswers), end;
  std::size_t at = 0;
  for (; match != end && stage != digests.end(); ++match, ++stage) {
    std::string shown;
    for (const course::WantedAnswer& wanted : stage->second) {
      std::string list;
      for (const std::string& digest : wanted.digests)
        list += (list.empty() ? "\"" : ", \"") + digest + "\"";
      shown += (shown.empty() ? "\"" : ", \"") + wanted.field + "\": [" + list + "]";
    }
    out += text.substr(at, static_cast<std::size_t>(match->position()) - at);
    out += "\"answers\": {" + shown + "}";
    at = static_cast<std::size_t>(match->position() + match->length());
  }
  return out + text.substr(at);
}

}  // namespace

std::vector<Drift> check_mended(const course::Lab& lab, const std::filesystem::path& root,
                                bool fix) {
  std::vector<Drift> drifts;
  if (!lab.mended) return drifts;
  const LabFolders folders(lab, root);
  const auto digests = check_answers(lab, folders, drifts);
  const auto skeleton = course::read_submission(folders.lab / course::kKernelFile, lab);
  const auto lab_json = base::read_file(folders.lab / "lab.json");
  if (!skeleton || !lab_json) return drifts;  // check_files() says so
  const auto lines = base::lines_of(course::split_submission(*skeleton).kernel).size();
  const std::string mended =
      "{\"sha256\": \"" + base::sha256(*skeleton) + "\", \"lines\": " + std::to_string(lines) + "}";
  const std::string wanted = with_digests(*lab_json, mended, digests);
  if (wanted == *lab_json) return drifts;
  if (fix && drifts.empty() && base::write_file(folders.lab / "lab.json", wanted)) return drifts;
  drifts.push_back(
      {folders.shown(folders.lab / "lab.json"), 0,
       "\"mended\" or a digest in \"answers\" is not that of the lab's files",
       "those of its skeleton and of " + folders.shown(folders.solution / course::kAnswersFile),
       "membound dev check " + lab.id + " --fix, if nobody works on the skeleton"});
  return drifts;
}

std::vector<Drift> check_lab(const course::Lab& lab, const std::filesystem::path& root) {
  const LabFolders folders(lab, root);
  std::vector<Drift> drifts;
  check_files(lab, folders, drifts);
  check_write_up(lab, folders, drifts);
  check_kernels(lab, folders, drifts);
  if (!lab.mended) check_skeleton(lab, folders, drifts);
  check_hints(lab, folders, drifts);
  check_counter_bars(lab, folders, drifts);
  check_constants(folders, drifts);
  check_wrong_answers(lab, folders, test_names(lab, folders), drifts);
  check_experiments(folders, drifts);
  check_handout(folders, drifts);
  check_notebook(lab, folders, drifts);
  for (Drift& drift : check_predicted_texts(lab.id, root)) drifts.push_back(std::move(drift));
  return drifts;
}

}  // namespace membound::authoring
