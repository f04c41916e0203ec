// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/measured_figures.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>

#include "grader/authoring/claims.hpp"
#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/judge/experiment_run.hpp"
#include "grader/judge/judge.hpp"
#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBench = "bench ";
constexpr const char* kExperiment = "experiment ";
constexpr const char* kWrong = "wrong/";
constexpr const char* kStages = "stages";  // speeds of the reference answers' own check
const std::vector<std::string> kHeader = {"lab",  "run",  "figure", "role",  "value",
                                          "unit", "size", "date",   "driver"};

/// "4161", "0.0552": all digits that are known, and no more.
std::string digits_of(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  return {text, end.ptr};
}

std::string today() {
  const std::chrono::year_month_day day =
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  char text[16];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
  return text;
}

/// Of the kernel module: "580.159.04"; of a virtual GPU: "predicted".
std::string driver_of(const judge::Tools& tools) {
  static const std::regex kVersion(R"([0-9]+\.[0-9]+(\.[0-9]+)?)");
  if (tools.device.kind->predicts_times()) return "predicted";
  for (const char* file : {"/sys/module/nvidia/version", "/proc/driver/nvidia/version"}) {
    const auto text = base::read_file(file);
    std::smatch version;
    if (text && std::regex_search(*text, version, kVersion)) return version.str();
  }
  return "unknown";
}

/// By the figure's name: ".gbs of float 16384 x 16384" are GB/s.
std::string unit_of(const std::string& figure) {
  for (const auto& [mark, unit] : {std::pair(".gbs", "GB/s"),
                                   {".tops", "Tops/s"},
                                   {".us", "µs"},
                                   {".ratio", "of the reference answer"},
                                   {".sectors a ", "sectors"},
                                   {".wavefronts a ", "wavefronts"}})
    if (figure.find(mark) != std::string::npos) return unit;
  return "";
}

MeasuredFigures rows_of(const FigureRun& run, const SaidFigures& said, const std::string& size) {
  MeasuredFigures rows;
  for (const auto& [figure, value] : said)
    rows.push_back({run.lab, run.run, figure, "", value.value, unit_of(figure), size, "", ""});
  return rows;
}

const course::Lab* lab_of(const std::vector<const course::Lab*>& labs, const std::string& id) {
  const auto found = std::ranges::find(labs, id, [](const auto* lab) { return lab->id; });
  return found == labs.end() ? nullptr : *found;
}

bool is_wrong_answer(const Claim& claim) { return claim.file.stem() != "kernel"; }

/// Right, but slow or over its budget: what is timed of wrong answers.
bool is_slow_answer(const Claim& claim) {
  return is_wrong_answer(claim) && (claim.fails == to_string(course::BuiltInTest::kSpeed) ||
                                    claim.fails == to_string(course::BuiltInTest::kBudget));
}

bool is_reference(const Claim& claim) { return !is_wrong_answer(claim) && claim.fails.empty(); }

}  // namespace

base::Result<MeasuredFigures> read_measured(const fs::path& file) {
  std::error_code ignored;
  MeasuredFigures figures;
  if (!fs::exists(file, ignored)) return figures;
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const auto table = base::read_csv(*text, file.string());
  if (!table) return table.error();
  if (table->header != kHeader)
    return base::Error{base::ErrorKind::kInput, file.string(), "another header",
                       "lab,run,figure,role,value,unit,size,date,driver",
                       "membound dev figures writes it"};
  int line = 1;
  for (const std::vector<std::string>& cells : table->rows) {
    ++line;
    double value = 0;
    const std::string& number = cells[4];
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (read.ec != std::errc() || read.ptr != number.data() + number.size())
      return base::Error{base::ErrorKind::kInput, file.string() + ":" + std::to_string(line),
                         "\"" + number + "\"", "a number", "membound dev figures --again"};
    figures.push_back(
        {cells[0], cells[1], cells[2], cells[3], value, cells[5], cells[6], cells[7], cells[8]});
  }
  return figures;
}

