// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::course {
namespace {

constexpr std::string_view kHeadOfFile = "// Handed in beside it: ";
constexpr std::string_view kLineOfFile = "//|";

bool is_of_a_file(std::string_view line) {
  return line.starts_with(kLineOfFile) || line.starts_with(kHeadOfFile);
}

}  // namespace

std::string joined_submission(std::string_view kernel,
                              const std::map<std::string, std::string>& beside) {
  std::string text(kernel);
  if (beside.empty()) return text;
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const auto& [name, content] : beside) {
    text += std::string(kHeadOfFile) + name + "\n";
    // A compiler reads it, too: as a comment, and without bytes that no text has.
    const std::string shown = base::printable(content);
    for (const std::string_view line : base::lines_of(shown)) {
      text += kLineOfFile;
      if (!line.empty()) text += ' ';
      text.append(line).append("\n");
    }
  }
  return text;
}

SplitSubmission split_submission(std::string_view text) {
  const std::vector<std::string_view> lines = base::lines_of(text);
  auto first = lines.end();
  while (first != lines.begin() && is_of_a_file(*(first - 1))) --first;
  while (first != lines.end() && !first->starts_with(kHeadOfFile)) ++first;
  SplitSubmission split;
  if (first == lines.end()) {
    split.kernel = text;
    return split;
  }
  split.kernel = text.substr(0, static_cast<std::size_t>(first->data() - text.data()));
  std::string* file = nullptr;
  for (auto line = first; line != lines.end(); ++line) {
    if (line->starts_with(kHeadOfFile)) {
      file = &split.beside[std::string(line->substr(kHeadOfFile.size()))];
      file->clear();
      continue;
    }
    std::string_view rest = line->substr(kLineOfFile.size());
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    file->append(rest).append("\n");
  }
  return split;
}

base::Result<std::string> read_submission(const std::filesystem::path& kernel, const Lab& lab) {
  auto text = base::read_file(kernel);
  if (!text || lab.files_beside().empty() || !split_submission(*text).beside.empty()) return text;
  std::map<std::string, std::string> beside;
  for (const std::string& name : lab.files_beside())
    if (auto content = base::read_file(kernel.parent_path() / name))
      beside[name] = content->substr(0, kMostBytesBeside);
  return joined_submission(*text, beside);
}

// What answers.md says.

namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Small letters and digits, with one blank between words: "Out-of-bounds read" is "out of bounds
/// read", and "global_load_requests" is "global load requests".
std::string normal_words(std::string_view text) {
  std::string words;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::isalnum(code) != 0 || code >= 0x80)
      words += static_cast<char>(std::tolower(code));
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

/// The text before a quotation, or what is quoted where that is all: "34 `in[i]`" says 34.
std::string_view said(std::string_view value) {
  value = base::trimmed(value);
  const auto quote = value.find('`');
  if (quote == std::string_view::npos) return value;
  if (quote > 0) return base::trimmed(value.substr(0, quote));
  return base::trimmed(value.substr(1, value.find('`', 1) - 1));
}

