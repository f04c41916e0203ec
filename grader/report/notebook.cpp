// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handout as a notebook of Jupyter: its text in cells, and below each stage's text a cell with
/// the stage's part of the skeleton. What `%course`, `%predict`, `%figure` and `%%kernel` do:
/// grader/launcher/wheel/membound_notebook.py. The format: nbformat 4.5.
#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/report/handout.hpp"
#include "grader/report/markdown_html.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kAfterwards = "## After you are done";
constexpr std::string_view kStageHeading = "### Stage ";
constexpr std::string_view kPrediction = "<!-- prediction ";
constexpr std::string_view kEndOfPrediction = "<!-- end of prediction ";
constexpr std::string_view kFence = "```";
/// Of all pictures that stand in the text of one notebook, encoded. The larger ones are read from
/// the course when their cell runs, so that a notebook stays below kMostNotebookBytes.
constexpr std::size_t kMostPictureBytes = 100'000;
/// What a notebook has besides its text, skeleton and pictures: the first cells and each cell's
/// frame.
constexpr std::size_t kFrameBytes = 16'000;

// The first cell. Several ways lead to the module: it is installed, this is a clone of the course,
// or SOURCE says where to get one of both.
constexpr std::string_view kSetUp =
    R"(# FOLDER keeps your work; the course is laid out there. Empty: the course around this notebook, else "cuda-labs".
# Colab forgets its own folders: "/content/drive/MyDrive/cuda-labs" keeps it in your Drive. On Kaggle save a version.
FOLDER = ""
# SOURCE is a wheel of Membound (a file or an address ending in .whl), or the address of a Git repository with the
# course. Empty where Membound is installed, where this is a clone, and where the wheel lies beside this notebook.
SOURCE = ""

import glob, importlib.util, os, subprocess, sys
def has_membound(*folders):
    sys.path.extend(os.path.abspath(f"{folder}/grader/launcher/wheel") for folder in folders)
    importlib.invalidate_caches()
    return importlib.util.find_spec("membound_notebook") is not None
if not has_membound(".", "..", "../.."):
    if SOURCE and not SOURCE.endswith(".whl"):
        subprocess.run(["git", "clone", "--depth", "1", SOURCE, FOLDER or "cuda-labs"], check=True)
    else:
        places = ["membound-*.whl", "/kaggle/input/**/membound-*.whl"]
        wheels = [SOURCE] if SOURCE else sorted(sum((glob.glob(place, recursive=True) for place in places), []))
        assert wheels, "SOURCE is empty, and no wheel of Membound lies beside this notebook"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", wheels[-1]], check=True)
assert has_membound(FOLDER or "cuda-labs"), "this is no Membound: see SOURCE above"
%load_ext membound_notebook
%course $FOLDER)";

/// An SVG picture without what stands before it and the ends of lines between its elements.
std::string compact(std::string_view svg) {
  svg.remove_prefix(std::min(svg.find("<svg"), svg.size()));
  std::string text;
  for (std::size_t at = 0; at < svg.size(); ++at) {
    text += svg[at];
    if (svg.substr(at, 2) != ">\n") continue;  // a space in a line may stand between words
    const auto next = std::min(svg.find_first_not_of(" \n", at + 1), svg.size());
    if (next == svg.size() || svg[next] == '<') at = next - 1;
  }
  return text;
}

/// The target of a picture "![words](target)" at the front; empty for another text.
std::string_view picture_target(std::string_view text) {
  if (!text.starts_with("![")) return {};
  const auto middle = text.find("]("), end = text.find(')', middle);
  if (middle == text.npos || end == text.npos) return {};
  return text.substr(middle + 2, end - middle - 2);
}

/// Writes the cells of one notebook in their order.
class Notebook {
 public:
  Notebook(const course::Lab& lab, std::string file, const NotebookSource& source)
      : lab_(lab), file_(std::move(file)), source_(source), number_(lab.id.substr(0, 2)) {}

