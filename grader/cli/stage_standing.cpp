// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/stage_standing.hpp"

#include <algorithm>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/student_progress.hpp"
#include "grader/report/diagnostics.hpp"
#include "grader/report/handout.hpp"
#include "grader/report/result_page.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {

report::Tone Standing::tone() const {
  if (passed()) return report::Tone::kGood;
  if (!started || !state.last) return report::Tone::kFaint;
  return report::tone_of(state.last->verdict);
}

std::string Standing::words() const {
  if (passed()) return "passed";
  if (!started) return report::kNotStarted;
  return state.last ? report::words_for(state.last->verdict) : "not checked yet";
}

std::vector<Standing> standings_of(const Context& context, const course::Lab& lab) {
  const auto skeleton = judge::skeleton_at_hand(context.place, lab);
  const auto kernel = base::read_file(context.kernel_of(lab));
  std::vector<Standing> standings;
  for (const course::Stage& stage : lab.stages) {
    Standing standing{.state = context.states().read(lab.id, stage.number), .started = true};
    if (skeleton && kernel)
      // Broken code is checked as it is: its report is what the student begins with.
      standing.started = lab.mended || course::stage_text(*kernel, stage.number) !=
                                           course::stage_text(*skeleton, stage.number);
    standings.push_back(std::move(standing));
  }
  return standings;
}

std::set<int> untouched_stages(const Context& context, const course::Lab& lab) {
  const auto standings = standings_of(context, lab);
  std::set<int> untouched;
  for (std::size_t i = 0; i < standings.size(); ++i)
    if (!standings[i].started && !standings[i].passed()) untouched.insert(lab.stages[i].number);
  return untouched;
}

course::Result with_own_warnings(const Context& context, const course::Lab& lab,
                                 course::Result result) {
  const bool failed =
      std::any_of(result.stages.begin(), result.stages.end(), [](const course::StageResult& stage) {
        return stage.verdict == course::Verdict::kCompileError;
      });
  if (failed || result.compiler_output.empty()) return result;
  const auto kernel = base::read_file(context.kernel_of(lab));
  const auto untouched = untouched_stages(context, lab);
  // What belongs to no stage, and to those that were checked and begun.
  std::set<int> told = {0};
  for (const course::StageResult& stage : result.stages)
    if (!untouched.contains(stage.stage)) told.insert(stage.stage);
  const std::string own = context.shown_kernel_of(lab);
  result.compiler_output =
      report::warnings_in(result.compiler_output, [&](const std::string& file, int line) {
        return file != own || !kernel || told.contains(course::stage_of_line(*kernel, line));
      });
  return result;
}

report::WholeLab whole_lab(const Context& context, const course::Lab& lab) {
  const auto handout = base::read_file(context.place.tree(lab) / lab.handout);
  return {lab.stages.size(),
          handout && handout->find("\n## After you are done") != std::string::npos,
          !answer_file(context, lab).empty()};
}

std::filesystem::path answer_file(const Context& context, const course::Lab& lab) {
  const std::filesystem::path& tree = context.place.tree(lab);
  std::error_code ignored;
  for (const auto& file :
       {tree / "solutions" / lab.id / "kernel.cu", tree / "released" / lab.id / "answer.cu"})
    if (std::filesystem::exists(file, ignored)) return file;
  return {};
}

int line_to_edit(const Context& context, const course::Lab& lab, const course::Stage& stage) {
  const auto kernel = base::read_file(context.kernel_of(lab));
  if (!kernel) return 0;
  const std::string text = course::stage_text(*kernel, stage.number);
  const auto start = kernel->find(text);
  if (text.empty() || start == std::string::npos) return 0;
  const auto todo = text.find("TODO");
  const auto place = start + (todo == std::string::npos ? 0 : todo);
  return 1 + static_cast<int>(
                 std::count(kernel->begin(), kernel->begin() + static_cast<long>(place), '\n'));
}

