// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/predicted_figures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/experiment_run.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable = "handouts/predicted.csv";
constexpr const char* kNumber = R"([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)";

/// "1,045.5" is 1045.5.
std::optional<double> number_in(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int decimals_of(const std::string& figure) {
  const auto point = figure.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(figure.size() - point - 1);
}

/// With as many decimals as the figure has, thousands apart.
std::string written_like(const std::string& figure, double value) {
  std::string text = base::decimal(value, decimals_of(figure));
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t at = point; at > 3; at -= 3) text.insert(at - 3, at - 3 > 0 ? "," : "");
  return text;
}

/// A row's text as what finds it: words apart by any space, figures as groups.
struct Pattern {
  std::regex form;
  std::vector<std::string> figures;  ///< what stands between the braces, where something does
};

std::optional<Pattern> pattern_of(const std::string& text) {
  Pattern pattern;
  std::string form;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') {
      const auto end = text.find('}', at);
      if (end == std::string::npos) return std::nullopt;
      const std::string figure = text.substr(at + 1, end - at - 1);
      form += (figure.empty() ? "(?:" : "(") + std::string(kNumber) + ")";
      if (!figure.empty()) pattern.figures.push_back(figure);
      at = end;
    } else if (text[at] == ' ') {
      form += "\\s+";
    } else {
      if (std::string_view("^$\\.*+?()[]{}|").find(text[at]) != std::string_view::npos)
        form += '\\';
      form += text[at];
    }
  }
  if (pattern.figures.empty()) return std::nullopt;
  pattern.form = std::regex(form);
  return pattern;
}

/// "2.gbs / 1.gbs %" by what was said; nothing where a name was not.
std::optional<SaidFigure> value_of(std::string figure, const SaidFigures& said) {
  double scale = 1;
  if (figure.ends_with(" %")) {
    scale = 100;
    figure.resize(figure.size() - 2);
  }
  SaidFigure result{scale, true};
  bool first = true;
  for (std::size_t at = 0; at <= figure.size();) {
    const std::size_t end = std::min(figure.find(" / ", at), figure.size());
    const std::string name = figure.substr(at, end - at);
    const auto found = said.find(name);
    const auto literal = number_in(name);
    if (found == said.end() && !literal) return std::nullopt;
    const double value = found == said.end() ? *literal : found->second.value;
    result.value = first ? result.value * value : result.value / value;
    result.counted = result.counted && (found == said.end() || found->second.counted);
    first = false;
    at = end + 3;
  }
  return result;
}

bool agrees(const std::string& figure, const SaidFigure& said) {
  const auto shown = number_in(figure);
  if (!shown) return false;
  const double rounding = 0.5 * std::pow(10.0, -decimals_of(figure)) * (1 + 1e-9);
  const double apart = std::abs(*shown - said.value);
  return apart <= rounding || (!said.counted && apart <= kNear * std::abs(said.value));
}

int line_at(const std::string& text, std::size_t place) {
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

Drift not_there(const PredictedText& row) {
  return {kTable, row.line, "\"" + row.text + "\" does not stand in " + row.page,
          "a text of the page, with a number for each pair of braces", "correct the row"};
}

/// Holds one row against its page, which it changes where figures are to be written.
void check_row(const PredictedText& row, const SaidFigures& said, bool all,
               const std::string& command, bool fix, std::string& page,
               std::vector<Drift>& drifts) {
  const auto pattern = pattern_of(row.text);
  std::smatch match;
  if (!pattern || !std::regex_search(page, match, pattern->form))
    return drifts.push_back(not_there(row));
  std::vector<std::pair<std::size_t, std::string>> places;
  for (std::size_t i = 1; i < match.size(); ++i)
    places.emplace_back(static_cast<std::size_t>(match.position(i)), match[i].str());
  for (std::size_t i = places.size(); i-- > 0;) {  // backwards: what is before stays in place
    const auto& [place, figure] = places[i];
    const std::string& name = pattern->figures[i];
    const auto value = value_of(name, said);
    if (!value && all)
      drifts.push_back({kTable, row.line, "\"" + name + "\" was not said by any run",
                        "a name as in grader/authoring/predicted_figures.hpp", "correct the row"});
    if (!value) continue;
    const std::string expected = written_like(figure, value->value);
    if (fix) page.replace(place, figure.size(), expected);
    if (fix || agrees(figure, *value)) continue;
    drifts.push_back({row.page, line_at(page, place),
                      figure + " where " + row.device + " says " + expected + " (" + name + ")",
                      value->counted ? "the count" : "a prediction within 3 %", command});
  }
}

}  // namespace