base::Status write_measured(const fs::path& file, const MeasuredFigures& figures) {
  base::CsvTable table{kHeader, {}, ','};
  for (const MeasuredFigure& row : figures)
    table.rows.push_back({row.lab, row.run, row.figure, row.role, digits_of(row.value), row.unit,
                          row.size, row.date, row.driver});
  std::string text = base::write_csv(table, base::CsvReader::kProgram);
  std::erase(text, '\r');  // as all files of the tree
  return base::write_file(file, text);
}

base::Result<std::map<std::string, MeasuredFigures>> read_all_measured(const fs::path& root) {
  std::map<std::string, MeasuredFigures> all;
  std::error_code error;
  for (fs::directory_iterator entry(root / "handouts", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().stem().string();
    if (!name.starts_with("measured_") || entry->path().extension() != ".csv") continue;
    auto figures = read_measured(entry->path());
    if (!figures) return figures.error();
    all[name.substr(std::string_view("measured_").size())] = *std::move(figures);
  }
  return all;
}

std::string gpu_name_in_files(const std::string& name) {
  static const std::regex kMemory(R"(\s+\d+\s?GB\b.*)"), kNone("[^a-z0-9]+");
  std::string text = std::regex_replace(name, kMemory, "");
  if (text.starts_with("NVIDIA ")) text = text.substr(std::string_view("NVIDIA ").size());
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::regex_replace(text, kNone, "-");
}

SaidFigures said_by(const MeasuredFigures& figures, const std::string& lab,
                    const std::string& run) {
  SaidFigures said;
  for (const MeasuredFigure& row : figures)
    if (row.lab == lab && row.run == run) said[row.figure] = {row.value, true};
  return said;
}

namespace {

fs::path bench_of(const judge::Workplace& place) { return place.build / "bin" / "membound_bench"; }

/// One line each.
base::Result<std::vector<std::string>> bench_titles(const judge::Workplace& place,
                                                    const judge::Tools& tools) {
  const auto outcome = base::run_process(
      {.arguments = {bench_of(place).string(), "--list"}, .environment = tools.device.environment});
  if (!outcome) return outcome.error();
  if (outcome->exit_code != 0)
    return base::Error{base::ErrorKind::kMachine, bench_of(place).string(), outcome->output,
                       "the titles of its contests", "build membound_bench again"};
  std::vector<std::string> titles;
  for (const std::string_view line : base::lines_of(outcome->output))
    if (!base::trimmed(line).empty()) titles.emplace_back(base::trimmed(line));
  return titles;
}

}  // namespace

base::Result<std::vector<FigureRun>> figure_runs(const judge::Workplace& place,
                                                 const judge::Tools& tools,
                                                 const std::vector<const course::Lab*>& labs) {
  const auto experiments = course::read_experiments(place.root);
  if (!experiments) return experiments.error();
  std::vector<FigureRun> runs;
  for (const course::Lab* lab : labs) {
    runs.push_back({lab->id, ""});
    const auto claims = claims_of(*lab, place);
    if (!claims) return claims.error();
    for (const Claim& claim : *claims)
      if (is_slow_answer(claim)) runs.push_back({lab->id, kWrong + claim.file.stem().string()});
    for (const course::Experiment& each : *experiments)
      if (each.lab == lab->id) runs.push_back({lab->id, kExperiment + each.name});
  }
  std::error_code ignored;
  if (tools.device.kind->predicts_times() || !fs::exists(bench_of(place), ignored)) return runs;
  const auto titles = bench_titles(place, tools);
  if (!titles) return titles.error();
  for (const std::string& title : *titles) runs.push_back({"", kBench + title});
  return runs;
}

bool is_done(const FigureRun& run, const MeasuredFigures& figures) {
  return std::ranges::any_of(figures, [&](const MeasuredFigure& row) {
    return row.run == run.run && (run.lab.empty() || row.lab == run.lab);
  });
}

namespace {

/// What one file's stages say: the reference answers, or one wrong answer.
base::Result<MeasuredFigures> rows_of_claims(const judge::Workplace& place,
                                             const judge::Tools& tools, const course::Lab& lab,
                                             const FigureRun& run, const std::atomic<bool>* stop) {
  auto claims = claims_of(lab, place);
  if (!claims) return claims.error();
  MeasuredFigures rows;
  for (const Claim& claim : *claims) {
    const std::string name = claim.file.stem().string();
    if (run.run.empty() ? !is_reference(claim) : run.run != kWrong + name) continue;
    judge::CheckOptions options;
    options.submission = claim.file.string();
    if (!run.run.empty()) options.test = to_string(course::BuiltInTest::kSpeed);
    auto request = judge::request_for(place, tools, options, {claim.lab, claim.stages}, stop);
    request.reruns = {};     // whether they are right by luck, `dev check --run` asks
    request.profiling = {};  // what the virtual GPU would count is no figure of a GPU
    const auto result = judge::check(request);
    if (!result) return result.error();
    for (const course::StageResult& stage : result->stages) {
      if (run.run.empty() && !stage.correct && !(stop != nullptr && stop->load()))
        return base::Error{base::ErrorKind::kInternal, lab.id,
                           "stage " + std::to_string(stage.stage) + " of its answer is not right",
                           "a reference answer", "membound dev check --run " + lab.id};
      const course::Timing* const timing = course::slowest(stage.timings);
      const std::string subject = run.run.empty() ? std::to_string(stage.stage) : name;
      for (MeasuredFigure& row :
           rows_of(run, figures_of(subject, stage), timing ? timing->label : ""))
        rows.push_back(std::move(row));
    }
  }
  return rows;
}

base::Result<MeasuredFigures> rows_of_experiment(const judge::Workplace& place,
                                                 const judge::Tools& tools, const FigureRun& run,
                                                 const std::atomic<bool>* stop) {
  const auto all = course::read_experiments(place.root);
  if (!all) return all.error();
  const auto found =
      course::find_experiment(*all, run.run.substr(std::string_view(kExperiment).size()));
  if (!found) return found.error();
  const auto said = figures_of_run(place, tools, run.lab, run.run, stop);
  if (!said) return said.error();
  std::string size;
  if (found->program) {
    for (const std::string& word : judge::program_of(*found, tools).arguments)
      base::add_word(size, word, " ");
  } else {
    size = "n = " +
           std::to_string(tools.device.kind->predicts_times() ? found->vgpu_size : found->gpu_size);
  }
  MeasuredFigures rows = rows_of(run, *said, size);
  for (MeasuredFigure& row : rows)
    if (!found->program && row.figure.ends_with(".gbs")) row.unit = found->unit;
  return rows;
}

/// The lab whose stage's kernel a row of the bench names: "6 transpose_fast".
std::string lab_of_contest(const std::vector<course::Lab>& labs, const nlohmann::json& rows) {
  for (const nlohmann::json& row : rows) {
    const std::string name = row.at("name");
    for (const course::Lab& lab : labs)
      for (const course::Stage& stage : lab.stages)
        if (name == std::to_string(stage.number) + " " + stage.kernel) return lab.id;
  }
  return "";
}

base::Result<MeasuredFigures> rows_of_bench(const judge::Workplace& place,
                                            const judge::Tools& tools, const FigureRun& run,
                                            const std::atomic<bool>* stop) {
  // All labs, also where a call names some: every contest runs, and each has its own lab's name.
  const auto course = course::read_course(place.root);
  if (!course) return course.error();
  const std::string title = run.run.substr(std::string_view(kBench).size());
  const base::ScratchFolder folder("figures");
  const fs::path file = folder.path() / "bench.json";
  const auto outcome = base::run_process(
      {.arguments = {bench_of(place).string(), "--labs", (place.root / "labs").string(), "--only",
                     title, "--json", file.string()},
       .environment = tools.device.environment,
       .stop = stop});
  if (!outcome) return outcome.error();
  if (outcome->stopped) return MeasuredFigures{};
  if (outcome->exit_code != 0)
    return base::Error{base::ErrorKind::kMachine, "membound_bench --only \"" + title + "\"",
                       outcome->output, "a contest without a wrong result", ""};
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const nlohmann::json bench = nlohmann::json::parse(*text);
  MeasuredFigures rows;
  for (const nlohmann::json& group : bench.at("groups")) {
    if (group.at("title") != title) continue;  // another one's title may hold this one
    const std::string lab = lab_of_contest(course->labs, group.at("rows")), unit = group.at("unit");
    for (const nlohmann::json& row : group.at("rows")) {
      const std::string name = row.at("name"), role = row.at("role");
      const double rate = row.at("rate"), us = row.at("median_ns").get<double>() / 1e3;
      rows.push_back({lab, run.run, name + (unit == "Tops/s" ? ".tops" : ".gbs"), role, rate, unit,
                      title, "", ""});
      rows.push_back({lab, run.run, name + ".us", role, us, "µs", title, "", ""});
    }
  }
  return rows;
}

}  // namespace

base::Result<MeasuredFigures> measure_figures(const judge::Workplace& place,
                                              const judge::Tools& tools,
                                              const std::vector<const course::Lab*>& labs,
                                              const FigureRun& run, const std::atomic<bool>* stop) {
  base::Result<MeasuredFigures> rows = MeasuredFigures{};
  if (run.run.starts_with(kBench))
    rows = rows_of_bench(place, tools, run, stop);
  else if (run.run.starts_with(kExperiment))
    rows = rows_of_experiment(place, tools, run, stop);
  else if (const course::Lab* const lab = lab_of(labs, run.lab))
    rows = rows_of_claims(place, tools, *lab, run, stop);
  if (!rows) return rows;
  if (stop != nullptr && stop->load()) return MeasuredFigures{};
  const std::string date = today(), driver = driver_of(tools);
  for (MeasuredFigure& row : *rows) {
    row.date = date;
    row.driver = driver;
  }
  return rows;
}

namespace {

/// "4,161", "27.1", "0.0552".
std::string digits_shown(double value) {
  constexpr double kWhole = 100, kTenths = 10, kHundredths = 1;
  const int digits = value >= kWhole ? 0 : value >= kTenths ? 1 : value >= kHundredths ? 2 : 3;
  std::string text = base::decimal(value, digits);
  constexpr std::size_t kGroup = 3;
  for (std::size_t at = std::min(text.find('.'), text.size()); at > kGroup; at -= kGroup)
    text.insert(at - kGroup, ",");
  return text;
}

/// A line of a table: one kernel at one piece of work.
struct SpeedRow {
  std::string work, name, role;
  friend bool operator==(const SpeedRow&, const SpeedRow&) = default;
};

/// What one GPU has for it.
struct SpeedCells {
  std::optional<double> us, rate;
  std::string unit;
};

using SpeedsOfGpu = std::vector<std::pair<SpeedRow, SpeedCells>>;

/// What a GPU's file says of the contests whose titles begin with `title`.
SpeedsOfGpu speeds_of(const MeasuredFigures& figures, const course::Lab& lab,
                      const std::string& title) {
  SpeedsOfGpu speeds;
  for (const MeasuredFigure& figure : figures) {
    const bool fits =
        title == kStages ? figure.run.empty() : figure.run.starts_with(kBench + title);
    const std::size_t point = figure.figure.rfind('.');
    if (figure.lab != lab.id || !fits || point == std::string::npos) continue;
    const std::string last = figure.figure.substr(point);
    if (last != ".us" && last != ".gbs" && last != ".tops") continue;
    SpeedRow row{figure.size, figure.figure.substr(0, point), figure.role};
    if (title == kStages)
      for (const course::Stage& stage : lab.stages)
        if (row.name == std::to_string(stage.number)) row.name += " " + stage.kernel;
    auto found = std::ranges::find(speeds, row, &std::pair<SpeedRow, SpeedCells>::first);
    if (found == speeds.end()) found = speeds.insert(speeds.end(), {row, {}});
    (last == ".us" ? found->second.us : found->second.rate) = figure.value;
    if (last != ".us") found->second.unit = figure.unit;
  }
  return speeds;
}

/// The speed of what the rows of this work are compared with: a library's, else a ceiling's.
std::optional<double> peer_of(const SpeedsOfGpu& speeds, const std::string& work) {
  for (const char* role : {"library", "ceiling"})
    for (const auto& [row, cells] : speeds)
      if (row.work == work && row.role == role && cells.rate) return cells.rate;
  return std::nullopt;
}

/// `has_rate`: programs have a time alone.
std::string cells_for(const SpeedsOfGpu& speeds, const SpeedRow& row, bool has_rate) {
  const auto found = std::ranges::find(speeds, row, &std::pair<SpeedRow, SpeedCells>::first);
  const SpeedCells cells = found == speeds.end() ? SpeedCells{} : found->second;
  constexpr double kUsOfAMs = 1e3;
  const std::string time = " " + (cells.us ? digits_shown(*cells.us / kUsOfAMs) : "–") + " |";
  if (!has_rate) return time;
  const auto peer = peer_of(speeds, row.work);
  return time + " " + (cells.rate ? digits_shown(*cells.rate) : "–") + " | " +
         (cells.rate && peer ? base::decimal(*cells.rate / *peer, 2) : "–") + " |";
}

/// "H200: driver 580.159.04, 2026-11-21".
std::string measured_when(const MeasuredFigures& figures, const course::Lab& lab,
                          const std::string& title) {
  for (const MeasuredFigure& figure : figures)
    if (figure.lab == lab.id &&
        (title == kStages ? figure.run.empty() : figure.run.starts_with(kBench + title)))
      return "driver " + figure.driver + ", " + figure.date;
  return "";
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string speed_table(const std::map<std::string, MeasuredFigures>& all, const course::Lab& lab,
                        const std::string& title) {
  std::map<std::string, SpeedsOfGpu> speeds;
  std::vector<SpeedRow> rows;
  std::string unit, head = "| ", line = "| --- |", measured;
  for (const auto& [gpu, figures] : all) {
    SpeedsOfGpu of_gpu = speeds_of(figures, lab, title);
    if (of_gpu.empty()) continue;
    for (const auto& [row, cells] : of_gpu) {
      if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
      if (!cells.unit.empty()) unit = cells.unit;
    }
    base::add_word(measured, upper(gpu) + ": " + measured_when(figures, lab, title), "; ");
    speeds[gpu] = std::move(of_gpu);
  }
  if (rows.empty())
    return "No GPU's times stand here yet. `./membound dev ladder " + lab.id.substr(0, 2) +
           "` shows those of yours.\n";
  const bool several =
      std::ranges::any_of(rows, [&](const SpeedRow& row) { return row.work != rows.front().work; });
  head += several ? "work | kernel |" : "kernel |";
  if (several) line += " --- |";
  for (const auto& [gpu, of_gpu] : speeds) {
    head += " " + upper(gpu) + ": ms | " + (unit.empty() ? "" : unit + " | of the peer |");
    line += unit.empty() ? " ---: |" : " ---: | ---: | ---: |";
  }
  std::string text = head + "\n" + line + "\n";
  for (const SpeedRow& row : rows) {
    text += "| " + (several ? row.work + " | " : "") + row.name + " |";
    for (const auto& [gpu, of_gpu] : speeds) text += cells_for(of_gpu, row, !unit.empty());
    text += "\n";
  }
  return text + "\n" + measured +
         ". In Membound's repository `membound dev figures` makes these figures for any GPU.\n";
}

}  // namespace

base::Result<std::vector<WrittenPart>> speed_parts(const course::Lab& lab, const fs::path& root) {
  static const std::regex kPlace("<!-- (speeds of ([^:\n]+)): written by");
  std::vector<WrittenPart> parts;
  const auto page = base::read_file(root / lab.handout);
  if (!page) return parts;  // what reads the page says so
  const auto all = read_all_measured(root);
  if (!all) return all.error();
  for (std::sregex_iterator place(page->begin(), page->end(), kPlace), end; place != end; ++place)
    parts.push_back({lab.handout.generic_string(), (*place)[1].str(),
                     speed_table(*all, lab, (*place)[2].str()), "handouts/measured_*.csv"});
  return parts;
}

std::vector<Drift> check_measured_texts(const std::string& lab, const fs::path& root, bool fix) {
  const auto all = read_all_measured(root);
  if (!all)
    return {{"handouts", 0, base::to_string(all.error()), "tables of measured figures", ""}};
  const auto rows = read_predicted(root);
  if (!rows) return {};  // check_predicted_texts() says so
  std::vector<Drift> drifts;
  for (const PredictedText& row : *rows) {
    const auto table = all->find(row.device);
    if (row.lab != lab || table == all->end()) continue;
    for (Drift& drift : check_predicted({row}, said_by(table->second, lab, row.run), true,
                                        "membound dev check --fix", root, fix))
      drifts.push_back(std::move(drift));
  }
  return drifts;
}

}  // namespace membound::authoring