namespace {

/// The heading of the handout's section about the stage: "Stage 2: one thread per element".
std::string section_of(const Context& context, const course::Lab& lab, const course::Stage& stage) {
  const auto handout = base::read_file(context.place.tree(lab) / lab.handout);
  if (!handout) return "";
  std::istringstream lines(*handout);
  const std::string head = "Stage " + std::to_string(stage.number) + ":";
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of("# ");
    if (line.starts_with('#') && line.compare(std::min(begin, line.size()), head.size(), head) == 0)
      return line.substr(begin);
  }
  return "";
}

/// What the glossary says, a sentence each, of the words that a question is asked in: it may come
/// before the handout has explained them.
std::string words_of(const Context& context, const std::string& question) {
  const auto glossary = base::read_file(context.place.root / "docs/glossary.md");
  std::string text;
  if (!glossary) return text;
  for (const report::Term& term : report::gpu_terms(*glossary)) {
    const std::string& word = term.words.front();
    const auto at = question.find(word);
    if (at == std::string::npos || (at > 0 && question[at - 1] != ' ')) continue;
    std::string meaning = term.meaning.substr(0, term.meaning.find(". "));
    std::erase_if(meaning, [](char c) { return c == '*' || c == '`'; });
    if (meaning.find('[') == std::string::npos)
      text += report::wrapped(word + ": " + meaning, context.out.width, 11).replace(2, 4, "word");
  }
  return text;
}

}  // namespace

std::string stage_advice(const Context& context, const course::Lab& lab,
                         const course::Stage& stage) {
  const std::string name = lab.id + "/" + std::to_string(stage.number);
  const auto standings = standings_of(context, lab);
  const Standing& standing = standings[static_cast<std::size_t>(stage.number - 1)];
  const int line = line_to_edit(context, lab, stage);
  std::string text;
  const bool asks = stage.question && !standing.state.predicted && !standing.passed();
  if (!standing.started) {
    const std::string section = section_of(context, lab, stage);
    text += "  read     ./membound handout " + lab.id + "\n";
    if (!section.empty())
      text += report::wrapped("         \"" + section + "\"", context.out.width, 2);
    if (asks) text += words_of(context, stage.question->ask);
  }
  if (asks)
    text += report::wrapped("predict  " + stage.question->ask, context.out.width, 2) +
            "           ./membound predict " + name + " NUMBER\n";
  text += "  edit     " + context.shown_kernel_of(lab) +
          (line > 0 ? ":" + std::to_string(line) : "") + "\n  check    ./membound check " + name +
          "\n";
  if (standing.started && standing.state.last) text += "  stuck    ./membound hint " + name + "\n";
  return text;
}

namespace {

constexpr std::size_t kIdWidth = 23;
constexpr std::size_t kTitleWidth = 31;

std::string stage_line(const course::Stage& stage, const Standing& standing,
                       const report::Style& style) {
  std::string text = "  " + style.sign(standing.tone()) + " " +
                     report::padded(std::to_string(stage.number) + " " + stage.title, 36);
  const auto& last = standing.state.last;
  if (!last || (!standing.started && !standing.passed()))
    return text + style.paint(standing.words(), report::Tone::kFaint) + "\n";
  text += report::padded(standing.words(), 20) + report::points(standing.state.best_points) +
          " of " + report::points(stage.points);
  if (standing.passed() && !last->passed())
    text += style.paint("; last: " + report::words_for(last->verdict), report::Tone::kFaint);
  return text + "\n";
}

}  // namespace

std::string course_listing(const Context& context) {
  const report::Style& style = context.out;
  std::string text;
  double points = 0, most = 0;
  for (const course::Lab& lab : context.course.labs) {
    std::string signs;
    double lab_points = 0;
    for (const Standing& standing : standings_of(context, lab)) {
      signs += style.sign(standing.tone());
      lab_points += standing.state.best_points;
    }
    text += report::padded(lab.id, kIdWidth) + " " + report::padded(lab.title, kTitleWidth) + " " +
            signs + std::string(8 - std::min<std::size_t>(8, lab.stages.size()), ' ') +
            report::points(lab_points) + " of " + report::points(lab.max_points()) + "\n";
    points += lab_points;
    most += lab.max_points();
  }
  text += "\n" + report::points(points) + " of " + report::points(most) + " points. ";
  const course::Lab& next = current_lab(context);
  const auto standings = standings_of(context, next);
  if (std::all_of(standings.begin(), standings.end(),
                  [](const Standing& standing) { return standing.passed(); }))
    return text + "Every stage has passed.\n";
  return text + "Next: ./membound check " + next.id + "/" +
         std::to_string(current_stage(context, next)) + "\n";
}