base::Result<std::vector<PredictedText>> read_predicted(const fs::path& root) {
  std::error_code ignored;
  std::vector<PredictedText> rows;
  if (!fs::exists(root / kTable, ignored)) return rows;
  const auto text = base::read_file(root / kTable);
  if (!text) return text.error();
  const auto table = base::read_csv(*text, kTable);
  if (!table) return table.error();
  if (table->header != std::vector<std::string>{"lab", "device", "run", "page", "text"})
    return base::Error{base::ErrorKind::kInput, kTable, "another header",
                       "lab,device,run,page,text", ""};
  int line = 1;
  for (const std::vector<std::string>& cells : table->rows)
    rows.push_back({++line, cells[0], cells[1], cells[2], cells[3], cells[4]});
  return rows;
}

SaidFigures figures_of(const std::string& subject, const course::StageResult& stage) {
  std::string notes;
  for (const std::string& note : stage.notes) notes += subject + " " + note + "\n";
  SaidFigures said = lines_of_output(notes);
  const auto say = [&](const std::string& name, double value, bool counted) {
    said.insert({subject + "." + name, {value, counted}});
  };
  const bool operations = stage.bound == course::Bound::kOperations;
  if (stage.speed)
    say(operations ? "tops" : "gbs", *stage.speed / (operations ? 1e12 : 1e9), false);
  if (stage.ratio) say("ratio", *stage.ratio, false);
  // Of a program it is a share of times.
  if (stage.answer) say("answer", *stage.answer, !stage.timings.empty());
  if (const course::Timing* const timing = course::slowest(stage.timings))
    say("us", timing->student_median_ns / 1e3, false);
  for (const course::Timing& timing : stage.timings)
    if (timing.student_median_ns > 0)
      say("gbs of " + timing.label, timing.useful_bytes / timing.student_median_ns, false);
  for (const course::KernelProfile& profile : stage.profiles)
    for (const course::TimeBound& bound : profile.bounds)
      say("us of " + bound.name, bound.ns / 1e3, false);
  std::map<std::string, std::pair<double, double>> accesses;  // requests, units
  for (const course::SourceLine& line : stage.source_lines) {
    auto& [requests, units] = accesses[line.unit + " a " + line.access];
    requests += static_cast<double>(line.requests);
    units += line.per_request * static_cast<double>(line.requests);
  }
  for (const auto& [access, sum] : accesses) say(access, sum.second / sum.first, true);
  return said;
}

SaidFigures lines_of_output(const std::string& output) {
  static const std::regex kNumbers(kNumber);
  SaidFigures said;
  for (const std::string_view line : base::lines_of(output)) {
    const std::string text(base::trimmed(line));
    std::sregex_iterator number(text.begin(), text.end(), kNumbers);
    const std::sregex_iterator end;
    if (number == end) continue;
    // A line may begin with the number that it is about: "32 30.22".
    if (number->position() == 0) ++number;
    if (number == end) continue;
    const std::string label(
        base::trimmed(text.substr(0, static_cast<std::size_t>(number->position()))));
    for (int i = 1; number != end; ++number, ++i)
      said.insert({label + ":" + std::to_string(i), {*number_in(number->str()), false}});
  }
  return said;
}

std::vector<Drift> check_predicted_texts(const std::string& lab, const fs::path& root) {
  const auto rows = read_predicted(root);
  if (!rows) return {{kTable, 0, base::to_string(rows.error()), "a table", ""}};
  std::vector<PredictedText> of_lab;
  for (const PredictedText& row : *rows)
    if (row.lab == lab) of_lab.push_back(row);
  return check_predicted(of_lab, {}, false, "", root, false);
}