/// "34", "line 34".
std::optional<std::int64_t> line_number(std::string_view value) {
  const std::string words = normal_words(value);
  std::string_view digits = words;
  if (digits.starts_with("line ")) digits.remove_prefix(5);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

/// "512", "512x", "512 times", as the shortest text of the number.
std::optional<std::string> number_text(std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  static constexpr std::array<std::string_view, 4> kTimes = {"", "x", "×", "times"};
  const std::string_view rest =
      base::trimmed(value.substr(static_cast<std::size_t>(end - value.data())));
  if (std::find(kTimes.begin(), kTimes.end(), rest) == kTimes.end()) return std::nullopt;
  std::array<char, 32> shown{};
  const auto written = std::to_chars(shown.data(), shown.data() + shown.size(), number);
  return std::string(shown.data(), written.ptr);
}

/// A value as it is compared, or what is wrong with it, in a sentence without its place.
struct Normal {
  std::optional<std::string> value;
  std::string problem;
};

Normal normal_line(const Lab& lab, std::string_view value) {
  const auto number = line_number(value);
  if (!number)
    return {std::nullopt, "\"" + std::string(value) + "\" is no line number; one number is wanted"};
  const int lines = lab.mended ? lab.mended->lines : 0;
  if (*number < 1 || (lines > 0 && *number > lines))
    return {std::nullopt, "line " + std::to_string(*number) + " is not in the kernel.cu that was " +
                              "handed out, which has lines 1 to " + std::to_string(lines)};
  return {std::to_string(*number), ""};
}

Normal normal_word(const std::vector<std::string>& words, const std::string& field,
                   std::string_view value) {
  const std::string own = normal_words(value);
  std::vector<std::string> known;
  for (const std::string& word : words) known.push_back(normal_words(word));
  if (contains(known, own)) return {own, ""};
  const auto alike = base::nearest(own, known);
  const auto at = alike ? std::find(known.begin(), known.end(), *alike) - known.begin() : 0;
  return {std::nullopt,
          "no " + field + " is called \"" + std::string(value) + "\"; " +
              (alike ? "did you mean \"" + words[static_cast<std::size_t>(at)] + "\"? " : "") +
              "It is one of: " + base::joined(words)};
}

/// A value that is not empty.
Normal normal_value(const Lab& lab, const std::string& field, std::string_view value) {
  if (contains(lab.answers.lines, field)) return normal_line(lab, value);
  if (contains(lab.answers.numbers, field)) {
    auto number = number_text(value);
    if (number) return {std::move(number), ""};
    return {std::nullopt, "\"" + std::string(value) + "\" is no number, such as 8 or 2.5"};
  }
  const auto words = lab.answers.words.find(field);
  if (words != lab.answers.words.end()) return normal_word(words->second, field, value);
  return {normal_words(value), ""};
}

/// "## Stage 3", "# stage 3: …"; 0 for any other line.
int stage_of_heading(std::string_view line) {
  const auto text = line.find_first_not_of('#');
  if (text == 0 || text == std::string_view::npos) return 0;
  const std::string words = normal_words(line.substr(text));
  constexpr std::string_view kStage = "stage ";
  if (!words.starts_with(kStage)) return 0;
  int number = 0;
  std::from_chars(words.data() + kStage.size(), words.data() + words.size(), number);
  return std::max(number, 0);
}

/// "- kind: data race" as its field and value; nothing for any other line.
std::optional<std::pair<std::string, std::string>> field_of(std::string_view line) {
  line = base::trimmed(line);
  if (!line.starts_with("- ") && !line.starts_with("* ")) return std::nullopt;
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with('*')) value.remove_prefix(1);  // "- **kind:** data race"
  return std::pair(normal_words(line.substr(2, colon - 2)), std::string(said(value)));
}

std::string at_line(int line) {
  return std::string(kAnswersFile) + ":" + std::to_string(line) + ": ";
}

/// How one field of a stage's answers stands: empty where it is right, or not graded and filled.
std::string problem_with(const Lab& lab, const Stage& stage, const WantedAnswer& wanted,
                         const StageAnswers& given) {
  const std::string form = "\"- " + wanted.field + ": …\"";
  const auto found = given.fields.find(wanted.field);
  if (found == given.fields.end())
    return at_line(given.line) + "below \"## Stage " + std::to_string(stage.number) +
           "\" there is no line " + form + "; write it there";
  const GivenAnswer& answer = found->second;
  if (answer.value.empty())
    return at_line(answer.line) + form + " of stage " + std::to_string(stage.number) +
           " is empty; write what you found";
  const Normal normal = normal_value(lab, wanted.field, answer.value);
  if (!normal.value) return at_line(answer.line) + normal.problem;
  if (wanted.digests.empty() ||
      contains(wanted.digests, answer_digest(lab, stage.number, wanted.field, *normal.value)))
    return "";
  return at_line(answer.line) + "the " + wanted.field + " \"" + answer.value +
         "\" is not that of the mistake in stage " + std::to_string(stage.number);
}

}  // namespace