std::string lab_listing(const Context& context, const course::Lab& lab) {
  const report::Style& style = context.out;
  std::string text = style.paint(lab.id + ": " + lab.title, report::Tone::kStrong) + "\n";
  text += report::wrapped(lab.summary, style.width, 0);
  const auto standings = standings_of(context, lab);
  for (std::size_t i = 0; i < standings.size(); ++i)
    text += stage_line(lab.stages[i], standings[i], style);
  return text;
}

base::Result<std::string> hint_text(const Context& context, const course::Lab& lab,
                                    const course::Stage& stage) {
  judge::StageState state = context.states().read(lab.id, stage.number);
  const auto hint = judge::next_hint(lab, stage, state);
  if (!hint) return hint.error();
  if (hint->is_new) {
    state.hints_used[hint->key] = hint->tier;
    const auto kept = context.states().write(lab.id, stage.number, state);
    if (!kept) return kept.error();
  }
  std::string text = context.out.paint("Hint " + std::to_string(hint->number) + " of " +
                                           std::to_string(hint->count) + " for " + lab.id + "/" +
                                           std::to_string(stage.number) + " (" + hint->tag + ")",
                                       report::Tone::kStrong);
  text += "\n" + report::wrapped(hint->text, context.out.width, 2);
  if (hint->number < hint->count) text += "Ask again for the next one.\n";
  return text;
}

LastChecks::LastChecks(const Context& context, const std::vector<course::Selection>& selections)
    : context_(&context) {
  for (const course::Selection& selection : selections)
    for (const int number : selection.stages) {
      judge::StageState state = context.states().read(selection.lab->id, number);
      if (state.last) stages_.push_back(*std::move(state.last));
      if (state.predicted) predictions_.push_back({selection.lab, number, *state.predicted});
    }
}

namespace {

std::string ways_of(const Context& context, const course::Result& result,
                    const report::Style& style) {
  std::string text;
  for (const course::StageResult& stage : result.stages) {
    const std::string way = report::way_on_roofline(
        dots_on(stage.device, context.states().read(stage.lab, stage.stage)));
    if (!way.empty())
      text += report::wrapped(
          "Roofline, stage " + std::to_string(stage.stage) + ", from check to " + "check: " + way,
          style.width, 0);
  }
  return text;
}

std::string pictures_of(const Context& context, const course::Result& result,
                        const report::Style& style) {
  std::string text;
  for (const course::StageResult& stage : result.stages) {
    const auto file = context.picture_of(stage.lab, stage.stage);
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored))
      text += report::wrapped(
          "Picture of stage " + std::to_string(stage.stage) +
              ", on the right as your kernel made it: " +
              file.lexically_proximate(std::filesystem::current_path(ignored)).string(),
          style.width, 0);
  }
  return text;
}

}  // namespace

std::string LastChecks::changes(const course::Result& result, const report::Style& style) const {
  std::string text;
  for (const course::StageResult& stage : result.stages)
    for (const Prediction& said : predictions_)
      if (said.lab->id == stage.lab && said.stage == stage.stage)
        text += report::wrapped(report::said_and_counted(*said.lab->stage(said.stage), said.number,
                                                         stage, result.compiler),
                                style.width, 0);
  for (const course::StageResult& stage : result.stages)
    for (const course::StageResult& last : stages_) {
      if (last.lab != stage.lab || last.stage != stage.stage) continue;
      const std::string change = report::what_changed(last, stage, style);
      if (!change.empty())
        text += report::wrapped(
            "Since the last check of stage " + std::to_string(stage.stage) + ": " + change,
            style.width, 0);
    }
  return text + ways_of(*context_, result, style) + pictures_of(*context_, result, style);
}

}  // namespace membound::cli