  base::Result<std::string> written(std::string_view markdown) {
    markdown = markdown.substr(0, markdown.find("\n" + std::string(kAfterwards)));
    const auto sections = sections_of(markdown, file_);
    if (!sections) return sections.error();
    if (const auto chosen = choose_pictures(markdown); !chosen) return chosen.error();
    for (const Section& section : *sections) {
      if (section.solved_stage > 0) {
        text_ += locked_note(number_, section.solved_stage) + "\n";
      } else if (section.folded()) {
        text_ += "\n<details>\n<summary>" + inline_html(section.summary) + "</summary>\n\n" +
                 prose(section.text) + "\n</details>\n\n";
      } else {
        add_section(section.text);
      }
    }
    end_stage();
    add_beside(false);
    for (const course::Stage& stage : lab_.stages)
      if (!seen_.contains(stage.number))
        return broken("no section \"" + std::string(kStageHeading) + std::to_string(stage.number) +
                      ": …\"");
    if (!problem_.empty()) return broken(problem_);
    add_text(
        "## After you are done\n\n`%membound solution " + number_ +
        "/1` shows our answer beside yours once yours has passed, where this copy of the course "
        "holds the answers; the last part of the handout, `%membound handout " +
        number_ + " --text`, then explains them.\n");
    std::string text = notebook().dump(1) + "\n";
    if (text.size() > kMostNotebookBytes)
      return broken("its notebook has " + std::to_string(text.size()) + " bytes, and at most " +
                    std::to_string(kMostNotebookBytes) + " are allowed");
    return text;
  }

 private:
  base::Error broken(const std::string& found) const {
    return {base::ErrorKind::kInput, file_, found,
            "a section for each stage, pictures that are there, a skeleton with every stage's head",
            "mend the handout or the skeleton: the notebook is made of both"};
  }

  /// The smallest pictures stand in the text, as many as there is room for. Pictures that move do
  /// not: an <img> shows only their first state.
  base::Status choose_pictures(std::string_view markdown) {
    std::map<std::string, std::string, std::less<>> all;
    for (auto at = markdown.find("!["); at != markdown.npos; at = markdown.find("![", at + 2)) {
      const std::string target(picture_target(markdown.substr(at)));
      if (target.empty() || all.contains(target)) continue;
      const std::string svg = source_.figure ? source_.figure(target) : std::string();
      if (svg.empty()) return broken("no picture " + target);
      all[target] = svg;
    }
    std::vector<std::pair<std::size_t, std::string>> by_size;
    for (const auto& [target, svg] : all) {
      const FigureSource picture =
          figure_source(svg, "data:image/svg+xml;base64," + base64(compact(svg)));
      const std::string width =
          picture.width > 0 ? "\" width=\"" + std::to_string(picture.width) : "";
      images_[target] = "<img alt=\"" + escaped(picture.description.substr(0, 300)) + width +
                        "\" src=\"" + picture.address + "\">";
      by_size.emplace_back(images_[target].size(), target);
    }
    std::ranges::sort(by_size);
    // As JSON, a line at a time, text takes some more.
    const std::size_t of_text = kFrameBytes + (markdown.size() + source_.kernel.size()) * 5 / 4;
    const std::size_t most =
        std::min(kMostPictureBytes, kMostNotebookBytes - std::min(kMostNotebookBytes, of_text));
    std::size_t bytes = 0;
    for (const auto& [size, target] : by_size) {
      bytes += size;
      if (bytes > most) images_.erase(target);
    }
    return base::Done{};
  }

