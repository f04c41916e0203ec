// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/wrong_answer.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <system_error>

#include "grader/authoring/patch.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeadsForm = "a head, as in \"# 3-missing-barrier fails OneBlock\"";
constexpr const char* kAdvice = "docs/writing_a_lab.md says what stands in it";

/// A wrong answer as it stands in its file.
struct Piece {
  fs::path file;
  int line = 0;  ///< of the head's first line
  std::string name, fails;
  std::vector<std::string> fields;  ///< the head's other lines, without "//"
  int body_line = 0;                ///< the first line below the head
  std::string body;
};

base::Error problem(const fs::path& file, int line, std::string found, std::string expected) {
  return {base::ErrorKind::kInput, file.string() + ":" + std::to_string(line), std::move(found),
          std::move(expected), kAdvice};
}

std::string in_quotes(std::string_view line) { return "\"" + base::printable(line) + "\""; }

bool is_patch(const fs::path& file) { return file.extension() == ".patch"; }

/// "stage-3.patch" is 3; 0 if the file is none of patches.
int stage_of(const fs::path& file) {
  static const std::regex kPatches(R"(stage-(\d{1,3})\.patch)");
  std::smatch parts;
  const std::string name = file.filename().string();
  return std::regex_match(name, parts, kPatches) ? std::stoi(parts[1]) : 0;
}

/// Takes "3-missing-barrier fails OneBlock" apart.
bool read_title(const std::string& line, Piece& piece) {
  static const std::regex kTitle(R"((\d{1,3}-[a-z0-9-]+) fails (\w+))");
  std::smatch parts;
  const std::string words(base::trimmed(line));
  if (!std::regex_match(words, parts, kTitle)) return false;
  piece.name = parts[1];
  piece.fails = parts[2];
  return true;
}

/// The files' wrong answers one after the other, or what is wrong with one.
class PieceReader {
 public:
  explicit PieceReader(const fs::path& file) : file_(file) {}