ReadAnswers read_answers(std::string_view text) {
  ReadAnswers read;
  int number = 0, stage = 0;
  for (const std::string_view line : base::lines_of(text)) {
    ++number;
    if (line.starts_with('#')) {
      stage = stage_of_heading(line);
      if (stage == 0) continue;
      const bool is_new = read.stages.try_emplace(stage, StageAnswers{number, {}, ""}).second;
      StageAnswers& own = read.stages[stage];
      if (!is_new && own.problem.empty())
        own.problem = at_line(number) + "\"## Stage " + std::to_string(stage) +
                      "\" is there twice, first in line " + std::to_string(own.line) +
                      "; leave one of the two";
      continue;
    }
    auto field = stage > 0 ? field_of(line) : std::nullopt;
    if (!field) continue;
    StageAnswers& own = read.stages[stage];
    const auto [place, is_new] = own.fields.try_emplace(
        std::move(field->first), GivenAnswer{std::move(field->second), number});
    if (!is_new && own.problem.empty())
      own.problem = at_line(number) + "\"- " + place->first +
                    ": …\" is there twice, first in line " + std::to_string(place->second.line) +
                    "; leave one of the two";
  }
  return read;
}

std::string answer_digest(const Lab& lab, int stage, std::string_view field,
                          std::string_view normal) {
  constexpr std::size_t kDigits = 16;
  const std::string text = lab.id + '\0' + std::to_string(stage) + '\0' + std::string(field) +
                           '\0' + std::string(normal);
  return base::sha256(text).substr(0, kDigits);
}

base::Result<std::vector<std::string>> answer_digests(const Lab& lab, int stage,
                                                      const std::string& field,
                                                      std::string_view value) {
  constexpr std::string_view kOr = " or ";
  std::vector<std::string> digests;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find(kOr, at), value.size());
    const Normal normal = normal_value(lab, field, base::trimmed(value.substr(at, end - at)));
    if (!normal.value)
      return base::Error{base::ErrorKind::kInput, std::string(kAnswersFile), normal.problem,
                         "an answer as lab.json allows it", "correct one of the two"};
    digests.push_back(answer_digest(lab, stage, field, *normal.value));
    at = end + kOr.size();
  }
  return digests;
}

std::string problem_with_answers(const Lab& lab, const Stage& stage, std::string_view submission) {
  const SplitSubmission split = split_submission(submission);
  const auto file = split.beside.find(std::string(kAnswersFile));
  const std::string heading = "\"## Stage " + std::to_string(stage.number) + "\"";
  if (file == split.beside.end())
    return std::string(kAnswersFile) +
           " is not there; it belongs beside kernel.cu, and has a part " + heading;
  const ReadAnswers read = read_answers(file->second);
  const auto own = read.stages.find(stage.number);
  if (own == read.stages.end())
    return std::string(kAnswersFile) + " has no heading " + heading +
           ", where the answers to stage " + std::to_string(stage.number) +
           " are looked for; write it as the untouched file has it";
  if (!own->second.problem.empty()) return own->second.problem;
  std::vector<std::string> fields;
  for (const WantedAnswer& wanted : stage.answers) fields.push_back(wanted.field);
  for (const auto& [field, answer] : own->second.fields) {
    if (contains(fields, field)) continue;
    const auto alike = base::nearest(field, fields);
    return at_line(answer.line) + "stage " + std::to_string(stage.number) + " is not asked for \"" +
           field + "\"; " + (alike ? "did you mean \"" + *alike + "\"? " : "") +
           "It is asked for: " + base::joined(fields);
  }
  std::string problems;
  for (const WantedAnswer& wanted : stage.answers) {
    const std::string problem = problem_with(lab, stage, wanted, own->second);
    if (!problem.empty()) base::add_word(problems, problem, "\n");
  }
  return problems;
}

}  // namespace membound::course
