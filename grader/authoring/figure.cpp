// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/judge.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

/// What a run left, and whose source its lines are.
struct Traced {
  std::vector<course::KernelProfile> profiles;
  std::filesystem::path source;  ///< the answer's file; empty for a counters file
  std::string subject;           ///< "03-transpose, stage 1"
  bool never_ends = false;       ///< the kernel was stopped
};

base::Error input_error(std::string where, std::string found, std::string expected,
                        std::string advice) {
  return {base::ErrorKind::kInput, std::move(where), std::move(found), std::move(expected),
          std::move(advice)};
}

std::string first_failure(const course::StageResult& stage) {
  for (const course::TestOutcome& test : stage.tests)
    if (!test.passed) return test.name + ": " + test.message;
  return stage.findings.empty() ? "" : stage.findings.front().text;
}

base::Result<fs::path> answer_file(const judge::Workplace& place, const course::Lab& lab,
                                   const std::string& answer) {
  fs::path file = answer;
  if (answer == "reference") file = place.tree(lab) / "solutions" / lab.id / "kernel.cu";
  if (answer == "skeleton") file = lab.folder / "kernel.cu";
  std::error_code error;
  if (fs::exists(file, error)) return fs::absolute(file, error);
  return input_error("--answer " + answer, "there is no such file",
                     "reference, skeleton, or a kernel.cu", "");
}

/// Loops that wait may fill so much of a trace for each step that is drawn.
constexpr int kPollsAStep = 40;

/// Runs the answer that `options` name, and traces the warp; `scheduling` as MEMBOUND_SCHEDULING.
base::Result<Traced> run_lab(const judge::Workplace& place, const course::Course& course,
                             const FigureOptions& options, const std::string& scheduling) {
  const auto lab = course.find(options.what);
  if (!lab) return lab.error();
  const int number = options.stage == 0 ? (*lab)->stages.front().number : options.stage;
  if ((*lab)->stage(number) == nullptr) {
    return base::Error{base::ErrorKind::kUsage, "--stage",
                       (*lab)->id + " has no stage " + std::to_string(number),
                       "1 to " + std::to_string((*lab)->stages.size()), ""};
  }
  const auto file = answer_file(place, **lab, options.answer);
  if (!file) return file.error();
  judge::CheckOptions check;
  check.device = options.device;
  check.compiler = options.compiler;
  check.submission = file->string();
  check.no_gpu = base::Error{base::ErrorKind::kUsage, "--device",
                             "a GPU does not tell what its lanes do", "vgpu or vgpu:MODEL", ""};
  const auto tools = judge::choose_tools(place, check);
  if (!tools) return tools.error();
  judge::CheckRequest request = judge::request_for(place, *tools, check, {*lab, {number}}, nullptr);
  request.more_arguments = {
      "--counters", "--gtest_filter=*." + std::string(to_string(course::BuiltInTest::kSpeed))};
  if (!options.size.empty())
    request.more_arguments.insert(request.more_arguments.end(), {"--size", options.size});
  request.device.environment["MEMBOUND_CACHES"] = "off";
  request.device.environment["MEMBOUND_TRACE"] =
      options.block + ":" + std::to_string(options.warp) + ":" +
      std::to_string(std::max(options.occurrence + 1,
                              options.steps * (options.schedulings ? kPollsAStep : 1)));
  if (!scheduling.empty()) request.device.environment["MEMBOUND_SCHEDULING"] = scheduling;
  auto code = judge::compile_submission(request);
  if (!code) return code.error();
  judge::CompiledPart& part = code->parts.front();
  if (!part.submission.compiled)
    return input_error(file->string(), "does not compile:\n" + part.submission.output, "", "");
  part.reference = part.submission.file;  // nothing is graded: one answer is enough
  const auto result = judge::run_and_judge(request, *code);
  if (!result) return result.error();
  const course::StageResult& stage = result->stages.front();
  if (stage.profiles.empty()) {
    return input_error(
        file->string(),
        "its kernel of stage " + std::to_string(number) + " did not run: " + first_failure(stage),
        "a kernel that runs", "membound check " + (*lab)->id + "/" + std::to_string(number));
  }
  const bool never_ends = std::ranges::any_of(stage.tests, [](const course::TestOutcome& test) {
    return !test.passed && test.name == to_string(course::BuiltInTest::kTimeout);
  });
  return Traced{stage.profiles, *file, (*lab)->id + ", stage " + std::to_string(number),
                never_ends};
}