  std::vector<base::Result<Piece>> read() {
    const auto text = base::read_file(file_);
    if (!text) return {text.error()};
    for (std::string_view rest = *text; !rest.empty();) {
      lines_.push_back(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(std::min(lines_.back().size() + 1, rest.size()));
    }
    return is_patch(file_) ? patches() : whole();
  }

 private:
  [[nodiscard]] bool is_head(std::size_t line) const { return lines_[line].starts_with("# "); }

  /// Every line of a hunk begins with another letter than a head's.
  std::vector<base::Result<Piece>> patches() {
    if (stage_of(file_) == 0)
      return {problem(file_, 1, "patches in " + in_quotes(file_.filename().string()),
                      "stage-3.patch, which holds all of stage 3")};
    std::vector<base::Result<Piece>> pieces;
    std::size_t at = 0;
    if (lines_.empty()) pieces.emplace_back(problem(file_, 1, "an empty file", kHeadsForm));
    if (!lines_.empty() && !is_head(0))
      pieces.emplace_back(problem(file_, 1, in_quotes(lines_[0]), kHeadsForm));
    while (at < lines_.size() && !is_head(at)) ++at;
    while (at < lines_.size()) {
      std::size_t end = at + 1;
      while (end < lines_.size() && !is_head(end)) ++end;
      pieces.push_back(patch(at, end));
      at = end;
    }
    return pieces;
  }

  [[nodiscard]] base::Result<Piece> patch(std::size_t begin, std::size_t end) const {
    const int line = static_cast<int>(begin) + 1;
    Piece piece{file_, line};
    if (!read_title(std::string(lines_[begin].substr(1)), piece))
      return problem(file_, line, in_quotes(lines_[begin]), kHeadsForm);
    std::size_t at = begin + 1;
    for (; at < end && !lines_[at].starts_with("@@"); ++at) piece.fields.emplace_back(lines_[at]);
    piece.body_line = static_cast<int>(at) + 1;
    for (; at < end; ++at) piece.body += std::string(lines_[at]) + "\n";
    return piece;
  }

  /// The comment that opens the file is its head.
  [[nodiscard]] std::vector<base::Result<Piece>> whole() const {
    Piece piece{file_, 1};
    std::size_t at = 0;
    for (; at < lines_.size() && lines_[at].starts_with("//"); ++at) {
      const std::string line(lines_[at].substr(2));
      if (line.starts_with(" SPDX-")) continue;
      if (!piece.name.empty()) {
        piece.fields.push_back(line);
      } else if (read_title(line, piece)) {
        piece.line = static_cast<int>(at) + 1;
      } else {
        return {problem(file_, static_cast<int>(at) + 1, in_quotes(lines_[at]), kHeadsForm)};
      }
    }
    if (piece.name.empty())
      return {problem(file_, static_cast<int>(at) + 1, "code without a head", kHeadsForm)};
    if (piece.name != file_.stem())
      return {problem(file_, piece.line, "the head of " + in_quotes(piece.name),
                      "the file's name, " + in_quotes(file_.stem().string()))};
    piece.body_line = static_cast<int>(at) + 1;
    for (; at < lines_.size(); ++at) piece.body += std::string(lines_[at]) + "\n";
    return {std::move(piece)};
  }

  fs::path file_;
  std::vector<std::string_view> lines_;
};

/// Reads the fields: "Key: text", which goes on in lines that are indented deeper than a key.
base::Status read_fields(const Piece& piece, WrongAnswerHead& head) {
  const std::map<std::string, std::string*> kFields = {
      {"On a GPU", &head.fails_on_gpu}, {"Finds", &head.finds}, {"Why", &head.why}};
  std::string* field = nullptr;
  for (std::size_t i = 0; i < piece.fields.size(); ++i) {
    const std::string& line = piece.fields[i];
    std::string_view words = base::trimmed(line);
    if (words.empty()) continue;
    if (!line.starts_with("    ")) {
      const auto colon = std::min(words.find(':'), words.size());
      const auto known = kFields.find(std::string(words.substr(0, colon)));
      if (known == kFields.end() || colon == words.size())
        return problem(piece.file, piece.line + 1 + static_cast<int>(i), in_quotes(line),
                       "one of \"On a GPU:\", \"Finds:\" and \"Why:\"");
      field = known->second;
      words = base::trimmed(words.substr(colon + 1));
    } else if (field == nullptr) {
      return problem(piece.file, piece.line + 1 + static_cast<int>(i), in_quotes(line),
                     "\"On a GPU:\", \"Finds:\" or \"Why:\" before it");
    }
    base::add_word(*field, words, " ");
  }
  return base::Done{};
}

/// All pieces, by stage and name.
std::vector<base::Result<Piece>> pieces_of(const fs::path& solution) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(solution / "wrong", error), end; !error && entry != end;
       entry.increment(error))
    if (is_patch(entry->path()) || entry->path().extension() == ".cu")
      files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  std::vector<base::Result<Piece>> pieces;
  std::map<std::string, std::string> places;  // by name
  for (const fs::path& file : files)
    for (base::Result<Piece>& piece : PieceReader(file).read()) {
      if (piece) {
        const std::string at = file.string() + ":" + std::to_string(piece->line);
        const auto [place, is_first] = places.try_emplace(piece->name, at);
        const int stage = stage_of(file);
        if (!is_first)
          piece = problem(file, piece->line, "a second " + in_quotes(piece->name),
                          "another name than that of " + place->second);
        else if (is_patch(file) && std::stoi(piece->name) != stage)
          piece = problem(file, piece->line,
                          in_quotes(piece->name) + " among those of stage " + std::to_string(stage),
                          "a name that begins with \"" + std::to_string(stage) + "-\"");
      }
      pieces.push_back(std::move(piece));
    }
  const auto key = [](const base::Result<Piece>& piece) {
    return piece ? std::pair(std::stoi(piece->name), piece->name) : std::pair(0, std::string());
  };
  std::stable_sort(pieces.begin(), pieces.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return pieces;
}