std::vector<Drift> check_predicted(const std::vector<PredictedText>& rows, const SaidFigures& said,
                                   bool all, const std::string& command, const fs::path& root,
                                   bool fix) {
  std::vector<Drift> drifts;
  for (const PredictedText& row : rows) {
    auto page = base::read_file(root / row.page);
    if (!page) {
      drifts.push_back(not_there(row));
      continue;
    }
    const std::string before = *page;
    check_row(row, said, all, command, fix, *page, drifts);
    if (*page == before) continue;
    if (const auto written = base::write_file(root / row.page, *page); !written)
      drifts.push_back({row.page, 0, base::to_string(written.error()), "a page to write", ""});
  }
  return drifts;
}

namespace {

base::Result<SaidFigures> figures_of_experiment(const judge::ExperimentRequest& request) {
  const auto run = judge::run_experiment(request);
  if (!run) return run.error();
  SaidFigures said;
  for (const course::ExperimentTime& time : run->times) {
    const std::string label =
        time.point.label.empty() ? std::to_string(time.point.x) : time.point.label;
    said[label + ".us"] = {time.time_ns / 1e3, false};
    said[label + ".gbs"] = {time.rate, false};
  }
  return said;
}

/// "suspect_a" of "suspect_a(int*, int const*)".
std::string short_name(const nlohmann::json& kernel) {
  const std::string name = judge::kernel_name(kernel);
  return name.substr(0, name.find('('));
}

void say_launch(const std::string& name, const nlohmann::json& kernel, SaidFigures& said) {
  for (const auto& [counter, value] : kernel.at("counters").items())
    said[name + "." + counter] = {value.get<double>(), true};
  for (const nlohmann::json& bound : kernel.at("bounds"))
    said[name + ".us of " + bound.at("name").get<std::string>()] = {
        bound.at("ns").get<double>() / 1e3, false};
}

/// What a program prints, and what the virtual GPU counts of its kernels.
base::Result<SaidFigures> figures_of_program(const judge::Workplace& place,
                                             judge::ProgramRun program, const judge::Tools& tools,
                                             const std::atomic<bool>* stop) {
  const base::ScratchFolder folder("predicted");
  const fs::path counters = folder.path() / "counters.json";
  program.environment["MEMBOUND_COUNTERS"] = counters.string();
  const auto output = judge::run_program(place, program, tools, stop);
  if (!output) return output.error();
  SaidFigures said = lines_of_output(*output);
  if (!fs::exists(counters)) return said;  // a GPU counts nothing
  const auto text = base::read_file(counters);
  if (!text) return text.error();
  const nlohmann::json counted = nlohmann::json::parse(*text);
  for (const nlohmann::json& kernel : counted.at("kernels")) {
    const std::string name = short_name(kernel);
    if (!said.contains(name + ".threads")) say_launch(name, kernel, said);
    say_launch(name + " last", kernel, said);
  }
  return said;
}

}  // namespace

SaidFigures figures_of(const Proof& proof) {
  const std::string file = proof.claim.file.stem().string();
  const bool is_wrong = file != "kernel";
  if (!is_wrong && !proof.claim.fails.empty()) return {};
  SaidFigures said;
  for (const course::StageResult& stage : proof.stages)
    said.merge(figures_of(is_wrong ? file : std::to_string(stage.stage), stage));
  return said;
}

base::Result<SaidFigures> figures_of_run(const judge::Workplace& place, const judge::Tools& tools,
                                         const std::string& lab, const std::string& run,
                                         const std::atomic<bool>* stop) {
  std::istringstream stream(run);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.size() == 2 && words[0] == "experiment") {
    const auto all = course::read_experiments(place.root);
    if (!all) return all.error();
    const auto found = course::find_experiment(*all, words[1]);
    if (!found) return found.error();
    if (found->program)
      return figures_of_program(place, judge::program_of(*found, tools), tools, stop);
    return figures_of_experiment({place, tools, *found, 0, stop});
  }
  judge::ProgramRun program;
  while (!words.empty() && words[0].find('=') != std::string::npos) {
    const auto equal = words[0].find('=');
    program.environment[words[0].substr(0, equal)] = words[0].substr(equal + 1);
    words.erase(words.begin());
  }
  if (words.empty())
    return base::Error{base::ErrorKind::kInput, "\"" + run + "\"", "no program",
                       "FILE.cu, or experiment NAME", "correct handouts/predicted.csv"};
  program.source = place.root / "handouts" / lab / words[0];
  program.arguments.assign(words.begin() + 1, words.end());
  return figures_of_program(place, std::move(program), tools, stop);
}

}  // namespace membound::authoring