/// What an earlier run wrote.
base::Result<Traced> read_counters(const FigureOptions& options) {
  const auto text = base::read_file(options.what);
  if (!text) return text.error();
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("kernels"))
    return input_error(options.what, "is not a counters file", "docs/counters_file.md",
                       "membound run --counters FILE --trace -- PROGRAM");
  return Traced{judge::profiles(json), {}, fs::path(options.what).filename().string(), false};
}

constexpr std::string_view kOpen = "<?membound-figure ", kClose = "?>";

/// In quotes, with a backslash before quotes and backslashes, where a word is not plain.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("-_.,/:").find(c) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

void add(std::string& text, const char* name, const std::string& value,
         const std::string& default_value) {
  if (value != default_value) text += std::string(" ") + name + " " + quoted(value);
}

}  // namespace

std::string figure_mark(const FigureOptions& options) {
  const FigureOptions usual;
  std::string text = quoted(options.what);
  const auto number = [](int value) { return std::to_string(value); };
  add(text, "--stage", number(options.stage), number(usual.stage));
  add(text, "--answer", options.answer, usual.answer);
  add(text, "--line", options.line, usual.line);
  add(text, "--ptx-line", number(options.ptx_line), number(usual.ptx_line));
  add(text, "--kernel", options.kernel, usual.kernel);
  add(text, "--access", options.access, usual.access);
  add(text, "--kind", options.kind, usual.kind);
  add(text, "--block", options.block, usual.block);
  add(text, "--warp", number(options.warp), number(usual.warp));
  add(text, "--occurrence", number(options.occurrence), number(usual.occurrence));
  add(text, "--steps", number(options.steps), number(usual.steps));
  if (options.moving) text += " --moving";
  if (options.schedulings) text += " --schedulings";
  add(text, "--size", options.size, usual.size);
  add(text, "--title", options.title, usual.title);
  add(text, "--device", options.device, usual.device);
  return std::string(kOpen) + text + std::string(kClose) + "\n";
}

std::vector<std::string> figure_words(const std::string& svg) {
  const std::size_t open = svg.find(kOpen);
  const std::size_t close = open == std::string::npos ? open : svg.find(kClose, open);
  if (close == std::string::npos) return {};
  std::vector<std::string> words;
  bool in_word = false, in_quotes = false;
  for (std::size_t i = open + kOpen.size(); i < close; ++i) {
    const char c = svg[i];
    if (!in_quotes && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '"')
      in_quotes = !in_quotes;
    else if (c == '\\' && in_quotes && i + 1 < close)
      words.back() += svg[++i];
    else
      words.back() += c;
  }
  return words;
}

base::Result<FigureOptions> figure_options(const std::vector<std::string>& words) {
  FigureOptions options;
  CLI::App app;
  add_figure_options(app, options);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return base::Error{base::ErrorKind::kInput, "", error.what(), "options of membound dev figure",
                       "make the figure again"};
  }
  return options;
}