base::Result<WrongAnswer> read_piece(const Piece& piece, const fs::path& solution) {
  WrongAnswer answer{piece.name, piece.file, piece.line, {}, "", "", 0};
  answer.head.stage = std::stoi(piece.name);
  answer.head.fails = piece.fails;
  if (const auto read = read_fields(piece, answer.head); !read) return read.error();
  if (!is_patch(piece.file)) {
    auto text = base::read_file(piece.file);
    if (!text) return text.error();
    answer.text = *std::move(text);
    answer.changed_lines = static_cast<int>(std::count(piece.body.begin(), piece.body.end(), '\n'));
    return answer;
  }
  const auto reference = reference_text(solution);
  if (!reference) return reference.error();
  auto patched = apply_diff(*reference, piece.body, piece.file.string(), piece.body_line);
  if (!patched) return patched.error();
  answer.text = std::move(patched->text);
  answer.diff = piece.body;
  answer.changed_lines = patched->changed_lines;
  return answer;
}

}  // namespace

base::Result<std::string> reference_text(const fs::path& solution) {
  const auto kernel = base::read_file(solution / course::kKernelFile);
  if (!kernel) return kernel.error();
  std::map<std::string, std::string> beside;
  const std::string answers(course::kAnswersFile);
  if (auto text = base::read_file(solution / answers)) beside[answers] = *std::move(text);
  return course::joined_submission(*kernel, beside);
}

std::vector<base::Result<WrongAnswer>> each_wrong_answer(const fs::path& solution) {
  std::vector<base::Result<WrongAnswer>> answers;
  for (const auto& piece : pieces_of(solution))
    answers.push_back(piece ? read_piece(*piece, solution) : piece.error());
  return answers;
}

base::Result<std::vector<WrongAnswer>> read_wrong_answers(const fs::path& solution) {
  std::vector<WrongAnswer> answers;
  for (auto& answer : each_wrong_answer(solution)) {
    if (!answer) return answer.error();
    answers.push_back(*std::move(answer));
  }
  return answers;
}

base::Result<WrongAnswer> find_wrong_answer(const fs::path& solution, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& piece : pieces_of(solution)) {
    if (!piece) continue;
    if (piece->name == name) return read_piece(*piece, solution);
    names.push_back(piece->name);
  }
  const std::string lab = solution.filename().string();
  const auto alike = base::nearest(name, names);
  return base::Error{
      base::ErrorKind::kUsage, "", lab + " has no wrong answer \"" + name + "\"",
      std::to_string(names.size()) + " names, as \"membound dev wrong " + lab + "\" lists them",
      alike ? "did you mean \"" + *alike + "\"?" : "membound dev wrong " + lab};
}

std::set<std::string> tests_by_some_blocks(const fs::path& test_source) {
  static const std::regex kTest(
      R"(LAB_TEST_AFTER_TIMING\(\s*\w+\s*,\s*(\w+)(?:(?!LAB_TEST)[^]){0,999}?far_blocks\()");
  std::set<std::string> names;
  const auto text = base::read_file(test_source);
  if (!text) return names;
  for (std::sregex_iterator it(text->begin(), text->end(), kTest), end; it != end; ++it)
    names.insert((*it)[1].str());
  return names;
}

base::Result<fs::path> write_kernel(const WrongAnswer& answer, const fs::path& folder) {
  const fs::path file = folder / (answer.name + ".cu");
  if (const auto written = base::write_file(file, answer.text); !written) return written.error();
  return file;
}