  /// Text that is not folded: headings begin cells and end stages, a prediction becomes a cell.
  void add_section(std::string_view markdown) {
    std::istringstream lines{std::string(markdown)};
    std::string part;
    bool in_code = false, in_prediction = false;
    const auto end_part = [&] {
      text_ += prose(part);
      part.clear();
    };
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kFence)) in_code = !in_code;
      const bool is_heading = !in_code && (line.starts_with("## ") || line.starts_with("### "));
      if (is_heading) {
        end_part();
        end_stage();
        if (line.starts_with(kStageHeading)) begin_stage(line);
      }
      if (line.starts_with(kEndOfPrediction)) {
        in_prediction = false;
        end_part();
        add_prediction();
      } else if (line.starts_with(kPrediction)) {
        in_prediction = true;
      } else if (!in_prediction || !line.starts_with("`./membound predict")) {
        part += line + "\n";
      }
    }
    end_part();
  }

  void begin_stage(std::string_view heading) {
    heading.remove_prefix(kStageHeading.size());
    std::from_chars(heading.data(), heading.data() + heading.size(), stage_);
    if (lab_.stage(stage_) == nullptr) {
      problem_ = "a section of stage " + std::to_string(stage_) + ", which the lab does not have";
      stage_ = 0;
    }
  }

  /// What is handed in beside the code: answers, which a stage's check reads, or a write-up of what
  /// the stages have shown.
  void add_beside(bool before_the_stages) {
    for (const auto& [name, text] : source_.beside)
      if (const bool is_read = name == course::kAnswersFile; is_read == before_the_stages)
        add_code("answers", "%%answers " + number_ + (is_read ? "" : " " + name) + "\n" + text);
  }

  void end_stage() {
    add_text(std::exchange(text_, ""));
    if (stage_ == 0) return;
    if (seen_.empty()) add_beside(true);
    const std::string name = "stage-" + std::to_string(stage_);
    std::string code = course::stage_text(source_.kernel, stage_);
    if (course::stage_of_head(code) != stage_)
      problem_ = "the skeleton has no head \"// Stage " + std::to_string(stage_) + ": …\"";
    code.erase(code.find_last_not_of('\n') + 1);
    add_code(name, "%%kernel " + number_ + "/" + std::to_string(stage_) + "\n" + code);
    seen_.insert(std::exchange(stage_, 0));
  }

  void add_prediction() {
    const course::Stage* const stage = lab_.stage(stage_);
    add_text(std::exchange(text_, ""));
    if (stage == nullptr || !stage->question) return;
    add_code("prediction-" + std::to_string(stage_),
             "# Write your number of " + stage->question->unit + " instead of NUMBER.\n%predict " +
                 number_ + "/" + std::to_string(stage_) + " NUMBER");
  }

  /// Markdown for a cell: no comments, of links into the tree only the words, pictures in the text
  /// or noted for a cell below it, and no dollar that would begin a formula.
  std::string prose(std::string_view markdown) {
    std::string out;
    bool line_start = true;
    while (!markdown.empty()) {
      const auto take = [&](std::size_t size) {
        out += markdown.substr(0, size);
        markdown.remove_prefix(std::min(size, markdown.size()));
      };
      const bool starts = std::exchange(line_start, false);
      if (starts && markdown.starts_with(kFence)) {
        const auto end = markdown.find("\n" + std::string(kFence), kFence.size());
        take(end == markdown.npos ? markdown.size() : end + 1 + kFence.size());
      } else if (starts && markdown.starts_with("<!--")) {
        markdown.remove_prefix(std::min(markdown.find('\n'), markdown.size() - 1) + 1);
        line_start = true;
      } else if (markdown.front() == '`') {
        const auto ticks = std::min(markdown.find_first_not_of('`'), markdown.size());
        const auto end = markdown.find(markdown.substr(0, ticks), ticks);
        take(end == markdown.npos ? ticks : end + ticks);
      } else if (const auto target = picture_target(markdown); !target.empty()) {
        add_picture(
            std::string(target), out,
            markdown.substr(2, static_cast<std::size_t>(target.data() - markdown.data()) - 4));
        markdown.remove_prefix(static_cast<std::size_t>(target.data() - markdown.data()) +
                               target.size() + 1);
      } else if (const auto words = words_of_inner_link(markdown); !words.empty()) {
        out += prose(words);
        markdown.remove_prefix(markdown.find(')', words.size() + 2) + 1);
      } else {
        if (markdown.front() == '$') out += '\\';
        line_start = markdown.front() == '\n';
        take(1);
      }
    }
    return out;
  }

  /// The words of a link at the front that leads into the tree, where a notebook cannot lead.
  static std::string_view words_of_inner_link(std::string_view text) {
    if (!text.starts_with('[')) return {};
    const auto end = text.find(']');
    if (end == text.npos || text.substr(end + 1, 1) != "(") return {};
    const std::string_view target = text.substr(end + 2, text.find(')', end) - end - 2);
    return target.find("://") == target.npos ? text.substr(1, end - 1) : std::string_view();
  }

  void add_picture(const std::string& target, std::string& out, std::string_view caption) {
    if (const auto image = images_.find(target); image != images_.end()) {
      out += image->second + "\n\n_" + std::string(caption) + "_";
      return;
    }
    out += "_" + std::string(caption) + ": run the cell below to see it._";
    pictures_below_.push_back(target);
  }

  void add_text(std::string text) {
    const auto begin = text.find_first_not_of('\n');
    if (begin != text.npos) {
      text.erase(text.find_last_not_of('\n') + 1);
      add_cell("markdown", "text-" + std::to_string(++texts_), text.substr(begin));
    }
    for (const std::string& target : std::exchange(pictures_below_, {})) {
      std::string name = target.substr(target.rfind('/') + 1);
      name.resize(name.rfind('.'));
      add_code("figure-" + name, "%figure " + number_ + "/" + name);
    }
  }

  void add_code(const std::string& id, const std::string& code) { add_cell("code", id, code); }

  void add_cell(const char* kind, const std::string& id, const std::string& text) {
    Json cell = {{"cell_type", kind}, {"id", id}, {"metadata", Json::object()}};
    if (cell["cell_type"] == "code") {
      cell["execution_count"] = nullptr;
      cell["outputs"] = Json::array();
    }
    Json& lines = cell["source"] = Json::array();
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    cells_.push_back(std::move(cell));
  }

  Json notebook() {
    Json cells = Json::array();
    std::swap(cells, cells_);
    // The title and what a lab is about come first; then how it is set up.
    add_code("set-up", std::string(kSetUp));
    add_cell("markdown", "how-to",
             "Run the cell above once a session. Each stage has a cell with its part of "
             "`labs/" +
                 lab_.id +
                 "/kernel.cu`: finish the code, and run the cell. It writes the part into the "
                 "file and checks it. An untouched cell never replaces your work: it checks what "
                 "the file holds, and "
                 "`%kernel " +
                 number_ + "/1` puts that into a cell. Where the text says `./membound hint " +
                 number_ + "/1`, run `%membound hint " + number_ + "/1` in a cell of its own.\n");
    cells.insert(cells.begin() + std::min<std::ptrdiff_t>(1, std::ssize(cells)), cells_.begin(),
                 cells_.end());
    return {{"cells", std::move(cells)},
            {"metadata",
             {{"kernelspec",
               {{"display_name", "Python 3"}, {"language", "python"}, {"name", "python3"}}},
              {"language_info", {{"name", "python"}}}}},
            {"nbformat", 4},
            {"nbformat_minor", 5}};
  }

  const course::Lab& lab_;
  std::string file_;
  const NotebookSource& source_;
  std::string number_;  ///< "03", or the beginning of an id without a number
  std::map<std::string, std::string, std::less<>> images_;  ///< by target: those in the text
  Json cells_ = Json::array();
  std::string text_;                         ///< of the cell that is being written
  std::vector<std::string> pictures_below_;  ///< targets whose cells come after that text
  std::set<int> seen_;                       ///< stages that have their cell
  std::string problem_;                      ///< the last that was found; empty: none
  int stage_ = 0, texts_ = 0;
};

}  // namespace

base::Result<std::string> handout_notebook(std::string_view markdown, const std::string& file,
                                           const course::Lab& lab, const NotebookSource& source) {
  return Notebook(lab, file, source).written(markdown);
}

}  // namespace membound::report