namespace {

using course::KernelProfile;
using course::MemoryAccess;

/// The lines `wanted` means: a number, or all that hold the text.
std::set<int> wanted_lines(const Traced& traced, const std::string& wanted) {
  int number = 0;
  const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (code == std::errc() && end == wanted.data() + wanted.size()) return {number};
  std::set<int> lines;
  const auto text = base::read_file(traced.source);
  if (!text) return lines;
  int line = 1;
  for (std::size_t at = 0; at < text->size(); ++line) {
    const std::size_t stop = std::min(text->find('\n', at), text->size());
    if (text->substr(at, stop - at).find(wanted) != std::string::npos) lines.insert(line);
    at = stop + 1;
  }
  return lines;
}

bool is_of(const Traced& traced, const MemoryAccess& access) {
  return traced.source.empty() || fs::path(access.file).filename() == traced.source.filename();
}

bool fits(const FigureOptions& options, const Traced& traced, const std::set<int>& lines,
          const MemoryAccess& access) {
  if (options.ptx_line > 0 && access.ptx_line != options.ptx_line) return false;
  if (!options.line.empty() && (!lines.contains(access.line) || !is_of(traced, access)))
    return false;
  if (!options.access.empty() && access.kind != options.access) return false;
  return options.kind.empty() || (options.kind == "banks") == access.is_shared();
}

/// "line 40: load, 4 sectors per request, ideal 4".
std::string access_text(const MemoryAccess& access) {
  const std::string place = access.line > 0 ? "line " + std::to_string(access.line)
                                            : "PTX line " + std::to_string(access.ptx_line);
  return place + ": " + (access.is_shared() ? "shared " : "") + access.kind + ", " +
         report::cost_in_words(access);
}

std::string list_accesses(const std::vector<const KernelProfile*>& kernels) {
  std::vector<std::string> rows;
  for (const KernelProfile* kernel : kernels)
    for (const MemoryAccess& access : kernel->accesses)
      if (std::find(rows.begin(), rows.end(), access_text(access)) == rows.end())
        rows.push_back(access_text(access));
  std::string text = rows.empty() ? "none at all by this warp: does it run?" : "";
  for (const std::string& row : rows) text += "\n    " + row;
  return text;
}

/// Those that `--kernel` means, at least one.
base::Result<std::vector<const KernelProfile*>> kernels_of(const FigureOptions& options,
                                                           const Traced& traced) {
  std::vector<const KernelProfile*> kernels;
  for (const KernelProfile& profile : traced.profiles)
    if (profile.name.find(options.kernel) != std::string::npos) kernels.push_back(&profile);
  if (!kernels.empty()) return kernels;
  std::vector<std::string> names;
  for (const KernelProfile& profile : traced.profiles) names.push_back(profile.name);
  return input_error("--kernel " + options.kernel, "no kernel that ran has this in its name",
                     report::listed(names), "");
}

/// The accesses of one kernel that are meant; those of different kinds are not mixed up.
base::Result<const MemoryAccess*> choose(const FigureOptions& options, const Traced& traced,
                                         const KernelProfile** chosen) {
  const auto meant = kernels_of(options, traced);
  if (!meant) return meant.error();
  const std::vector<const KernelProfile*>& kernels = *meant;
  const std::set<int> lines = wanted_lines(traced, options.line);
  std::vector<const MemoryAccess*> found;
  for (const KernelProfile* kernel : kernels) {
    for (const MemoryAccess& access : kernel->accesses)
      if (fits(options, traced, lines, access)) found.push_back(&access);
    *chosen = kernel;
    if (!found.empty()) break;
  }
  const std::string where = options.ptx_line > 0 ? "--ptx-line " + std::to_string(options.ptx_line)
                                                 : "--line " + options.line;
  if (found.empty()) {
    return input_error(where,
                       "block " + options.block + ", warp " + std::to_string(options.warp) +
                           " makes no such access",
                       "one of these:" + list_accesses(kernels), "");
  }
  for (const MemoryAccess* access : found) {
    if (access->kind == found.front()->kind && access->space == found.front()->space) continue;
    return input_error(
        where,
        "has different accesses: " + access_text(*found.front()) + "; " + access_text(*access),
        "one of them", "--access load|store, --kind sectors|banks");
  }
  if (static_cast<std::size_t>(options.occurrence) >= found.size()) {
    return input_error("--occurrence " + std::to_string(options.occurrence),
                       "the warp makes this access " + std::to_string(found.size()) + " times",
                       "a number below that; the first is 0", "");
  }
  return found[static_cast<std::size_t>(options.occurrence)];
}

std::string warp_in_words(const FigureOptions& options, const KernelProfile& kernel) {
  const auto& block = kernel.traced_block;
  std::string text = "block (" + std::to_string(block[0]) + ", " + std::to_string(block[1]) + ", " +
                     std::to_string(block[2]) + "), warp " + std::to_string(kernel.traced_warp);
  if (options.occurrence > 0)
    text += ", access " + std::to_string(options.occurrence + 1) + " of the line";
  return text;
}

/// `svg` with the command that made it after the license.
std::string with_mark(std::string svg, const FigureOptions& options) {
  const std::string license = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n";
  svg.insert(svg.find(license) + license.size(), figure_mark(options));
  return svg;
}

/// The warp's first accesses, one after the other.
base::Result<std::string> draw_first_steps(const FigureOptions& options, const Traced& traced) {
  const auto kernels = kernels_of(options, traced);
  if (!kernels) return kernels.error();
  const KernelProfile& kernel = *kernels->front();
  std::vector<MemoryAccess> accesses = kernel.accesses;
  accesses.resize(std::min(accesses.size(), static_cast<std::size_t>(options.steps)));
  if (accesses.empty())
    return input_error("--steps " + std::to_string(options.steps),
                       "block " + options.block + ", warp " + std::to_string(options.warp) +
                           " of " + kernel.name + " asks nothing of memory",
                       "a warp that does", "--block, --warp");
  const auto draw = options.moving ? report::draw_moving : report::draw_steps;
  return draw(accesses, options.title.empty() ? traced.subject : options.title,
              warp_in_words(options, kernel), true);
}

/// The lines of the answer's text by their numbers, without what stands before them.
std::map<int, std::string> lines_of(const fs::path& source) {
  std::map<int, std::string> lines;
  const auto read = base::read_file(source);
  std::istringstream text(read ? *read : std::string());
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) lines[number] = line.substr(begin);
  }
  return lines;
}