namespace {

constexpr int kLeastPerStage = 3;

// What is wrong with one; returns the stage it answers, 0 if that is none of the lab's.
int check_one(const course::Lab& lab, const WrongAnswer& answer, const std::string& file,
              const std::set<std::string>& tests, const std::set<std::string>& by_some_blocks,
              std::vector<Drift>& drifts) {
  const int line = answer.line;
  const int stage = answer.head.stage;
  if (lab.stage(stage) == nullptr) {
    drifts.push_back({file, line, answer.name + " is named after no stage of the lab",
                      "a name that begins with a stage's number", "rename it"});
  }
  if (!tests.contains(answer.head.fails)) {
    drifts.push_back({file, line, "no test is called \"" + answer.head.fails + "\"",
                      "after \"fails\" a test of test.cpp or of the harness",
                      "name the one test that must fail"});
  }
  const std::string& on_gpu = answer.head.fails_on_gpu;
  static const std::set<std::string> kEnds = {"", "passes", "fails", "chance"};
  const bool is_not_run_there = on_gpu.empty() && by_some_blocks.contains(answer.head.fails);
  if (is_not_run_there || (!kEnds.contains(on_gpu) && !tests.contains(on_gpu))) {
    drifts.push_back({file, line,
                      is_not_run_there ? "a GPU does not run the test " + answer.head.fails
                                       : "on a GPU it cannot end as \"" + on_gpu + "\"",
                      "passes, fails, chance, or a test of test.cpp",
                      "say what membound dev check --run --device gpu shows"});
  }
  if (answer.head.why.empty()) {
    drifts.push_back({file, line, answer.name + " does not say why it is wrong",
                      "\"Why: …\" in its head", "say in a sentence what the student believed"});
  }
  if (answer.changed_lines > kMostLines) {
    drifts.push_back({file, line,
                      "the mistake of " + answer.name + " takes " +
                          std::to_string(answer.changed_lines) + " lines",
                      "at most " + std::to_string(kMostLines) + ", so that one can read it",
                      "a patch of the reference answer with nothing but the mistake"});
  }
  return lab.stage(stage) == nullptr ? 0 : stage;
}

}  // namespace

void check_wrong_answers(const course::Lab& lab, const LabFolders& folders,
                         const std::set<std::string>& tests, std::vector<Drift>& drifts) {
  const std::set<std::string> by_some_blocks = tests_by_some_blocks(folders.lab / "test.cpp");
  const fs::path folder = folders.solution / "wrong";
  std::map<int, int> answers_of_stage;
  for (const auto& answer : each_wrong_answer(folders.solution)) {
    if (answer) {
      ++answers_of_stage[check_one(lab, *answer, folders.shown(answer->file), tests, by_some_blocks,
                                   drifts)];
    } else {
      const base::Error& error = answer.error();
      drifts.push_back({folders.shown(error.where), 0, error.found, error.expected, error.advice});
    }
  }
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing)) {
    const std::string kind = entry.path().extension();
    if (kind == ".patch" || kind == ".cu") continue;
    drifts.push_back({folders.shown(entry.path()), 0, "no wrong answer is such a file",
                      "stage-3.patch, and whole .cu files", "remove or move it"});
  }
  for (const course::Stage& stage : lab.stages) {
    const int count = answers_of_stage[stage.number];
    if (count >= kLeastPerStage) continue;
    drifts.push_back({folders.shown(folder), 0,
                      "stage " + std::to_string(stage.number) + " has " + std::to_string(count) +
                          " wrong answers",
                      "at least " + std::to_string(kLeastPerStage),
                      "add mistakes you have seen students make", true});
  }
}

namespace {

bool is_of_a_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

}  // namespace

std::string with_names_turned(std::string_view kernel, const std::vector<std::string>& names,
                              std::size_t by) {
  std::string text;
  for (auto at = kernel.begin(); at != kernel.end();) {
    const auto end = std::find_if_not(at, kernel.end(), is_of_a_word);
    const std::string_view word(at, end);
    const auto name = std::find(names.begin(), names.end(), word);
    if (name == names.end()) {
      text += word;
    } else {
      const auto place = static_cast<std::size_t>(name - names.begin());
      text += names[(place + by) % names.size()];
    }
    at = end;
    if (at != kernel.end()) text += *at++;
  }
  return text;
}

}  // namespace membound::authoring