/// The warp's first steps under either scheduling.
base::Result<std::string> draw_both_schedulings(const judge::Workplace& place,
                                                const course::Course& course,
                                                const FigureOptions& options) {
  std::array<report::ScheduledRun, 2> runs;
  std::string subject, where;
  std::map<int, std::string> source;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto traced = run_lab(place, course, options, i == 0 ? "lockstep" : "independent");
    if (!traced) return traced.error();
    const auto kernels = kernels_of(options, *traced);
    if (!kernels) return kernels.error();
    const KernelProfile& kernel = **std::ranges::max_element(
        *kernels, {}, [](const KernelProfile* each) { return each->accesses.size(); });
    runs[i] = {kernel.accesses, traced->never_ends};
    subject = traced->subject;
    where = warp_in_words(options, kernel);
    source = lines_of(traced->source);
  }
  return report::draw_schedulings(runs[0], runs[1], source, static_cast<std::size_t>(options.steps),
                                  options.title.empty() ? subject : options.title, where);
}

base::Result<std::string> draw_one_access(const FigureOptions& options, const Traced& traced) {
  const KernelProfile* kernel = nullptr;
  const auto access = choose(options, traced, &kernel);
  if (!access) return access.error();
  std::string title = options.title;
  if (title.empty())
    title =
        traced.subject + ": " + access_text(**access).substr(0, access_text(**access).find(','));
  return report::draw_access(**access, title, warp_in_words(options, *kernel));
}

/// The figure of a description, which is named from the course's root on or from here.
base::Result<std::string> draw_described(const judge::Workplace& place, FigureOptions options) {
  std::error_code error;
  fs::path file = place.root / options.what;
  if (!fs::exists(file, error)) file = fs::absolute(options.what, error);
  const auto text = base::read_file(file);
  if (!text) return text.error();
  options.what = file.lexically_normal().lexically_proximate(place.root).generic_string();
  auto svg = draw_description(*text, options.what, place.root);
  return svg ? base::Result<std::string>(with_mark(*std::move(svg), options)) : svg.error();
}

}  // namespace

void add_figure_options(CLI::App& app, FigureOptions& options) {
  const auto one_of = [](std::initializer_list<std::string> words) {
    return CLI::IsMember(std::vector<std::string>(words));
  };
  app.add_option("LAB", options.what)->required();
  app.add_option("--stage", options.stage)->check(CLI::NonNegativeNumber);
  app.add_option("--answer", options.answer);
  app.add_option("--line", options.line);
  app.add_option("--ptx-line", options.ptx_line)->check(CLI::NonNegativeNumber);
  app.add_option("--kernel", options.kernel);
  app.add_option("--access", options.access)->check(one_of({"load", "store"}));
  app.add_option("--kind", options.kind)->check(one_of({"sectors", "banks"}));
  app.add_option("--block", options.block);
  app.add_option("--warp", options.warp)->check(CLI::NonNegativeNumber);
  app.add_option("--occurrence", options.occurrence)->check(CLI::Range(0, 4000));
  app.add_option("--steps", options.steps)->check(CLI::Range(0, 64));
  app.add_flag("--moving", options.moving);
  app.add_flag("--schedulings", options.schedulings);
  app.add_option("--size", options.size);
  app.add_option("--title", options.title);
  app.add_option("--device", options.device);
  app.add_option("--compiler", options.compiler)->check(one_of({"nvcc", "clang"}));
}

base::Result<std::string> draw_figure(const judge::Workplace& place, const course::Course& course,
                                      const FigureOptions& asked) {
  if (asked.what.ends_with(".yml")) return draw_described(place, asked);
  FigureOptions options = asked;
  if (options.line.empty() && options.ptx_line == 0 && options.steps == 0) {
    return base::Error{base::ErrorKind::kUsage, "membound dev figure", "which access is not said",
                       "--line NUMBER, --line TEXT, --ptx-line NUMBER or --steps NUMBER",
                       "membound dev figure --help"};
  }
  while (std::count(options.block.begin(), options.block.end(), ',') < 2) options.block += ",0";
  const bool file = options.what.ends_with(".json");
  if (options.schedulings && options.steps > 0 && !file) {
    auto both = draw_both_schedulings(place, course, options);
    return both ? base::Result<std::string>(with_mark(*std::move(both), options)) : both.error();
  }
  const auto traced = file ? read_counters(options) : run_lab(place, course, options, "");
  if (!traced) return traced.error();
  auto svg =
      options.steps > 0 ? draw_first_steps(options, *traced) : draw_one_access(options, *traced);
  return svg ? base::Result<std::string>(with_mark(*std::move(svg), asked)) : svg.error();
}

namespace {

/// The pictures of a folder: those that are there, and those that are described there.
std::set<fs::path> pictures_in(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    fs::path file = entry->path();
    if (file.extension() == ".txt") continue;  // in letters: handout_check looks at it
    files.insert(file.extension() == ".yml" ? file.replace_extension(".svg") : file);
  }
  return files;
}

/// Holds the picture against what was made of its source; with `fix`, writes it.
void compare(const fs::path& root, const fs::path& file, const base::Result<std::string>& made,
             const std::string& source, bool fix, FigureCheck& check) {
  const std::string shown = file.lexically_relative(root).generic_string();
  if (!made) {
    check.drifts.push_back({shown, 0, "cannot be made again: " + base::to_string(made.error()),
                            "a figure of kernels and descriptions as they are",
                            "membound dev figure --help"});
    return;
  }
  const auto old = base::read_file(file);
  if (old && *old == *made) return;
  if (fix && base::write_file(file, *made)) {
    ++check.rewritten;
    return;
  }
  check.drifts.push_back({shown, 0, source + " something else by now",
                          "the figure that its own command draws",
                          "membound dev check --fix, and look at it"});
}

bool is_described(const fs::path& file) {
  std::error_code error;
  return fs::exists(fs::path(file).replace_extension(".yml"), error);
}

}  // namespace

FigureCheck check_drawings(const judge::Workplace& place, const course::Lab& lab, bool fix) {
  FigureCheck check;
  for (const fs::path& file : pictures_in(place.tree(lab) / "handouts" / lab.id / "figures")) {
    if (!is_described(file)) {
      const auto picture = base::read_file(file);
      if (!picture || figure_words(*picture).empty())
        check.drifts.push_back(
            {file.lexically_relative(place.root).generic_string(), 0,
             "it was drawn by hand: neither a description is beside it, nor does "
             "it name the run that drew it",
             "a generated figure", "docs/drawing_figures.md"});
      continue;
    }
    FigureOptions options;
    options.what =
        fs::path(file).replace_extension(".yml").lexically_relative(place.root).generic_string();
    compare(place.root, file, draw_figure(place, {}, options), "its description says", fix, check);
  }
  return check;
}

base::Result<FigureCheck> check_figures(const judge::Workplace& place, const course::Course& course,
                                        const course::Lab& lab, bool fix) {
  FigureCheck check;
  for (const fs::path& file : pictures_in(place.tree(lab) / "handouts" / lab.id / "figures")) {
    if (is_described(file)) continue;
    const auto old = base::read_file(file);
    if (!old) return old.error();
    const std::vector<std::string> words = figure_words(*old);
    if (words.empty()) continue;
    const auto options = figure_options(words);
    const auto made =
        options ? draw_figure(place, course, *options) : base::Result<std::string>(options.error());
    if (!made && made.error().kind == base::ErrorKind::kMachine) return made.error();
    compare(place.root, file, made, "the kernels do", fix, check);
  }
  return check;
}

}  // namespace membound::authoring
